"""Look at pictures once and keep what was seen, so that training and generation need not look again.

Features are kept by content, as float16, under --cache, $STDIFFEYE_CACHE or ~/.cache/stdiffeye. Broken off, the
same command goes on where it was.

Example: stdiffeye features pictures/ --flips
         stdiffeye features stores/osie photo.jpg --encoder dinov2:models/dinov2-base-with-registers
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import tyro

from stdiffeye.work_shards import WorkOptions


@dataclass
class FeaturesArgs:
    sources: tyro.conf.Positional[tuple[Path, ...]]
    """Pictures, folders of pictures, stores or gaze files that name their pictures."""
    encoder: str = "efficientnet-lite0"
    """efficientnet-lite0, or dinov2:FOLDER, or dinov2:HUB_ID."""
    cache: Path | None = None
    """Where features are kept."""
    flips: bool = False
    """Also the pictures mirrored left to right, which training uses."""
    download: bool = False
    """Allow a hub id to be fetched from the network."""
    work: WorkOptions = field(default_factory=WorkOptions)
    json: bool = False
    """Print the result as JSON."""
    quiet: bool = False
    """No progress."""


def run(args: FeaturesArgs) -> None:
    from stdiffeye.verbs.encoding import features, pictures_of

    pictures = pictures_of(args.sources)
    cache = features(pictures, args.encoder, args.cache, args.flips, args.download, args.quiet, args.work)
    if args.work.own is not None:
        pictures = list(args.work.own.of(pictures))
    if args.json:
        print(json.dumps({"pictures": len(pictures), "computed": cache.computed, "folder": str(cache.home)}))
    else:
        print(f"{len(pictures)} picture(s), {cache.computed} features computed now; all in {cache.home}")
