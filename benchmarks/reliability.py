"""Attack the program as docs/reliability.md says, and write that page.

    python benchmarks/reliability.py --minutes 10 --kills 110 --out docs/reliability.md
    python benchmarks/reliability.py --only fuzz kills      # some sections; the page is written when all are there
    python benchmarks/reliability.py --page                 # the page of what is kept; what is missing is said

What is done is kept in --work, every reader and every section by itself: a second call goes on where the first was
broken off. Exits with 1 where anything failed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from stdiffeye.benchmark.fuzz_readers import READERS
from stdiffeye.benchmark.fuzzing import FuzzReport, fuzz, merged
from stdiffeye.files import read_json, write_json, write_text

SECTIONS = ("kills", "load", "flips", "fuzz")


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """What a file says, made first where it is missing."""
    if not path.is_file():
        write_json(path, make())
    return read_json(path)


def attacked(reader: str, seed: int, args: argparse.Namespace) -> Any:
    """One pass over one reader; files that failed are kept beside the account."""
    return asdict(fuzz(reader, args.minutes, seed, args.work / "failed" / f"{reader}-{seed}")[0])


def section(name: str, args: argparse.Namespace, work: Path) -> Any:
    """The account of one section, kept from an earlier call or made now."""
    if name == "fuzz":
        folder = work / "fuzz"
        rows: dict[str, list[FuzzReport]] = {reader: [] for reader in READERS}
        for seed in range(args.seed, args.seed + args.passes):
            for reader, done in rows.items():
                done.append(FuzzReport(**kept(folder / f"{reader}-{seed}.json", partial(attacked, reader, seed, args))))
        return [asdict(merged(done)) for done in rows.values()]
    return studied(name, args, work)


def studied(name: str, args: argparse.Namespace, work: Path) -> Any:
    """As `section`, where a small study is attacked. Imported here: the processes that fuzz import this file again."""
    from stdiffeye.benchmark.bit_flips import flip_bits
    from stdiffeye.benchmark.kills import kill_verbs
    from stdiffeye.benchmark.made_study import make_study
    from stdiffeye.benchmark.page_load import load_page
    from stdiffeye.cli import main as verbs

    study = make_study(work / "study", verbs)
    if name == "kills":
        path = work / f"kills-{args.kills}.json"
        return kept(path, lambda: [asdict(one) for one in kill_verbs(study, verbs, args.kills, args.seed)])
    if name == "load":
        path = work / f"load-{args.clients}x{args.rounds}.json"
        return kept(path, lambda: asdict(load_page(study, verbs, args.clients, args.rounds)))
    path = work / f"flips-{args.flips}.json"
    return kept(path, lambda: [asdict(one) for one in flip_bits(study, args.flips, args.seed)])


def found(args: argparse.Namespace, work: Path) -> dict[str, Any]:
    """The sections that are kept; a reader that was not attacked yet has no case."""
    rows = []
    for reader in READERS:
        done = [FuzzReport(**read_json(path)) for path in sorted((work / "fuzz").glob(f"{reader}-[0-9]*.json"))]
        rows.append(asdict(merged(done or [FuzzReport(reader)])))
    files = {
        "kills": f"kills-{args.kills}",
        "load": f"load-{args.clients}x{args.rounds}",
        "flips": f"flips-{args.flips}",
    }
    there = {name: work / f"{file}.json" for name, file in files.items()}
    return {"fuzz": rows} | {name: read_json(path) for name, path in there.items() if path.is_file()}


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--minutes", type=float, default=10.0, help="of the processor, of fuzzing per reader")
    words.add_argument("--passes", type=int, default=1, help="of fuzzing, each so long and with a seed of its own")
    words.add_argument("--kills", type=int, default=110)
    words.add_argument("--flips", type=int, default=200, help="per kind of file")
    words.add_argument("--clients", type=int, default=200)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    words.add_argument("--page", action="store_true", help="attack nothing, write the page of what is kept")
    words.add_argument("--work", type=Path, default=Path("reproduced/reliability"))
    words.add_argument("--out", type=Path, default=Path("docs/reliability.md"))
    args = words.parse_args()
    work = args.work.absolute()

    parts = {name: section(name, args, work) for name in (() if args.page else args.only)}
    if args.page:
        parts = found(args, work)
    from stdiffeye.benchmark.reliability_page import (  # with torch, which a fuzzing process needs not load
        failures,
        page,
    )

    bad = failures(parts)
    if args.page or set(parts) == set(SECTIONS):
        settings = {key: value for key, value in vars(args).items() if key not in ("work", "out", "only", "page")}
        write_text(args.out, page(parts | {"settings": settings}))
        print(f"{bad} failures; look at {args.out}")
    else:
        print(f"{bad} failures in {', '.join(parts)}; the page is written with all sections")
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
