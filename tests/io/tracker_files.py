"""Small files of exactly the layouts that trackers export, made of one known gaze."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from stdiffeye.gaze import Frame, Scanpath
from stdiffeye.gaze.lifting import lift

SCREEN = Frame(1600, 1200, 40)
PATH = Scanpath([[800, 600], [400, 300], [1200, 900]], SCREEN, [300, 300, 300])


def gaze(rate_hz: float) -> tuple[np.ndarray, np.ndarray]:
    """Times in ms from 0, and px of `SCREEN`."""
    made = lift(PATH, rate_hz, np.random.default_rng(2))
    return made.time_ms, made.xy_px


def pupil_core(folder: Path, surface: str = "") -> Path:
    """exports/000 of Pupil Player; two rows of the last time, as two eyes give."""
    time_ms, xy = gaze(120)
    folder.mkdir(parents=True, exist_ok=True)
    shares = xy / SCREEN.size_px
    at = 1200.5 + time_ms / 1000
    if surface:
        rows = [
            f"{t:.6f},{n},{t:.6f},{x:.8f},{1 - y:.8f},{x * 100:.4f},{100 - y * 100:.4f},True,0.98"
            for n, (t, (x, y)) in enumerate(zip(at, shares, strict=True))
        ]
        head = "world_timestamp,world_index,gaze_timestamp,x_norm,y_norm,x_scaled,y_scaled,on_surf,confidence"
        file = folder / "surfaces" / f"gaze_positions_on_surface_{surface}.csv"
        file.parent.mkdir(exist_ok=True)
    else:
        rows = [
            f"{t:.6f},{n // 4},{0.2 if n == 5 else 0.95},{x:.8f},{1 - y:.8f},{t:.6f}-0 {t:.6f}-1,,,,,,,,,,,,,,,"
            for n, (t, (x, y)) in enumerate(zip(at, shares, strict=True))
        ]
        rows.append(rows[-1])
        points = ",".join(f"{what}_{axis}" for what in ("gaze_point_3d", *EYES_3D) for axis in "xyz")
        head = f"gaze_timestamp,world_index,confidence,norm_pos_x,norm_pos_y,base_data,{points}"
        file = folder / "gaze_positions.csv"
    file.write_text("\n".join([head, *rows]) + "\n")
    (folder / "blinks.csv").write_text(
        "id,start_timestamp,duration,end_timestamp,start_frame_index,index,end_frame_index,confidence,filter_response\n"
        f"1,{at[30]:.6f},0.05,{at[30] + 0.05:.6f},3,4,5,0.9,0.1 0.2\n"
    )
    (folder / "annotations.csv").write_text(f"index,timestamp,label,duration\n0,{at[0]:.6f},TRIAL_START a.png,0.0\n")
    return folder


EYES_3D = ("eye_center0_3d", "gaze_normal0", "eye_center1_3d", "gaze_normal1")


def neon(folder: Path) -> Path:
    """A recording of Pupil Cloud's Timeseries Data."""
    time_ms, xy = gaze(200)
    folder.mkdir(parents=True, exist_ok=True)
    at = [1_700_000_000_000_000_000 + round(t * 1e6) for t in time_ms]
    head = "section id,recording id,timestamp [ns],gaze x [px],gaze y [px],worn,fixation id,blink id"
    rows = [
        f"s1,r1,{t},{x:.3f},{y:.3f},{0 if n == 7 else 1},1,,{(x - 800) / 40:.4f},{(600 - y) / 40:.4f}"
        for n, (t, (x, y)) in enumerate(zip(at, xy, strict=True))
    ]
    (folder / "gaze.csv").write_text("\n".join([f"{head},azimuth [deg],elevation [deg]", *rows]) + "\n")
    (folder / "blinks.csv").write_text(
        "section id,recording id,blink id,start timestamp [ns],end timestamp [ns],duration [ms]\n"
    )
    (folder / "fixations.csv").write_text(
        "section id,recording id,fixation id,start timestamp [ns],end timestamp [ns],duration [ms],fixation x [px],"
        f"fixation y [px],azimuth [deg],elevation [deg]\ns1,r1,1,{at[0]},{at[60]},300,800,600,0,0\n"
    )
    (folder / "events.csv").write_text(
        f"recording id,timestamp [ns],name,type\nr1,{at[0]},recording.begin,recording\nr1,{at[4]},picture a,cloud\n"
    )
    camera = {"camera_matrix": [[890.0, 0, 800.0], [0, 890.0, 600.0], [0, 0, 1]], "serial_number": "x"}
    (folder / "scene_camera.json").write_text(json.dumps(camera))
    (folder / "info.json").write_text(json.dumps({"wearer_name": "ann", "template_data": None}))
    return folder


def gazepoint(file: Path, both_eyes: bool = False) -> Path:
    """`User 0_all_gaze.csv` of Gazepoint Analysis; every line ends in a comma."""
    time_ms, xy = gaze(150)
    shares = xy / SCREEN.size_px
    head = "MEDIA_ID,MEDIA_NAME,CNT,TIME(2024/05/01 10:00:00.000),TIMETICK(f=10000000),"
    head += "FPOGX,FPOGY,FPOGS,FPOGD,FPOGID,FPOGV,BPOGX,BPOGY,BPOGV,CX,CY,CS,USER,"
    head += "LPOGX,LPOGY,LPOGV,RPOGX,RPOGY,RPOGV," if both_eyes else ""
    rows = []
    for medium, name in enumerate(("a.png", "b.png")):
        for n, (t, (x, y)) in enumerate(zip(time_ms, shares, strict=True)):
            valid, said = int(n != 9), "GO" if n == 3 else ""
            row = f"{medium},{name},{n},{t / 1000:.5f},{int(t * 1e4)},0,0,0,0,1,1,{x:.7f},{y:.7f},{valid},0,0,0,{said},"
            row += f"{x:.7f},{y:.7f},{valid},{x + 0.01:.7f},{y:.7f},1," if both_eyes else ""
            rows.append(row)
    file.write_text("\n".join([head, *rows]) + "\n")
    return file


def smi(file: Path) -> Path:
    """Raw data of the IDF Converter: comments, a header, rows of samples and of messages."""
    time_ms, xy = gaze(500)
    lines = [
        "## [iView]",
        "## Converted from:\tC:\\data\\p01.idf",
        "## Sample Rate:\t500",
        "## Subject:\tp01",
        "## [Calibration]",
        "## Calibration Area:\t1600\t1200",
        "## [Geometry]",
        "## Stimulus Dimension [mm]:\t474\t297",
        "## Head Distance [mm]:\t700",
        "##",
        "Time\tType\tTrial\tL Raw X [px]\tL Raw Y [px]\tL POR X [px]\tL POR Y [px]\tTiming\tL Validity",
    ]
    for trial, picture in ((1, "a.jpg"), (2, "b.jpg")):
        begin = 5_842_000_000 + trial * 10_000_000
        lines.append(f"{begin - 500}\tMSG\t{trial}\t# Message: {picture}")
        for n, (t, (x, y)) in enumerate(zip(time_ms, xy, strict=True)):
            x, y = (0, 0) if n == 11 else (x, y)
            lines.append(f"{begin + round(t * 1000)}\tSMP\t{trial}\t310.5\t220.1\t{x:.2f}\t{y:.2f}\t0\t1")
    file.write_text("\n".join(lines) + "\n")
    return file


def gazebase(file: Path) -> Path:
    """S_1001_S1_FXS.csv: degrees, y upwards, NaN where lost."""
    time_ms, xy = gaze(1000)
    degrees = (xy - SCREEN.centre_px) / 40 * (1, -1)
    rows = [
        f"{t:.0f},NaN,NaN,1,0.0,0.0,0,-1" if n == 13 else f"{t:.0f},{x:.4f},{y:.4f},0,0.0,0.0,1200,-1"
        for n, (t, (x, y)) in enumerate(zip(time_ms, degrees, strict=True))
    ]
    file.write_text("\n".join(["n,x,y,val,xT,yT,dP,lab", *rows]) + "\n")
    return file
