"""`stdiffeye fuzz`: damaged files for every reader, and an account of what they did.

A reader may take a file or refuse it with an `InputError` of less than 300 characters. Anything else is a failure: a
foreign exception, a crash, more than ten seconds of the processor. Each reader runs in a process of its own, which a
crash may end. Time is the processor's, children included, so that a busy machine shows no hang that is none.
"""

from __future__ import annotations

import multiprocessing
import os
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
from stdiffeye.border import LONGEST_MESSAGE
from stdiffeye.child_process import processor_seconds, running_children
from stdiffeye.errors import InputError
from stdiffeye.files import temporary_folder, write_json

LONGEST_S = 10.0
SECONDS_TO_START = 600.0
STUCK_S = 120.0
"""By the clock: a process that waits for something that never comes takes no processor time."""
SECONDS_BETWEEN_LOOKS = 0.5
KILOBYTE = 1024
SUMMED = ("cases", "taken", "refused", "foreign", "crashes", "hangs", "minutes")


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
    minutes: float = 0.0
    """Of the processor."""
    longest_s: float = 0.0
    """Of the processor."""
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
        Some of those that `stdiffeye fuzz --help` lists. All by default.
    minutes : float
        Of the processor, per reader.
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


def merged(reports: Sequence[FuzzReport]) -> FuzzReport:
    """The account of several passes over one reader."""
    sums = {name: sum(getattr(one, name) for one in reports) for name in SUMMED}
    most = {name: max(getattr(one, name) for one in reports) for name in ("longest_s", "memory_mb")}
    return FuzzReport(reports[0].reader, **sums, **most, kept=[name for one in reports for name in one.kept])


def line_of(report: FuzzReport) -> str:
    """The account of a reader in one line."""
    return (
        f"{report.reader:<12}{report.cases:>8} cases: {report.taken} read, {report.refused} refused, "
        f"{report.foreign} foreign exceptions, {report.crashes} crashes, {report.hangs} hangs; "
        f"{report.minutes:.1f} min, longest {report.longest_s:.1f} s, {report.memory_mb:.0f} MB"
    )


def _attack(name: str, seconds: float, seed: int, out: Path) -> FuzzReport:
    report = FuzzReport(name)
    left = seconds
    context = multiprocessing.get_context("spawn")  # a fork would count this process's memory
    with temporary_folder() as folder:
        while left > 0:
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, name, seed, report.cases, left, folder), daemon=False)
            process.start()
            theirs.close()
            left -= _watched(process, ours, report, folder, out)
    report.minutes = (seconds - left) / 60
    return report


def _watched(process: Any, pipe: Connection, report: FuzzReport, folder: Path, out: Path) -> float:
    """Collect what a worker says until it ends or has to be ended; seconds of the processor that it took."""
    spent = _awaited_start(process, pipe, report.reader)
    while True:
        try:
            answered = _answers(process, pipe)
            said = pipe.recv() if answered else ("hangs", LONGEST_S, spent + LONGEST_S, 0.0)
        except EOFError:
            answered, said = False, ("crashes", 0.0, spent + 1.0, 0.0)
        if said is None:
            break
        outcome, took, spent, memory_mb = said
        report.longest_s, report.memory_mb = max(report.longest_s, took), max(report.memory_mb, memory_mb)
        setattr(report, outcome, getattr(report, outcome) + 1)
        if outcome in ("foreign", "hangs", "crashes"):
            _keep(folder, report, out, outcome)
        report.cases += 1
        if not answered:
            process.kill()
            break
        pipe.send(True)
    process.join()
    return spent


def _awaited_start(process: Any, pipe: Connection, reader: str) -> float:
    """Wait until a worker has read the whole files, which compiles what has to be; seconds that it counts from."""
    try:
        if pipe.poll(SECONDS_TO_START):
            return float(pipe.recv())
    except EOFError:
        pass
    process.kill()
    process.join()
    raise InputError(f"the reader {reader} does not read its own whole files: `pytest tests/benchmark` says more")


def _answers(process: Any, pipe: Connection) -> bool:
    """Whether a worker says anything within its time."""
    spent_before, began = processor_seconds(process.pid), time.monotonic()
    while not pipe.poll(SECONDS_BETWEEN_LOOKS):
        spent, waited = processor_seconds(process.pid) - spent_before, time.monotonic() - began
        if spent > LONGEST_S + 1 or waited > STUCK_S:
            return False
    return True


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
    seeds, case = reader.seeds(folder), folder / reader.name
    for seed_file in seeds:
        case.write_bytes(seed_file)
        replay(reader, case)
    number, start = first, processor_seconds(os.getpid())
    pipe.send(0.0)
    while (began := processor_seconds(os.getpid())) - start < seconds:
        rng = np.random.default_rng([seed, list(READERS).index(name), number])
        case.write_bytes(mutated(seeds[int(rng.integers(len(seeds)))], rng, seeds))
        outcome = replay(reader, case)
        ended = processor_seconds(os.getpid())
        took = ended - began
        pipe.send(("hangs" if took > LONGEST_S else outcome, took, ended - start, _peak_mb()))
        pipe.recv()
        number += 1
    pipe.send(None)


def _peak_mb() -> float:
    """Most memory that this process and its largest child have had at once."""
    children = [_high_water_mb(child) for child in running_children(os.getpid())]
    return _high_water_mb(os.getpid()) + max(children, default=0.0)


def _high_water_mb(process: int) -> float:
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / KILOBYTE for line in status.splitlines() if line.startswith("VmHWM")), 0.0)


def replay(reader: FuzzedReader, case: Path) -> str:
    """What a reader does with a file: "taken", "refused", or "foreign" for what must not happen."""
    try:
        reader.read(case)
    except InputError as error:
        return "refused" if len(str(error)) < LONGEST_MESSAGE else "foreign"
    except Exception:
        return "foreign"
    return "taken"
