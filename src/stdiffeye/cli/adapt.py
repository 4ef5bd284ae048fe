"""Adapt a model to a laboratory's own recordings: a viewing style from 20 pictures or 50 trials on.

Example: stdiffeye adapt stores/recorded --model freeview --out mine

Only the style, its centre bias, and the outputs for lengths and durations are learned. What is gained is measured on
pictures that were held out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional


@dataclass
class AdaptArgs:
    store: Positional[Path]
    """A store made by `stdiffeye prepare`; its test split is left alone."""
    out: Path
    """Folder of the adapted model."""
    model: str | None = None
    """A coarse-to-fine model to begin with; by default freeview, or search where the store has tasks."""
    style: str | None = None
    """Name of the style (default: the store's data set)."""
    cache: Path | None = None
    """Where pictures' features are kept (default: the user's cache folder)."""
    json: bool = False
    """Print the figures as JSON."""
    quiet: bool = False
    """Print nothing but errors."""


def run(args: AdaptArgs) -> None:
    from stdiffeye.training.adaptation import adapt

    made = adapt(args.store, args.out, args.model, args.style, args.cache, args.quiet or args.json)
    if args.json:
        print(json.dumps(made.to_json(), indent=1))
    elif not args.quiet:
        print(made)
        print(f"The model is in {made.folder}: try `stdiffeye generate PICTURE --model {made.folder}`")
