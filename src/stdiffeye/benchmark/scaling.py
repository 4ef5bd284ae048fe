"""What commands cost as the work grows: processor time and peak memory at 1×, 4×, 16×, 64×, and what that projects to.

Each command runs in a process of its own on material made for it, so that its memory is its own. Seconds are those of
the processor, which other programs slow less than the clock. The exponent p of t = a + b·nᵖ follows from the last
three sizes, which grow by the same factor; the cost of one more item follows from the last two.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from stdiffeye.errors import InputError
from stdiffeye.files import read_json, write_json, write_text
from stdiffeye.progress import track

TIMES = (1, 4, 16, 64)
VIEWERS = 10
PICTURE_PX = (512, 384)
MILLION, FREEVIEW_TRIALS = 1_000_000, 60_000
WORKERS = (1, 8, 64)

HEAD = """# Cost as the work grows

Made by `stdiffeye reproduce scaling`, every command on one core of {cores}. Seconds are processor time, which busy
programs beside it lengthen; {load:.1f} programs ran or waited meanwhile. Memory is the peak of the process, disk what
the command leaves there. Material is made by the command: pictures of 512×384 px, ten viewers or samples for each. A
pair is a human scanpath and a generated one. The exponent p is that of t = a + b·nᵖ. The growth of memory is that at
16×, and at the largest size.
"""

BREAKS = """## What breaks first

In this order, for a million pictures:

| limit | where |
|---|---|
| disk | {features_gb:,.0f} GB of features, twice that with `--flips`; {gaze_gb:,.0f} GB of scanpaths |
| files | the cache holds one file per picture: on file systems that dislike millions of files, use several caches |
| one reader | `scanpaths.json` is one file of {gaze_gb:,.0f} GB at most, and one process joins the shards |
| reading twice | every worker of `evaluate` reads both sides once, whatever its share |
| memory | {memory_gb:.0f} GB where {most} workers share a machine, however many pictures: each holds the model |
| temporary files | `evaluate` keeps scores in the system's folder for them while it runs; `TMPDIR` names another |
"""


@dataclass(frozen=True)
class ScaledCommand:
    """A command, and how to make material for so many items of it."""

    name: str
    item: str
    base: int
    """Items at 1×."""
    make: Callable[[Path, int], list[str]]
    """Makes the material in a folder; returns the words of the command."""
    compiled_from: int = 0
    """Multiple at which it compiles kernels; it is run once there before, so that they lie on disk."""


@dataclass(frozen=True)
class CommandCost:
    """What a command took for so many items."""

    items: int
    seconds: float
    megabytes: float
    disk_megabytes: float = 0.0


def reproduce(data: Path, out: Path, quiet: bool = False) -> Path:
    """Measure all commands and write the page `out`; broken off, the same call goes on. `data` is not used."""
    kept = Path(f"{out}.unfinished")
    rows, loads = _known(kept)
    for command in COMMANDS:
        costs = rows.setdefault(command.name, [])
        for cost in measure(command, TIMES[len(costs) :], quiet):
            costs.append(cost)
            loads.append(_load())
            write_json(
                kept, {"rows": {name: [asdict(one) for one in some] for name, some in rows.items()}, "loads": loads}
            )
    write_text(out, page(rows, sum(loads) / len(loads)))
    kept.unlink()
    return out


def _known(kept: Path) -> tuple[dict[str, list[CommandCost]], list[float]]:
    """What an earlier call measured, and how many programs ran or waited then."""
    known = read_json(kept) if kept.is_file() else {"rows": {}, "loads": []}
    return {name: [CommandCost(**one) for one in costs] for name, costs in known["rows"].items()}, known["loads"]


def _load() -> float:
    """Programs that ran or waited for a core in the last quarter of an hour."""
    return os.getloadavg()[2] if hasattr(os, "getloadavg") else math.nan


def measure(command: ScaledCommand, times: Sequence[int] = TIMES, quiet: bool = False) -> Iterator[CommandCost]:
    """Run a command at each size, in a process of its own."""
    if command.compiled_from and times:
        _cost(command, command.base * command.compiled_from)
    for factor in track(times, f"measuring {command.name}", quiet=quiet):
        yield _cost(command, command.base * factor)


def _cost(command: ScaledCommand, items: int) -> CommandCost:
    with tempfile.TemporaryDirectory() as folder:
        words = command.make(Path(folder), items)
        before = _size(Path(folder))
        used = _run(words, Path(folder))
        return CommandCost(items, *used, (_size(Path(folder)) - before) / 1e6)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def exponent(costs: Sequence[CommandCost]) -> float:
    """p of t = a + b·nᵖ from the last three sizes, each the same multiple of the one before; NaN if time shrank.

    Examples
    --------
    >>> round(exponent([CommandCost(n, 3 + 0.1 * n, 100) for n in (4, 16, 64)]), 6)
    1.0
    """
    first, second, third = costs[-3:]
    steps = (second.seconds - first.seconds, third.seconds - second.seconds)
    if min(steps) <= 0:
        return math.nan
    return math.log(steps[1] / steps[0]) / math.log(third.items / second.items)


def marginal_s(costs: Sequence[CommandCost]) -> float:
    """Seconds that one more item takes."""
    one, other = costs[-2:]
    return (other.seconds - one.seconds) / (other.items - one.items)


def start_s(costs: Sequence[CommandCost]) -> float:
    """Seconds that a process takes before its first item."""
    return max(0.0, costs[0].seconds - marginal_s(costs) * costs[0].items)


def page(rows: dict[str, list[CommandCost]], load: float = math.nan) -> str:
    """The report as Markdown; `load` is how many programs ran or waited for a core."""
    items = {command.name: command.item for command in COMMANDS}
    lines = ["| command | items | seconds | ms each | p | peak memory | its growth | kB of memory, of disk each |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for name, costs in rows.items():
        memory = [cost.megabytes for cost in costs]
        lines.append(
            f"| `{name}` | {', '.join(f'{cost.items:,}' for cost in costs)} {items[name]} "
            f"| {', '.join(f'{cost.seconds:.1f}' for cost in costs)} | {_milliseconds(marginal_s(costs))} "
            f"| {exponent(costs):.2f} | {', '.join(f'{one:.0f}' for one in memory)} MB "
            f"| {_growth(memory)} | {_kilobytes(costs)} |"
        )
    head = HEAD.format(cores=f"{os.cpu_count()}{_processor()}", load=load)
    breaks = _breaks(rows) if {"features", "generate"} <= rows.keys() else ""
    return "\n".join([head, *lines, "", *_projection(rows), "", breaks])


def _processor() -> str:
    """ "(the processor's name)", where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((f" ({line.partition(':')[2].strip()})" for line in lines if line.startswith("model name")), "")


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3f}" if seconds < 0.001 else f"{1000 * seconds:.1f}"


def _kilobytes(costs: Sequence[CommandCost]) -> str:
    """Of memory and of disk, for one more item."""
    memory = 1000 * (costs[-1].megabytes - costs[0].megabytes) / (costs[-1].items - costs[0].items)
    return f"{max(0.0, memory):.2g}, {1000 * costs[-1].disk_megabytes / costs[-1].items:.3g}"


def _breaks(rows: dict[str, list[CommandCost]]) -> str:
    """What a million pictures need of disk and memory."""

    def gigabytes(name: str) -> float:
        last = rows[name][-1]
        return last.disk_megabytes / last.items * MILLION / 1000

    most = WORKERS[-1]
    memory_gb = most * rows["generate"][-1].megabytes / 1000
    return BREAKS.format(
        features_gb=gigabytes("features"), gaze_gb=gigabytes("generate"), memory_gb=memory_gb, most=most
    )


def _growth(memory: Sequence[float]) -> str:
    """Growth of memory at 16×, where that was measured, and at the largest size."""
    measured = [memory[TIMES.index(16)]] if len(memory) == len(TIMES) else []
    return ", ".join(f"{100 * (one / memory[0] - 1):+.0f} %" for one in (*measured, memory[-1]))


def _projection(rows: dict[str, list[CommandCost]]) -> list[str]:
    wanted = {
        "prepare": ("COCO-FreeView, 60,000 trials", FREEVIEW_TRIALS),
        "evaluate": ("COCO-FreeView, 60,000 trials beside ten samples a picture", FREEVIEW_TRIALS * VIEWERS),
        "features": ("a million pictures", MILLION),
        "generate": ("a million pictures, ten scanpaths each", MILLION),
    }
    lines = [
        "## Projected",
        "",
        "Seconds of the slowest worker's core, its start included, if the disk keeps up.",
        "",
    ]
    workers = " | ".join(f"{count} worker{'s' * (count > 1)}" for count in WORKERS)
    lines += [f"| command | work | {workers} |", "|---|---|---|---|---|"]
    for name, (what, count) in wanted.items():
        if name in rows:
            start, each = start_s(rows[name]), marginal_s(rows[name])
            cells = (_duration(start + each * count / n) for n in WORKERS)
            lines.append(f"| `{name}` | {what} | {' | '.join(cells)} |")
    return lines


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.3g} h"


def _run(words: Sequence[str], folder: Path) -> tuple[float, float]:
    """Processor seconds and peak megabytes of a command."""
    surroundings = {**os.environ, "STDIFFEYE_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "stdiffeye", *words]
    with open(folder / "said.txt", "w+b") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, cwd=folder, env=surroundings)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            raise InputError(f"{' '.join(words)} failed: {said.read().decode(errors='replace')[-200:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def _pictures(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        pixels = np.random.default_rng(number).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize(PICTURE_PX).save(folder / f"{number:07d}.jpg")


def _generate(folder: Path, count: int) -> list[str]:
    _pictures(folder / "pictures", count)
    return ["generate", "pictures", "--out", "gaze", "--no-trajectories", "--no-plots", "--quiet"]


def _features(folder: Path, count: int) -> list[str]:
    _pictures(folder / "pictures", count)
    return ["features", "pictures", "--quiet"]


def _rows(stimuli: int, seed: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    for stimulus in range(stimuli):
        for viewer in range(VIEWERS):
            xy, ms = rng.uniform(0, 380, (8, 2)).round(1), rng.uniform(150, 400, 8).round()
            row = {"name": f"{stimulus:07d}.jpg", "subject": viewer, "task": "", "width": 512, "height": 384}
            rows.append(row | {"X": xy[:, 0].tolist(), "Y": xy[:, 1].tolist(), "T": ms.tolist()})
    return rows


def _evaluate(folder: Path, count: int) -> list[str]:
    for name, seed in (("human", 0), ("ours", 1)):
        write_json(folder / f"{name}.json", _rows(count // VIEWERS**2, seed), indent=None)
    return ["evaluate", "--human", "human.json", "--generated", "ours=ours.json", "--quiet"]


def _prepare(folder: Path, count: int) -> list[str]:
    write_json(folder / "set" / "scanpaths.json", _rows(count // VIEWERS, 0), indent=None)
    write_text(folder / "made.yaml", json.dumps(DESCRIPTION))
    return ["prepare", "made.yaml", "set", "--out", "store", "--quiet"]


DESCRIPTION = {
    "name": "made",
    "title": "Gaze made to measure preparation",
    "reader": "scanpath_rows",
    "files": [{"path": "scanpaths.json", "what": "all trials"}],
    "citation": "made",
    "licence": "made",
    "split": {"rule": "by-picture", "validation_share": 0.1, "test_share": 0.1},
}

COMMANDS = (
    ScaledCommand("prepare", "trials", 1000, _prepare),
    ScaledCommand("features", "pictures", 4, _features),
    ScaledCommand("generate", "pictures", 4, _generate),
    ScaledCommand("evaluate", "pairs", 2500, _evaluate, compiled_from=1),
)
