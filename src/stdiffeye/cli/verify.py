"""Check that data files are what they were: stores, models, runs, cached features.

Example: stdiffeye verify stores/osie runs/mine
         stdiffeye verify

Without a path the shipped models are checked. Exit code 1 where a file is damaged.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass
class VerifyArgs:
    paths: Positional[tuple[Path, ...]] = ()
    """Stores, models, runs, caches, or folders of these; by default the shipped models."""
    quiet: bool = False
    """Print nothing but what is damaged."""


def run(args: VerifyArgs) -> int:
    from stdiffeye.training.verification import verify

    files = verify(args.paths, args.quiet)
    damaged = [file for file in files if file.state == "damaged"]
    for file in damaged:
        print(file.fault)
    if not args.quiet:
        counts = Counter(file.state for file in files)
        print(
            f"{len(files)} files: {counts['whole']} whole, {counts['damaged']} damaged, "
            f"{counts['unchecked']} without a checksum"
        )
    return int(bool(damaged))
