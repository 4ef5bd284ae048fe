"""List the models that are shipped, or show the card of one.

Example: stdiffeye models freeview
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tyro.conf import Positional


@dataclass
class Args:
    name: Positional[str | None] = None
    """Show this model's card."""
    json: bool = False
    """Print the list as JSON."""


def run(args: Args) -> None:
    from stdiffeye.generate.shipped import CARD_FILE, find_model, models

    if args.name is not None:
        card = find_model(args.name) / CARD_FILE
        print(card.read_text(encoding="utf-8") if card.is_file() else f"{args.name} has no card")
    elif args.json:
        print(json.dumps([{"name": m.name, "about": m.about, "megabytes": m.megabytes} for m in models()], indent=1))
    else:
        for model in models():
            print(f"{model.name:<12} {model.megabytes:5.1f} MB  {model.about}")
        print("`stdiffeye models NAME` shows a model's card; `stdiffeye generate PICTURE --model NAME` uses it.")
