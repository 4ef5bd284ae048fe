"""A comparison with a recording, in a child process: bounded in time and memory, and it can be stopped.

Nobody knows what is in an uploaded file. What it makes a reader do, it does there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stdiffeye.child_process import GIGABYTE, ChildProcess, ChildTrouble, answer_requests
from stdiffeye.errors import InputError
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial
from stdiffeye.generation.request import Request
from stdiffeye.web.recording_upload import Compared, Upload, compare
from stdiffeye.web.worker import Report

SECONDS = 90.0
BYTES = GIGABYTE
HALF_WAY = 0.5

_child = ChildProcess("stdiffeye.web.comparison_process")


@dataclass(frozen=True)
class ReceivedGaze:
    """What the child knows of a job's result."""

    name: str
    request: Request
    trials: list[Trial]


def compare_apart(result: Compared, upload: Upload, most_trials: int, report: Report) -> dict[str, Any]:
    """As `recording_upload.compare`, in a child process that ends when it takes too much or is not wanted any more."""
    message = {
        "name": result.name,
        "request": asdict(result.request),
        "trials": [_sent(trial) for trial in result.trials],
        "upload": asdict(upload) | {"data": np.frombuffer(upload.data, np.uint8)},
        "most_trials": most_trials,
    }
    try:
        answer = _child.ask("compare", message, SECONDS, BYTES, lambda: report(HALF_WAY, "comparing"))
    except ChildTrouble as error:
        raise InputError(f"the recording cannot be compared ({error}): give a file of this picture alone") from None
    found: dict[str, Any] = answer
    return found


def _sent(trial: Trial) -> dict[str, Any]:
    path, gaze = trial.scanpath, trial.trajectory
    return {
        "subject": trial.subject,
        "frame": [trial.frame.width_px, trial.frame.height_px, trial.frame.px_per_degree],
        "xy": None if path is None else path.xy_px,
        "duration": None if path is None else path.duration_ms,
        "onset": None if path is None else path.onset_ms,
        "gaze": None if gaze is None else gaze.xy_px,
        "rate_hz": None if gaze is None else gaze.rate_hz,
    }


def _received(values: dict[str, Any], name: str, task: str) -> Trial:
    frame = Frame(*values["frame"])
    path = None if values["xy"] is None else Scanpath(values["xy"], frame, values["duration"], values["onset"])
    gaze = None if values["gaze"] is None else Trajectory(values["gaze"], values["rate_hz"], frame)
    return Trial(name, values["subject"], path, gaze, task=task)


def _answer(message: dict[str, Any]) -> dict[str, Any]:
    request = Request(**message["request"])
    trials = [_received(one, message["name"], request.task) for one in message["trials"]]
    upload = Upload(**{**message["upload"], "data": message["upload"]["data"].tobytes()})
    return compare(ReceivedGaze(message["name"], request, trials), upload, message["most_trials"])


if __name__ == "__main__":
    answer_requests({"compare": _answer})
