"""The folder that gaze is generated into: one run each, which goes on where it was broken off.

    unfinished/plan.json                        what is generated: model, request, pictures
    unfinished/shard-00001-of-00001.gaze        gaze of a shard's pictures; .partial while it grows
    generation.json                             what was generated, once all files are there

A folder holds one run: another plan is refused, or replaces the first where the user says so.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stdiffeye.checksums import file_sha256
from stdiffeye.errors import InputError
from stdiffeye.files import check_writable, read_fields, read_json, write_json
from stdiffeye.generation.gaze_log import PictureGaze, read_log
from stdiffeye.generation.request import OutputOptions
from stdiffeye.generation.wanted import Wanted
from stdiffeye.training.shipped import RUN_FILE
from stdiffeye.version import __version__
from stdiffeye.work_shards import Shard

UNFINISHED, PLAN, REPORT = "unfinished", "plan.json", "generation.json"
SCANPATHS, TRAJECTORIES = "scanpaths.json", "trajectories.csv"
FILES = (SCANPATHS, TRAJECTORIES, "fixations.csv", "saccades.csv", "trajectories.parquet", "report.html")
PER_PICTURE = (
    *("scanpath.png", "scanpaths.png", "density.png", "trajectory.png", "trace.png"),
    *("replay.html", "heatmap.npy", "heatmap.png"),
)
BIDS = "bids"
MADE = "files"
BEST, LAST = "best.safetensors", "last.safetensors"
REPORTED = {"pictures", "skipped", "skipped_count", "longest_s", "first", "files"}
SKIPPED_SHOWN = 1000  # pictures without gaze that the report names


@dataclass
class GenerationReport:
    """What a run of `generate` made."""

    out: Path
    pictures: int = 0
    """Pictures with gaze."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Pictures without, each with the reason."""
    skipped_count: int = 0
    longest_s: float = 0.0
    """The longest trajectory; 0 where there are none."""
    first: tuple[str, str] | None = None
    """Name and task of the first picture."""
    shard: Shard | None = None
    """The shard that was made; None for all of the work."""

    def add(self, gaze: PictureGaze) -> None:
        """Count a picture."""
        if gaze.error:
            self.skipped_count += 1
            if len(self.skipped) < SKIPPED_SHOWN:
                self.skipped.append((gaze.name, gaze.error))
            return
        self.pictures += 1
        self.first = self.first or gaze.trials[0].key
        for trial in gaze.trials:
            if trial.trajectory is not None:
                self.longest_s = max(self.longest_s, float(trial.trajectory.time_ms[-1]) / 1000)


class RunFolder:
    """A folder and the run that it is for.

    Parameters
    ----------
    out
        The folder; it need not be there.
    plan
        What `plan_of` says of the run.
    """

    def __init__(self, out: Path, plan: dict[str, Any]) -> None:
        self.out, self.plan, self.unfinished = out, plan, out / UNFINISHED

    @classmethod
    def open(cls, out: Path) -> RunFolder:
        """The run that is under way in a folder."""
        known = out / UNFINISHED / PLAN
        if not known.is_file():
            raise InputError(f"{out} holds no shards to join: `stdiffeye generate … --shard 1/8` makes them")
        return cls(out, read_fields(known))

    def begin(self, overwrite: bool) -> None:
        """Make ready for writing, or refuse: a folder that cannot be written to, or that holds another run."""
        check_writable(self.out)
        known = self.unfinished / PLAN
        if known.is_file() and read_json(known) == self.plan:
            return  # whatever else is there was to be replaced when this run began
        taken = [name for name in (REPORT, *FILES) if (self.out / name).exists()]
        if taken and not overwrite:
            raise InputError(
                f"{self.out} holds {taken[0]} of another run: choose another --out, or say --overwrite to replace it"
            )
        if known.is_file() and not overwrite:
            raise InputError(
                f"{self.out} holds a run of `generate` that is not finished and differs from this one: give the same "
                "pictures and options to go on with it, choose another --out, or say --overwrite to replace it"
            )
        if self.unfinished.exists():
            shutil.rmtree(self.unfinished)
        write_json(known, self.plan)

    def finished(self) -> GenerationReport | None:
        """What this very run made earlier, if it did and its files are there."""
        path = self.out / REPORT
        if not path.is_file():
            return None
        report = read_fields(path)
        if report.get("plan") != self.plan or REPORTED - report.keys():
            return None
        if not all((self.out / name).exists() for name in report["files"]):
            return None
        first = None if report["first"] is None else tuple(report["first"])
        skipped = [(name, error) for name, error in report["skipped"]]
        return GenerationReport(
            self.out, report["pictures"], skipped, report["skipped_count"], report["longest_s"], first
        )

    def log(self, shard: Shard) -> Path:
        """Where a shard's gaze is, once it is finished."""
        return self.unfinished / f"{shard.stem}.gaze"

    def logs(self) -> list[Path]:
        """The logs of all shards; refused while one is missing."""
        known = [path for path in self.unfinished.glob("shard-*.gaze") if path.is_file()]
        counts = {int(path.stem.rpartition("-")[2]) for path in known}
        missing = 0
        for count in sorted(counts):
            paths = [self.log(shard) for shard in Shard(1, count).all]
            absent = [path for path in paths if not path.is_file()]
            if not absent:
                return paths
            missing = len(absent)
        if not counts:
            raise InputError(f"{self.out} has no finished shard yet")
        raise InputError(f"{self.out}: {missing} of {max(counts)} shards are not finished yet")

    def holds_gaze(self) -> bool:
        """Whether any picture's gaze is there to go on with."""
        return any(path.stat().st_size for path in self.unfinished.glob("shard-*"))

    def gaze(self) -> Iterator[PictureGaze]:
        """All pictures in their order, one after the other."""
        for path in self.logs():
            yield from read_log(path)

    def fresh_files(self) -> Path:
        """An empty folder for the files of this run, until all of them are there."""
        folder = self.unfinished / MADE
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def close(self, report: GenerationReport) -> None:
        """Give the files their places, instead of those of an earlier run; what they were made of goes."""
        if (self.out / REPORT).is_file():
            for ending in PER_PICTURE:
                for path in self.out.glob(f"*-{ending}"):
                    path.unlink()
        shutil.rmtree(self.out / BIDS, ignore_errors=True)
        for name in (REPORT, *FILES):
            (self.out / name).unlink(missing_ok=True)
        for path in sorted((self.unfinished / MADE).iterdir()):
            path.replace(self.out / path.name)
        files = [name for name in FILES if (self.out / name).exists()]
        said = {key: value for key, value in asdict(report).items() if key not in ("out", "shard")}
        write_json(self.out / REPORT, {"plan": self.plan, "files": files, **said})
        self.remove()

    def remove(self) -> None:
        """Take away what is unfinished; a folder that holds nothing else goes, too."""
        shutil.rmtree(self.unfinished, ignore_errors=True)
        if self.out.is_dir() and not any(self.out.iterdir()):
            self.out.rmdir()


def plan_of(wanted: Sequence[Wanted], model: dict[str, Any], output: OutputOptions) -> dict[str, Any]:
    """What decides the bytes that are written; gaze of another plan is never mixed with these."""
    digest = hashlib.sha256()
    for one in wanted:
        status = one.picture.stat()
        said = [one.name, status.st_size, status.st_mtime_ns, asdict(one.request)]
        digest.update(json.dumps(said, sort_keys=True).encode())
    files = {name: value for name, value in asdict(output).items() if name != "overwrite"}
    return {
        "stdiffeye": __version__,
        "model": model,
        "pictures": len(wanted),
        "pictures_sha256": digest.hexdigest(),
        "request": asdict(wanted[0].request) if wanted else {},
        "output": files,
    }


def settings_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What a reader of the report wants to know of a plan: model, version and request."""
    stated = {"model": plan["model"].get("name"), "version": plan["stdiffeye"], "pictures": plan["pictures"]}
    return stated | {name.replace("_", " "): value for name, value in plan.get("request", {}).items()}


def model_identity(folder: Path) -> dict[str, Any]:
    """Name and checksums of a model's files, without loading it."""
    weights = sorted(folder.rglob("*.safetensors"))
    used = [path for path in weights if path.name != LAST or path.with_name(BEST) not in weights]
    sums = {path.relative_to(folder).as_posix(): file_sha256(path) for path in (folder / RUN_FILE, *used)}
    return {"name": folder.name, "sha256": sums}
