"""Find pictures that several data sets share, so that none is trained on in one and tested on in another.

Example: stdiffeye duplicates stores/osie stores/own --out duplicates.json
         stdiffeye train coarse-to-fine stores/osie stores/own --left-out duplicates.json --out runs/mine

Pictures are compared by their features: copies that are squashed or padded are found, those cut to a detail are not.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass
class DuplicatesArgs:
    stores: Positional[tuple[Path, ...]]
    """Stores made by `stdiffeye prepare`, with their pictures."""
    out: Path | None = None
    """JSON file of the pairs and of what to leave out of training, for `stdiffeye train --left-out`."""
    similarity: float = 0.95
    """Least correlation of the small copies of a pair, up to 1."""
    encoder: str = "efficientnet-lite0"
    """efficientnet-lite0, or dinov2:FOLDER, or dinov2:HUB_ID."""
    cache: Path | None = None
    """Where features are kept."""
    json: bool = False
    """Print the pairs as JSON."""
    quiet: bool = False
    """No progress."""


def run(args: DuplicatesArgs) -> None:
    from stdiffeye.training.near_duplicates import duplicates

    quiet = args.quiet or args.json
    found = duplicates(args.stores, args.out, args.similarity, args.encoder, args.cache, quiet)
    if args.json:
        print(json.dumps([asdict(pair) for pair in found], indent=1))
        return
    for pair in found:
        print(pair)
    left_out = len({pair.left_out for pair in found} - {None})
    print(f"{len(found)} pairs of near-duplicates; {left_out} pictures are to be left out of training")
    if args.out is not None:
        print(f"The pairs are in {args.out}: try `stdiffeye train PRESET STORE --left-out {args.out}`")
