"""Look at pictures once and keep what was seen, so that training and generation need not look again.

Features are kept by content, as float16, under --cache, $STDIFFEYE_CACHE or ~/.cache/stdiffeye. Broken off, the
same command goes on where it was.

Example: stdiffeye features pictures/ --flips
         stdiffeye features stores/osie photo.jpg --encoder dinov2:models/dinov2-base-with-registers
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import tyro

from stdiffeye.errors import InputError


@dataclass
class Args:
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
    json: bool = False
    """Print the result as JSON."""
    quiet: bool = False
    """No progress."""


def run(args: Args) -> None:
    from stdiffeye.encoders.precompute import features

    pictures = pictures_of(args.sources)
    cache = features(pictures, args.encoder, args.cache, flips=args.flips, download=args.download, quiet=args.quiet)
    if args.json:
        print(json.dumps({"pictures": len(pictures), "computed": cache.computed, "folder": str(cache.home)}))
    else:
        print(f"{len(pictures)} picture(s), {cache.computed} features computed now; all in {cache.home}")


def pictures_of(sources: Iterable[Path]) -> list[Path]:
    """The picture files that files, folders and stores stand for, each once, in order."""
    found: dict[Path, None] = {}
    for source in sources:
        found.update(dict.fromkeys(_pictures_of_one(source)))
    if not found:
        raise InputError("no pictures were given: name pictures, folders of pictures, or stores")
    return list(found)


def _pictures_of_one(source: Path) -> list[Path]:
    from stdiffeye.data.store import Store, is_store
    from stdiffeye.encoders.picture import PICTURE_SUFFIXES, find_pictures

    if source.suffix.lower() in PICTURE_SUFFIXES:
        return [source]
    if is_store(source):
        pictures = list(Store.open(source).pictures.values())
    elif source.is_dir():
        pictures = find_pictures(source)
    else:
        from stdiffeye.data.read import read_trials

        pictures = [trial.picture for trial in read_trials(source) if trial.picture is not None]
    if not pictures:
        raise InputError(f"{source} holds no pictures and names none: give the folder of its pictures instead")
    return pictures
