"""The readers that `stdiffeye fuzz` attacks, each with the whole files that it starts from.

A reader of a new format is one more line in `READERS`; its seed is a small whole file.
"""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.benchmark import fuzz_own_files as own
from stdiffeye.encoders.picture import load_picture
from stdiffeye.gaze import Frame, Scanpath, Trajectory, Trial
from stdiffeye.gaze.recording import Event, Message, Recording
from stdiffeye.io.area_files import read_areas
from stdiffeye.io.descriptions import describe
from stdiffeye.io.eyelink_asc_write import write_asc
from stdiffeye.io.gaze_files import read_gaze, write_gaze
from stdiffeye.io.lund2013 import read_lund2013
from stdiffeye.io.predictions import is_prediction_file, read_predictions
from stdiffeye.io.recordings import read_recording
from stdiffeye.metrics.clusters import read_clusters
from stdiffeye.plotting.backdrop import as_image

SCREEN = Frame(1024, 768, 35.0)


@dataclass(frozen=True)
class FuzzedReader:
    """One way in.

    Parameters
    ----------
    name
        How a damaged file is called, suffix included.
    read
        Reads one.
    seeds
        Makes whole files in a folder.
    """

    name: str
    read: Callable[[Path], Any]
    seeds: Callable[[Path], list[bytes]]


def _trials() -> list[Trial]:
    rng = np.random.default_rng(0)
    found = []
    for number in range(4):
        xy = rng.uniform(0, SCREEN.size_px, (5, 2)).round(1)
        onset = np.arange(0, 1500, 300, dtype=np.float64)
        found.append(
            Trial(
                f"{number % 2}.jpg",
                str(number),
                Scanpath(xy, SCREEN, rng.uniform(80, 250, 5).round(), onset),
                Trajectory(rng.uniform(0, SCREEN.size_px, (20, 2)), 240.0, SCREEN),
                task="cup",
                split="train",
                target_box_px=(10, 20, 30, 40),
                viewing_ms=2000,
            )
        )
    return found


def _recording() -> Recording:
    rng = np.random.default_rng(0)
    time = np.arange(1000, 1240, 4, dtype=np.float64)
    xy = rng.normal(400, 3, (60, 2)).round(1)
    xy[20:24] = np.nan
    events = (Event("fixation", "left", 1004.0, 60.0, (400.0, 300.0)), Event("blink", "left", 1080.0, 16.0))
    messages = (Message(1000.0, "PICTURE_ON a.jpg"), Message(1200.0, "PICTURE_OFF"))
    return Recording(time, 250.0, SCREEN, left_px=xy, name="a", subject="s", events=events, messages=messages)


def _written(suffix: str) -> Callable[[Path], list[bytes]]:
    def seeds(folder: Path) -> list[bytes]:
        path = folder / f"seed{suffix}"
        write_gaze(path, _trials())
        return [path.read_bytes()]

    return seeds


def _asc(folder: Path) -> list[bytes]:
    write_asc(folder / "seed.asc", [_recording()])
    plain = (folder / "seed.asc").read_bytes()
    return [plain, gzip.compress(plain)]


def _edf(folder: Path) -> list[bytes]:
    """The smallest recording under STDIFFEYE_DATA; nobody but the tracker writes EDF."""
    found = Path(os.environ.get("STDIFFEYE_DATA", "none")).glob("recordings/*.edf")
    smallest = sorted(found, key=lambda path: path.stat().st_size)[:1]
    return [path.read_bytes() for path in smallest] or [b"SR_RESEARCH_1000FILE\0" + bytes(range(256))]


def _table(folder: Path) -> list[bytes]:
    rows = [f"{4 * n},{400 + n % 3},{300 - n % 5}" for n in range(40)]
    tobii = ["Recording timestamp\tGaze point left X\tGaze point left Y\tValidity left\tParticipant name"]
    tobii[0] += "\tRecording resolution width\tRecording resolution height"
    tobii += [f"{8 * n}\t{400 + n}\t300\tValid\tp1\t1920\t1080" for n in range(40)]
    return ["\n".join(["time,x,y", *rows]).encode(), "\n".join(tobii).encode()]


def _exports(folder: Path) -> list[bytes]:
    """Gazepoint, GazeBase and SMI, a few samples each."""
    point = ["MEDIA_ID,MEDIA_NAME,CNT,TIME(2024/05/01 10:00:00.000),BPOGX,BPOGY,BPOGV,USER,"]
    point += [f"0,a.png,{n},{n / 60:.5f},0.5{n:02d},0.4,1,{'GO' if n == 3 else ''}," for n in range(40)]
    base = ["n,x,y,val,xT,yT,dP,lab", *(f"{n},{n / 50},-1.5,0,0.0,0.0,1200,-1" for n in range(40))]
    smi = ["## [iView]", "## Sample Rate:\t500", "## Subject:\tp1", "## Calibration Area:\t1680\t1050"]
    smi += ["## Stimulus Dimension [mm]:\t474\t297", "## Head Distance [mm]:\t700"]
    smi += ["Time\tType\tTrial\tL POR X [px]\tL POR Y [px]", "1000\tMSG\t1\t# Message: a.jpg"]
    smi += [f"{2000 + 2000 * n}\tSMP\t{1 + n // 20}\t{400 + n}.5\t300" for n in range(40)]
    return ["\n".join(lines).encode() for lines in (point, base, smi)]


def _core(folder: Path) -> list[bytes]:
    head = "gaze_timestamp,world_index,confidence,norm_pos_x,norm_pos_y,base_data"
    return ["\n".join([head, *(f"{n / 120:.6f},{n // 4},0.9,0.5{n:02d},0.4,x" for n in range(40))]).encode()]


def _neon(folder: Path) -> list[bytes]:
    head = "section id,recording id,timestamp [ns],gaze x [px],gaze y [px],worn,fixation id,blink id"
    rows = [f"s,r,{1_700_000_000_000_000_000 + 5_000_000 * n},{800 + n},600.5,1,1," for n in range(40)]
    return ["\n".join([head, *rows]).encode()]


def _predictions(folder: Path) -> list[bytes]:
    rows = [[100.5, 80.0, 200.0], [300.0, 50.0, 300.0]]
    row = {"X": [1.0, 2.0], "Y": [3.0, 4.0], "T": [200, 300], "name": "0.jpg", "task": "cup", "condition": "present"}
    stimuli = [{"name": "0.jpg", "task": "cup", "size": [1024, 768], "scanpaths": [rows, rows]}]
    return [json.dumps(one).encode() for one in ({"0.jpg|cup": [rows], "1.jpg": [rows]}, [row], stimuli)]


def _npz(folder: Path) -> list[bytes]:
    made = []
    for save in (np.savez, np.savez_compressed):
        buffer = io.BytesIO()
        arrays: dict[str, Any] = {"0.jpg": np.full((2, 4, 3), 0.5), "1.jpg": np.full((1, 2, 2), 0.25)}
        save(buffer, **arrays)
        made.append(buffer.getvalue())
    return made


def _mat(folder: Path) -> list[bytes]:
    from scipy.io import savemat

    made = []
    rows = np.column_stack([np.arange(1, 41) * 2000.0, *np.full((4, 40), 300.0), np.ones(40)])
    values = {"pos": rows, "screenRes": [1024, 768], "screenDim": [0.38, 0.3], "viewDist": 0.67}
    for compressed in (False, True):
        savemat(folder / "seed.mat", {"ETdata": values}, do_compression=compressed)
        made.append((folder / "seed.mat").read_bytes())
    return made


def _yaml(folder: Path) -> list[bytes]:
    text = "name: own\ntitle: ours\nreader: scanpath_rows\nfiles: [{path: own.json, what: fixations}]\n"
    return [(text + "citation: none\nlicence: MIT\nviewing_ms: 2000\nsplit: {rule: by-picture}\n").encode()]


def _pictures(folder: Path) -> list[bytes]:
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 255, (24, 32, 3), dtype=np.uint8)
    made = []
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM"):
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, kind)
        made.append(buffer.getvalue())
    return made


def _read_predictions(path: Path) -> Any:
    is_prediction_file(path)
    return read_predictions(path, _trials())


READERS: dict[str, FuzzedReader] = {
    "json": FuzzedReader("case.json", read_gaze, _written(".json")),
    "csv": FuzzedReader("case.csv", read_gaze, _written(".csv")),
    "parquet": FuzzedReader("case.parquet", read_gaze, _written(".parquet")),
    "hdf5": FuzzedReader("case.h5", read_gaze, _written(".h5")),
    "predictions": FuzzedReader("case.json", _read_predictions, _predictions),
    "npz": FuzzedReader("case.npz", _read_predictions, _npz),
    "asc": FuzzedReader("case.asc", read_recording, _asc),
    "edf": FuzzedReader("case.edf", read_recording, _edf),
    "table": FuzzedReader("case.tsv", lambda path: read_recording(path, frame=SCREEN), _table),
    "exports": FuzzedReader("case.txt", lambda path: read_recording(path, frame=SCREEN), _exports),
    "core": FuzzedReader("gaze_positions.csv", lambda path: read_recording(path.parent, frame=SCREEN), _core),
    "neon": FuzzedReader("gaze.csv", lambda path: read_recording(path.parent, frame=SCREEN), _neon),
    "matlab": FuzzedReader("case_labelled_MN.mat", read_lund2013, _mat),
    "description": FuzzedReader("case.yaml", describe, _yaml),
    "picture": FuzzedReader("case.png", load_picture, _pictures),
    "bids": FuzzedReader("case.tsv.gz", own.bids_reader(".tsv.gz"), own.bids_seeds(_recording(), ".tsv.gz")),
    "sidecar": FuzzedReader("case.json", own.bids_reader(".json"), own.bids_seeds(_recording(), ".json")),
    "store": FuzzedReader("case.json", own.read_signed_store, own.store_seeds(_recording())),
    "weights": FuzzedReader("case.safetensors", own.read_weight_file, own.weight_seeds),
    "preset": FuzzedReader("case.yaml", own.read_preset, own.preset_seeds),
    "areas": FuzzedReader("case.json", read_areas, own.area_seeds),
    "clusters": FuzzedReader("case.json", lambda path: read_clusters(path, [("0.jpg", "")]), own.cluster_seeds),
    "results": FuzzedReader("case.json", own.read_results, own.result_seeds(_trials())),
    "backdrop": FuzzedReader("case.png", as_image, _pictures),
}
