"""Attack the readers with damaged files: for developers.

Example: stdiffeye fuzz --minutes 10 --out fuzz
         stdiffeye fuzz json hdf5 --minutes 1 --seed 7

Prints a line per reader and exits with 1 where a file did anything but be read or be refused in one short sentence.
Such files are kept in --out; after the fix they belong in tests/corpus/READER.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass
class FuzzArgs:
    readers: Positional[tuple[str, ...]] = ()
    """json, csv, parquet, hdf5, predictions, npz, asc, edf, table, exports, core, neon, matlab, description, picture,
    bids, sidecar, store, weights, preset, areas, clusters, results, backdrop; all by default."""
    minutes: float = 1.0
    """Minutes of the processor per reader."""
    seed: int = 0
    """The same seed makes the same files."""
    out: Path = Path("fuzz")
    """Folder for fuzz.json and the files that failed."""
    quiet: bool = False
    """Print nothing but the end."""


def run(args: FuzzArgs) -> int:
    from stdiffeye.benchmark.fuzzing import fuzz

    reports = fuzz(args.readers, args.minutes, args.seed, args.out, args.quiet)
    failures, cases = sum(report.failures for report in reports), sum(report.cases for report in reports)
    print(f"{cases} damaged files, {failures} failures: the account is in {args.out / 'fuzz.json'}")
    return 1 if failures else 0
