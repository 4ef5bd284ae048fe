"""The page docs/reliability.md from what fuzzing, kills, flipped bits and load have shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stdiffeye.benchmark.model_report import markdown_table

Rows = Sequence[Mapping[str, Any]]
NOT_YET = "This was not run yet.\n"
FUZZ_FAILURES = ("foreign", "crashes", "hangs")
KILL_FAILURES = ("failed", "different", "leftovers")

HEAD = """# Reliability

Laboratories run this on data that cannot be recorded again. These are attacks on it, made by one command:

```shell
python benchmarks/reliability.py --minutes {minutes:g} --passes {passes} --kills {kills} --flips {flips}
```

What a failure is stands above each table. All of them must be zero. [SECURITY.md](https://github.com/stdiffeye/stdiffeye/blob/main/SECURITY.md)
says what is protected against, and how to report what is not.
"""
FUZZ = """## Damaged files

Every reader gets damaged files: bytes changed, files cut and joined, values of JSON, YAML and tables exchanged. A
reader may read a file, or refuse it in one sentence under 300 characters. A foreign exception, a crash or more than ten
seconds of the processor is a failure. The aim is ten minutes of the processor for each reader. The table says how many
it had in this run; a reader without cases was not attacked yet.
"""
KILLS = """## Killed commands

Every command that writes is broken off at a random moment, half of the times by SIGKILL and half by Ctrl-C, and run
again. A file that differs from an undisturbed run's, or that such a run does not leave, is a failure.
"""
FLIPS = """## Flipped bits

One random bit of a data file is flipped. Stores and weights must refuse it, the feature cache must compute anew. Other
values without a word are a failure.
"""
LOAD = """## Load on the page

{clients} clients ask at once, {rounds} times over. A right answer is the one that a client alone gets. A refusal says
when to try again. Anything else is wrong.
"""


def failures(parts: Mapping[str, Any]) -> int:
    """How much went wrong in the sections that are there; all of it must be zero."""
    bad = sum(row[key] for row in parts.get("fuzz", ()) for key in FUZZ_FAILURES)
    bad += sum(row[key] for row in parts.get("kills", ()) for key in KILL_FAILURES)
    bad += sum(row["silent"] for row in parts.get("flips", ()))
    return int(bad + parts.get("load", {"wrong": 0})["wrong"])


def page(parts: Mapping[str, Any]) -> str:
    """The whole page; `parts` holds `settings`, `fuzz`, and `kills`, `flips` and `load` where run, as JSON values."""
    settings = parts["settings"]
    sections = [HEAD.format(**settings), FUZZ.format(**settings), _fuzz(parts["fuzz"])]
    sections += [KILLS, _kills(parts["kills"]) if "kills" in parts else NOT_YET]
    sections += [FLIPS, _flips(parts["flips"]) if "flips" in parts else NOT_YET]
    sections += [LOAD.format(**settings), _load(parts["load"]) if "load" in parts else NOT_YET]
    return "\n".join(sections)


def _fuzz(rows: Rows) -> str:
    table = [["reader", "minutes", "cases", "read", "refused", "failures", "longest (s)", "memory (MB)"]]
    for row in rows:
        failed = sum(row[key] for key in FUZZ_FAILURES)
        table.append(
            [row["reader"], f"{row['minutes']:.2f}"]
            + [f"{row['cases']:,}", f"{row['taken']:,}", f"{row['refused']:,}", str(failed)]
            + [f"{row['longest_s']:.1f}", f"{row['memory_mb']:.0f}"]
        )
    totals = [sum(row[key] for row in rows) for key in ("cases", "taken", "refused")]
    minutes = f"{sum(row['minutes'] for row in rows):.2f}"
    table.append(["all", minutes, *(f"{total:,}" for total in totals), str(failures({"fuzz": rows})), "", ""])
    return markdown_table(table) + "\n"


def _kills(rows: Rows) -> str:
    keys = ("kills", "in_time", "failed", "different", "leftovers")
    table = [["command", "broken off", "before its end", "failed afterwards", "files different", "files left"]]
    table += [[row["verb"], *(str(row[key]) for key in keys)] for row in rows]
    table.append(["all", *(str(sum(row[key] for row in rows)) for key in keys)])
    return markdown_table(table) + "\n"


def _flips(rows: Rows) -> str:
    keys = ("flips", "refused", "repaired", "harmless", "silent")
    table = [["file", "bits flipped", "refused", "computed anew", "same values", "other values"]]
    table += [[row["what"], *(str(row[key]) for key in keys)] for row in rows]
    return markdown_table(table) + "\n"


def _load(row: Mapping[str, Any]) -> str:
    table = [["requests", "right", "told to come again", "wrong"]]
    table.append([str(row[key]) for key in ("requests", "right", "refused", "wrong")])
    memory = ", ".join(f"{value:.0f}" for value in row["memory_mb"])
    return markdown_table(table) + f"\n\nMemory of the server before the first round and after each, in MB: {memory}.\n"
