"""Put shards of work together that were done apart, by `generate`, `prepare` or `evaluate` with --shard.

Example: stdiffeye join gaze
         stdiffeye join results.json
         stdiffeye join stores/osie
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass
class JoinArgs:
    out: Positional[Path]
    """What the commands were given as --out."""
    quiet: bool = False
    """No progress."""


def run(args: JoinArgs) -> None:
    from stdiffeye.verbs.joining import join

    print(f"All shards are joined in {join(args.out, args.quiet)}")
