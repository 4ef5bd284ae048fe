"""`stdiffeye fuzz`: damaged files for every reader, and an account of what they did.

A reader may take a file or refuse it with an `InputError` of less than 300 characters. Anything else is a failure: a
foreign exception, a crash, more than ten seconds. Each reader runs in a process of its own, which a crash may end.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.benchmark.fuzz_readers import READERS, FuzzedReader
from stdiffeye.benchmark.mutations import mutated
from stdiffeye.errors import InputError
from stdiffeye.files import temporary_folder, write_json
from stdiffeye.io.border import LONGEST_MESSAGE

LONGEST_S = 10.0
KILOBYTE = 1024


@dataclass
class FuzzReport:
    """What became of the damaged files of one reader."""

    reader: str
    cases: int = 0
    taken: int = 0
    refused: int = 0
    foreign: int = 0
    """Exceptions that are no `InputError`, and messages that are too long."""
    crashes: int = 0
    hangs: int = 0
    longest_s: float = 0.0
    memory_mb: float = 0.0
    """Peak of the process that read, its children included."""
    kept: list[str] = field(default_factory=list)
    """Files that failed, in the folder of the report."""

    @property
    def failures(self) -> int:
        return self.foreign + self.crashes + self.hangs


def fuzz(
    readers: str | Sequence[str] = (),
    minutes: float = 1.0,
    seed: int = 0,
    out: str | Path = "fuzz",
    quiet: bool = False,
) -> list[FuzzReport]:
    """Attack readers with damaged files.

    Parameters
    ----------
    readers : str or sequence of str
        Some of json, csv, parquet, hdf5, predictions, npz, asc, edf, table, matlab, description, picture.
        All by default.
    minutes : float
        Per reader.
    seed : int
        The same seed makes the same files.
    out : path
        Folder for fuzz.json and the files that failed.
    quiet : bool
        Show no progress.

    Returns
    -------
    list of FuzzReport
        One per reader.

    Raises
    ------
    InputError
        Where there is no such reader.
    """
    names = [readers] if isinstance(readers, str) else list(readers) or list(READERS)
    unknown = [name for name in names if name not in READERS]
    if unknown:
        raise InputError(f"there is no reader {unknown[0]!r} to attack; choose of {', '.join(READERS)}")
    reports = []
    for name in names:
        reports.append(_attack(name, minutes * 60, seed, Path(out)))
        write_json(Path(out) / "fuzz.json", [asdict(report) for report in reports])
        if not quiet:
            print(line_of(reports[-1]), flush=True)
    return reports


def line_of(report: FuzzReport) -> str:
    """The account of a reader in one line."""
    return (
        f"{report.reader:<12}{report.cases:>8} cases: {report.taken} read, {report.refused} refused, "
        f"{report.foreign} foreign exceptions, {report.crashes} crashes, {report.hangs} hangs; "
        f"longest {report.longest_s:.1f} s, {report.memory_mb:.0f} MB"
    )


def _attack(name: str, seconds: float, seed: int, out: Path) -> FuzzReport:
    report = FuzzReport(name)
    context = multiprocessing.get_context("spawn")  # a fork would count this process's memory
    with temporary_folder() as folder:
        while seconds > 0:
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_work, args=(theirs, name, seed, report.cases, seconds, folder), daemon=False
            )
            process.start()
            theirs.close()
            seconds -= _watched(process, ours, report, folder, out)
    return report


def _watched(process: Any, pipe: Connection, report: FuzzReport, folder: Path, out: Path) -> float:
    """Collect what a worker says until it ends or has to be ended; seconds that it took."""
    spent = 0.0
    while True:
        if not pipe.poll(LONGEST_S + 5):
            process.kill()
            report.hangs += 1
            _keep(folder, report, out, "hang")
            break
        try:
            said = pipe.recv()
        except EOFError:
            report.crashes += 1
            _keep(folder, report, out, "crash")
            break
        if said is None:
            spent = float("inf")
            break
        outcome, took, spent, memory_mb = said
        report.cases += 1
        report.longest_s, report.memory_mb = max(report.longest_s, took), max(report.memory_mb, memory_mb)
        setattr(report, outcome, getattr(report, outcome) + 1)
        if outcome in ("foreign", "hangs"):
            _keep(folder, report, out, outcome)
        pipe.send(True)
    process.join()
    if spent != float("inf"):
        report.cases += 1
    return spent


def _keep(folder: Path, report: FuzzReport, out: Path, why: str) -> None:
    case = folder / READERS[report.reader].name
    if case.is_file():
        kept = out / f"{report.reader}-{report.cases}-{why}{case.suffix}"
        out.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(case.read_bytes())
        report.kept.append(kept.name)


def _work(pipe: Connection, name: str, seed: int, first: int, seconds: float, folder: Path) -> None:
    warnings.simplefilter("ignore")
    reader = READERS[name]
    seeds = reader.seeds(folder)
    number = first
    start = time.monotonic()  # of the clock: the native parsers work in processes of their own
    while time.monotonic() - start < seconds:
        rng = np.random.default_rng([seed, list(READERS).index(name), number])
        case = folder / reader.name
        case.write_bytes(mutated(seeds[int(rng.integers(len(seeds)))], rng, seeds))
        began = time.perf_counter()
        outcome = replay(reader, case)
        took = time.perf_counter() - began
        memory = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        pipe.send(("hangs" if took > LONGEST_S else outcome, took, time.monotonic() - start, memory / KILOBYTE))
        pipe.recv()
        number += 1
    pipe.send(None)


def replay(reader: FuzzedReader, case: Path) -> str:
    """What a reader does with a file: "taken", "refused", or "foreign" for what must not happen."""
    try:
        reader.read(case)
    except InputError as error:
        return "refused" if len(str(error)) < LONGEST_MESSAGE else "foreign"
    except Exception:
        return "foreign"
    return "taken"
