"""Attack the program as docs/reliability.md says, and write that page.

    python benchmarks/reliability.py --minutes 10 --kills 100 --out docs/reliability.md

What is done is kept in --work, where a second call goes on. Exits with 1 where anything failed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stdiffeye.benchmark.bit_flips import flip_bits
from stdiffeye.benchmark.fuzzing import fuzz
from stdiffeye.benchmark.kills import kill_verbs
from stdiffeye.benchmark.made_study import make_study
from stdiffeye.benchmark.page_load import load_page
from stdiffeye.benchmark.reliability_page import page
from stdiffeye.cli import main as verbs
from stdiffeye.files import read_json, write_json, write_text


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """What a file says, made first where it is missing."""
    if not path.is_file():
        write_json(path, make())
    return read_json(path)


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--minutes", type=float, default=10.0, help="of fuzzing per reader")
    words.add_argument("--kills", type=int, default=100)
    words.add_argument("--flips", type=int, default=50, help="per kind of file")
    words.add_argument("--clients", type=int, default=200)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--work", type=Path, default=Path("reproduced/reliability"))
    words.add_argument("--out", type=Path, default=Path("docs/reliability.md"))
    args = words.parse_args()
    work = args.work.absolute()

    parts: dict[str, Any] = {"settings": {k: v for k, v in vars(args).items() if k not in ("work", "out")}}
    fuzzed = work / f"fuzz-{args.minutes:g}"
    parts["fuzz"] = kept(
        fuzzed / "done.json", lambda: [asdict(one) for one in fuzz((), args.minutes, args.seed, fuzzed)]
    )
    study = make_study(work / "study", verbs)
    kills = work / f"kills-{args.kills}.json"
    parts["kills"] = kept(kills, lambda: [asdict(one) for one in kill_verbs(study, verbs, args.kills, args.seed)])
    load = work / f"load-{args.clients}x{args.rounds}.json"
    parts["load"] = kept(load, lambda: asdict(load_page(study, verbs, args.clients, args.rounds)))
    flips = work / f"flips-{args.flips}.json"
    parts["flips"] = kept(flips, lambda: [asdict(one) for one in flip_bits(study, args.flips, args.seed)])
    write_text(args.out, page(parts))
    bad = sum(row["foreign"] + row["crashes"] + row["hangs"] for row in parts["fuzz"])
    bad += sum(row["failed"] + row["different"] + row["leftovers"] for row in parts["kills"])
    bad += sum(row["silent"] for row in parts["flips"]) + parts["load"]["wrong"]
    print(f"{bad} failures; look at {args.out}")
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
