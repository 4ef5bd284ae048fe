"""Every verb that writes, broken off at a random moment and run again: is the result the same, is anything left?

Half of the processes are killed (SIGKILL), half interrupted (Ctrl-C). Afterwards the same command runs to its end; a
training goes on by `--resume`, as it prints. What it wrote is compared, file by file, with a run that nobody disturbed.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from stdiffeye.benchmark.forked import Verbs, run_forked
from stdiffeye.benchmark.made_study import MadeStudy
from stdiffeye.data.run_description import CARD_FILE, RUN_FILE
from stdiffeye.files import temporary_folder
from stdiffeye.progress import track
from stdiffeye.weight_files import read_weights

Words = Callable[[MadeStudy, Path], list[str]]
SKIPPED = ("log.jsonl", CARD_FILE)
"""What says how long something took, and therefore differs between any two runs."""


@dataclass
class KillReport:
    """What became of one verb."""

    verb: str
    kills: int = 0
    in_time: int = 0
    """Ended by the signal, not by themselves before it came."""
    different: int = 0
    """Files that differ from those of an undisturbed run, or are missing."""
    leftovers: int = 0
    """Files that an undisturbed run does not leave."""
    failed: int = 0
    """Runs after a kill that did not end well."""
    named: list[str] = field(default_factory=list)
    """The files that were different or left."""


def _gaze(study: MadeStudy) -> list[str]:
    return ["--human", str(study.human), "--generated", f"made={study.generated}"]


VICTIMS: dict[str, Words] = {
    "fixations": lambda study, out: ["fixations", str(study.recordings), "--out", str(out / "gaze")],
    "prepare": lambda study, out: [
        *("prepare", str(study.recordings), "--pictures", str(study.pictures), "--out", str(out / "store")),
    ],
    "features": lambda study, out: ["features", str(study.pictures), "--cache", str(out / "cache")],
    "train": lambda study, out: study.training(out / "run"),
    "generate": lambda study, out: [
        *("generate", str(study.pictures), "--model", str(study.run), "--samples", "2", "--seconds", "1"),
        *("--out", str(out / "gaze"), "--no-plots"),
    ],
    "animate": lambda study, out: [
        *("animate", str(study.human), "--model", str(study.run), "--out", str(out / "gaze"), "--no-plots"),
    ],
    "export": lambda study, out: ["export", str(study.run), "--out", str(out / "model")],
    "evaluate": lambda study, out: [
        *("evaluate", *_gaze(study), "--metrics", "DTW", "LD", "--out", str(out / "table.json")),
    ],
    "stats": lambda study, out: ["stats", *_gaze(study), "--out", str(out / "stats")],
    "plot": lambda study, out: [
        *("plot", str(study.human), "--picture", str(study.pictures), "--out", str(out / "plot.png")),
    ],
    "replay": lambda study, out: [
        *("replay", str(study.human), "--picture", str(study.pictures), "--out", str(out / "replay.html")),
    ],
}


def kill_verbs(study: MadeStudy, verbs: Verbs, count: int, seed: int = 0, quiet: bool = False) -> list[KillReport]:
    """Break verbs off `count` times in all, in turn; one report per verb."""
    rng = np.random.default_rng(seed)
    reports = {name: KillReport(name) for name in VICTIMS}
    whole: dict[str, tuple[dict[str, str], float]] = {}
    with temporary_folder(study.folder) as folder, _temporary_files_in(folder):
        for number in track(range(count), "killing", quiet=quiet):
            name = list(VICTIMS)[number % len(VICTIMS)]
            if name not in whole:
                out = folder / f"{name}-whole"
                ended = run_forked(verbs, VICTIMS[name](study, out))
                reports[name].failed += ended.code != 0
                whole[name] = (fingerprints(out), ended.seconds)
            out = folder / f"{name}-{number}"
            _one(reports[name], VICTIMS[name](study, out), out, verbs, whole[name], rng)
    return list(reports.values())


@contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """What killed processes leave there goes with the folder."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("TMPDIR")
        if before is not None:
            os.environ["TMPDIR"] = before


def _one(
    report: KillReport,
    words: list[str],
    out: Path,
    verbs: Verbs,
    whole: tuple[dict[str, str], float],
    rng: np.random.Generator,
) -> None:
    expected, seconds = whole
    by = signal.SIGKILL if report.kills % 2 == 0 else signal.SIGINT
    broken = run_forked(verbs, words, float(rng.uniform(0.0, seconds)), by)
    resumes = report.verb == "train" and (out / "run" / RUN_FILE).is_file()
    again = run_forked(verbs, [*words, "--resume"] if resumes else words)
    found = fingerprints(out)
    report.kills += 1
    report.in_time += broken.code != 0
    report.failed += again.code != 0
    different = [name for name, digest in expected.items() if found.get(name) != digest]
    left = [name for name in found if name not in expected]
    report.different += len(different)
    report.leftovers += len(left)
    report.named += [f"{out.name}/{name}" for name in (*different, *left)]


def fingerprints(folder: Path) -> dict[str, str]:
    """File → SHA-256 of what must be the same; of weights the tensors, whose header says how long they took."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            found[name] = "skipped" if path.name in SKIPPED else _fingerprint(path)
    return found


def _fingerprint(path: Path) -> str:
    digest = hashlib.sha256()
    if path.name in ("last.safetensors", "best.safetensors"):
        for name, tensor in sorted(read_weights(path)[0].items()):
            digest.update(name.encode() + tensor.numpy().tobytes())
    else:
        digest.update(path.read_bytes())
    return digest.hexdigest()
