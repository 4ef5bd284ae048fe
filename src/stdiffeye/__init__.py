"""ST-DiffEye: how people look at a picture, generated and judged.

Every verb of the command line is a function here: `stdiffeye.generate`, `stdiffeye.evaluate`, …. Names are imported on
first use, so that `import stdiffeye` stays fast and free of torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stdiffeye.version import __version__

if TYPE_CHECKING:
    from stdiffeye.benchmark import reproduce
    from stdiffeye.benchmark.fuzzing import fuzz
    from stdiffeye.cli.completion import completion
    from stdiffeye.cli.demo import demo
    from stdiffeye.cli.doctor import doctor
    from stdiffeye.cli.slurm import slurm
    from stdiffeye.data.areas_of_interest import aoi
    from stdiffeye.data.description import info
    from stdiffeye.data.preparation import prepare
    from stdiffeye.data.read import read_trials
    from stdiffeye.data.recording_fixations import fixations
    from stdiffeye.data.store import Store
    from stdiffeye.errors import InputError
    from stdiffeye.gaze import Frame, GazeList, Scanpath, Trajectory, Trial
    from stdiffeye.gaze.areas import Area, Areas
    from stdiffeye.gaze.recording import Recording
    from stdiffeye.generation import Model, Request, animate, generate, load, models
    from stdiffeye.generation.calibration import calibrate
    from stdiffeye.io.gaze_files import read_gaze, write_gaze
    from stdiffeye.io.recordings import read_recording
    from stdiffeye.metrics.results_page import leaderboard
    from stdiffeye.training.adaptation import adapt
    from stdiffeye.training.near_duplicates import duplicates
    from stdiffeye.training.release import export
    from stdiffeye.training.run import train
    from stdiffeye.training.verification import verify
    from stdiffeye.verbs.encoding import features
    from stdiffeye.verbs.evaluating import evaluate
    from stdiffeye.verbs.joining import join
    from stdiffeye.verbs.showing import plot, replay, stats
    from stdiffeye.web.server import serve

__all__ = [
    "Area",
    "Areas",
    "Frame",
    "GazeList",
    "InputError",
    "Model",
    "Recording",
    "Request",
    "Scanpath",
    "Store",
    "Trajectory",
    "Trial",
    "__version__",
    "adapt",
    "animate",
    "aoi",
    "calibrate",
    "completion",
    "demo",
    "doctor",
    "duplicates",
    "evaluate",
    "export",
    "features",
    "fixations",
    "fuzz",
    "generate",
    "info",
    "join",
    "leaderboard",
    "load",
    "models",
    "plot",
    "prepare",
    "read_gaze",
    "read_recording",
    "read_trials",
    "replay",
    "reproduce",
    "serve",
    "slurm",
    "stats",
    "train",
    "verify",
    "write_gaze",
]


def __getattr__(name: str) -> Any:
    if name in ("load", "generate", "animate", "models", "Model", "Request"):
        from stdiffeye import generation

        return getattr(generation, name)
    if name == "evaluate":
        from stdiffeye.verbs.evaluating import evaluate

        return evaluate
    if name in ("stats", "plot", "replay"):
        from stdiffeye.verbs import showing

        return getattr(showing, name)
    if name == "features":
        from stdiffeye.verbs.encoding import features

        return features
    if name in ("Frame", "GazeList", "Scanpath", "Trajectory", "Trial"):
        from stdiffeye import gaze

        return getattr(gaze, name)
    return _gaze_and_data(name)


def _gaze_and_data(name: str) -> Any:
    match name:
        case "Area" | "Areas":
            from stdiffeye.gaze import areas

            return getattr(areas, name)
        case "aoi":
            from stdiffeye.data.areas_of_interest import aoi

            return aoi
        case "Recording":
            from stdiffeye.gaze.recording import Recording

            return Recording
        case "fixations":
            from stdiffeye.data.recording_fixations import fixations

            return fixations
        case "info":
            from stdiffeye.data.description import info

            return info
        case "prepare":
            from stdiffeye.data.preparation import prepare

            return prepare
    return _readers(name)


def _readers(name: str) -> Any:
    match name:
        case "read_gaze" | "write_gaze":
            from stdiffeye.io import gaze_files

            return getattr(gaze_files, name)
        case "read_recording":
            from stdiffeye.io.recordings import read_recording

            return read_recording
        case "read_trials":
            from stdiffeye.data.read import read_trials

            return read_trials
        case "Store":
            from stdiffeye.data.store import Store

            return Store
    return _other(name)


def _other(name: str) -> Any:
    match name:
        case "InputError":
            from stdiffeye.errors import InputError

            return InputError
        case "completion":
            from stdiffeye.cli.completion import completion

            return completion
        case "demo":
            from stdiffeye.cli.demo import demo

            return demo
        case "slurm":
            from stdiffeye.cli.slurm import slurm

            return slurm
        case "doctor":
            from stdiffeye.cli.doctor import doctor

            return doctor
        case "join":
            from stdiffeye.verbs.joining import join

            return join
        case "leaderboard":
            from stdiffeye.metrics.results_page import leaderboard

            return leaderboard
        case "serve":
            from stdiffeye.web.server import serve

            return serve
    return _training(name)


def _training(name: str) -> Any:
    match name:
        case "fuzz":
            from stdiffeye.benchmark.fuzzing import fuzz

            return fuzz
        case "verify":
            from stdiffeye.training.verification import verify

            return verify
        case "calibrate":
            from stdiffeye.generation.calibration import calibrate

            return calibrate
        case "adapt":
            from stdiffeye.training.adaptation import adapt

            return adapt
        case "duplicates":
            from stdiffeye.training.near_duplicates import duplicates

            return duplicates
        case "export":
            from stdiffeye.training.release import export

            return export
        case "reproduce":
            from stdiffeye.benchmark import reproduce

            return reproduce
        case "train":
            from stdiffeye.training.run import train

            return train
    raise AttributeError(f"module 'stdiffeye' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
