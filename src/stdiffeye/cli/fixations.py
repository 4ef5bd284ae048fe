r"""Turn tracker recordings into scanpaths, tables of eye movements, data quality and a picture.

Reads EyeLink, Tobii, Pupil, Gazepoint, SMI, GazeBase, tables and BIDS folders. Trials are cut out by the
experiment's messages; a group (?P<name>…) in --start names the trial or picture.

Example: stdiffeye fixations sub01.asc sub02.asc.gz --out gaze
         stdiffeye fixations sub01.edf --start 'SHOWN (?P<name>\S+)' --end HIDDEN --pictures stimuli
         stdiffeye fixations table.csv --columns time=t,x=gx,y=gy,unit=us,lost=-1 --screen 1920x1080
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from stdiffeye.cli.threshold_flags import ThresholdFlags
from stdiffeye.errors import InputError

if TYPE_CHECKING:
    from stdiffeye.data.recording_fixations import Fixations
    from stdiffeye.gaze import Frame, Trial
    from stdiffeye.io.trial_files import ReadingOptions

MOST_DRAWN = 9
PANEL_IN = 4.2
CM_PER_M = 100


@dataclass
class FixationsArgs:
    recordings: tyro.conf.Positional[
        Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE …", help_behavior_hint="")]
    ]
    """Tracker files, BIDS folders, or folders of either."""
    out: Path = Path("fixations")
    """Folder for what is made."""
    method: Literal["judd", "ivt", "idt"] = "judd"
    """How fixations are found."""
    eye: Annotated[Literal["best", "left", "right", "mean"], tyro.conf.arg(metavar="EYE")] = "best"
    """best (less often lost in a trial), left, right or mean."""
    start: Annotated[str | None, tyro.conf.arg(metavar="REGEX", help_behavior_hint="")] = None
    """Regular expression of the message that begins a trial."""
    end: Annotated[str | None, tyro.conf.arg(metavar="REGEX", help_behavior_hint="")] = None
    """Regular expression of the message that ends a trial."""
    columns: Annotated[str | None, tyro.conf.arg(metavar="A=B,…", help_behavior_hint="")] = None
    """Which column of a table is what."""
    screen: Annotated[str | None, tyro.conf.arg(metavar="WxH", help_behavior_hint="")] = None
    """Screen size as WIDTHxHEIGHT in px, where the file does not say."""
    px_per_degree: Annotated[float | None, tyro.conf.arg(metavar="PX", help_behavior_hint="")] = None
    """Screen px per degree of visual angle; goes with --screen."""
    pictures: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="")] = None
    """Folder of the pictures that were shown, to draw on."""
    thresholds: ThresholdFlags = field(default_factory=ThresholdFlags)
    drift_target: Annotated[str | None, tyro.conf.arg(metavar="X,Y", help_behavior_hint="")] = None
    """Correct drift by what is fixated as a trial begins: X,Y px or centre."""
    keep_ids: bool = False
    """Viewers keep their names instead of pseudonyms."""
    trajectories: bool = False
    """Keep the 240 Hz trajectories too, in scanpaths.json and samples.csv."""
    bids: Annotated[str | None, tyro.conf.arg(metavar="WxHxD", help_behavior_hint="")] = None
    """Write BIDS too; width, height, distance of the screen in cm."""
    messages: Annotated[str | None, tyro.conf.arg(metavar="REGEX", help_behavior_hint="")] = None
    """Messages that go into --bids; none by default."""
    json: bool = False
    """Print the account as JSON."""
    quiet: bool = False
    """No progress."""


def run(args: FixationsArgs) -> None:
    from stdiffeye.data.clean import CleaningSettings
    from stdiffeye.data.recording_fixations import fixations

    reading = reading_options(args)
    publish = None if args.bids is None else bids_writer(args)
    if args.messages is not None and publish is None:
        raise InputError("--messages goes with --bids: nothing else holds messages")
    settings = CleaningSettings(extractor=args.method, eye=args.eye, thresholds=args.thresholds.thresholds())
    found = fixations(args.recordings, reading=reading, settings=settings, quiet=args.quiet)
    trials = with_pictures(found.trials, args.pictures)
    write_all(args.out, found, trials, args.trajectories)
    if publish is not None:
        publish(replace(reading, keep_ids=True))
    count = sum(len(trial.scanpath) for trial in trials if trial.scanpath is not None)
    if args.json:
        account = {"trials": len(trials), "fixations": count, "out": str(args.out), "quality": found.report.as_dict()}
        print(json.dumps(account, ensure_ascii=False))
        return
    print(found.report)
    for line in quality_lines(found):
        print(f"  {line}")
    drawn = f" ({MOST_DRAWN} of {len(trials)} trials are drawn)" if len(trials) > MOST_DRAWN else ""
    trials_said = "1 trial" if len(trials) == 1 else f"{len(trials)} trials"
    print(f"{count} fixations in {trials_said}: {args.out / 'fixations.csv'}, {args.out / 'scanpaths.json'}")
    print(f"Look at {args.out / 'quality.html'} and {args.out / 'scanpaths.png'}{drawn}")


def reading_options(args: FixationsArgs) -> ReadingOptions:
    """What the flags say of reading: trials, columns, screen, drift, names."""
    from stdiffeye.gaze.drift import DriftTarget
    from stdiffeye.io.table import Columns
    from stdiffeye.io.trial_files import ReadingOptions

    columns = None if args.columns is None else Columns.parse(args.columns)
    drift = None if args.drift_target is None else DriftTarget.parse(args.drift_target)
    screen = parse_screen(args.screen, args.px_per_degree)
    return ReadingOptions(args.start, args.end, columns, screen, drift, args.keep_ids)


def write_all(out: Path, found: Fixations, trials: Sequence[Trial], trajectories: bool) -> None:
    """Scanpaths, tables, the account of quality, and the picture."""
    from stdiffeye.files import write_text
    from stdiffeye.io.scanpath_json import write_scanpaths
    from stdiffeye.io.tidy_csv import write_rows, write_tidy
    from stdiffeye.plotting.quality_page import quality_page

    picture = draw_sheet(trials)
    out.mkdir(parents=True, exist_ok=True)
    write_scanpaths(
        out / "scanpaths.json", trials if trajectories else [replace(trial, trajectory=None) for trial in trials]
    )
    for table in ("fixations", "saccades", *(("samples",) if trajectories else ())):
        write_tidy(out / f"{table}.csv", trials, table)
    write_rows(out / "events.csv", found.events)
    found.quality.save(out / "quality.json")
    write_text(out / "quality.html", quality_page(found.quality.as_dict()))
    save_bytes(out / "scanpaths.png", picture)


def bids_writer(args: FixationsArgs) -> Callable[[ReadingOptions], Path]:
    """What writes the trials' recordings as BIDS; refuses at once what would be refused after the work."""
    from stdiffeye.io.bids_write import Screen, write_bids
    from stdiffeye.io.trial_files import find_recordings, read_raw_trials

    folder = args.out / "bids"
    sides = str(args.bids).lower().replace("×", "x").split("x")
    try:
        width, height, distance = (float(side) / CM_PER_M for side in sides)
    except ValueError:
        raise InputError(f"--bids must be WIDTHxHEIGHTxDISTANCE in cm such as 53x30x65, got {args.bids!r}") from None
    screen = Screen(distance, width, height)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} exists already and is not empty: choose another --out")

    def write(reading: ReadingOptions) -> Path:
        files = [file for path in args.recordings for file in find_recordings(path)]
        recordings = [
            replace(raw.recording, name=raw.name, subject=raw.subject)
            for file in files
            for raw in read_raw_trials(file, reading)
        ]
        return write_bids(folder, recordings, screen, keep_ids=args.keep_ids, messages=args.messages)

    return write


def quality_lines(found: Fixations) -> list[str]:
    """Precision, validation and drift in a line each, as far as they are known."""
    overall = found.quality.overall()
    lines = []
    if overall["rms_s2s_deg"] is not None:
        lines.append(f"precision {overall['rms_s2s_deg']:.3f} deg RMS-S2S, {overall['sd_deg']:.3f} deg SD (medians)")
    if overall["validation_mean_deg"] is not None:
        mean, largest = overall["validation_mean_deg"], overall["validation_max_deg"]
        lines.append(f"validation error {mean:.2f} deg on average, {largest:.2f} at most")
    shifted = [one.drift_deg for one in found.quality.trials if one.drift_deg is not None]
    if shifted:
        lines.append(f"drift corrected in {len(shifted)} of {found.report.total} trials, up to {max(shifted):.2f} deg")
    return lines


def parse_screen(screen: str | None, px_per_degree: float | None) -> Frame | None:
    """`1920x1080` as a frame."""
    from stdiffeye.gaze import Frame

    if screen is None:
        if px_per_degree is not None:
            raise InputError("--px-per-degree goes with --screen WIDTHxHEIGHT")
        return None
    width, _, height = screen.lower().replace("×", "x").partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise InputError(f"--screen must be WIDTHxHEIGHT in px such as 1920x1080, got {screen!r}")
    return Frame(int(width), int(height), px_per_degree)


def with_pictures(trials: Sequence[Trial], folder: Path | None) -> Sequence[Trial]:
    """Trials that know their picture's file, where the folder has one of the trial's name."""
    from stdiffeye.io.pictures import find_picture

    if folder is None:
        return trials
    if not folder.is_dir():
        raise InputError(f"--pictures {folder} is not a folder")
    found = [replace(trial, picture=find_picture(folder, trial.name)) for trial in trials]
    if not any(trial.picture for trial in found):
        raise InputError(f"{folder} holds no picture named after a trial such as {trials[0].name!r}: check --start")
    return found


def draw_sheet(trials: Sequence[Trial]) -> bytes:
    """The first trials side by side, scanpath over trajectory over picture, as PNG."""
    from stdiffeye.plotting import draw
    from stdiffeye.plotting.canvas import new_figure, png_bytes, style

    shown = trials[:MOST_DRAWN]
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    frame = shown[0].frame
    with style():
        figure = new_figure(columns * PANEL_IN, rows * (PANEL_IN * frame.height_px / frame.width_px + 0.35))
        for number, trial in enumerate(shown, start=1):
            ax = figure.add_subplot(rows, columns, number)
            draw(trial, ax=ax, kind="scanpath", title=f"{trial.name} · {trial.subject}")
    return png_bytes(figure)


def save_bytes(path: Path, data: bytes) -> None:
    from stdiffeye.files import atomic_write

    with atomic_write(path) as temporary:
        temporary.write_bytes(data)
