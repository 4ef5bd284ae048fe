"""List the models that are shipped, or show the card of one.

Example: stdiffeye models freeview
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tyro.conf import Positional


@dataclass
class ModelsArgs:
    name: Positional[str | None] = None
    """Show this model's card."""
    json: bool = False
    """Print the list as JSON."""


def run(args: ModelsArgs) -> None:
    from stdiffeye.training.shipped import models

    found = models(args.name)
    if args.json:
        print(json.dumps([{"name": m.name, "about": m.about, "megabytes": m.megabytes} for m in found], indent=1))
    elif args.name is not None:
        print(found[0].card or f"{args.name} has no card")
    else:
        for model in found:
            print(f"{model.name:<12} {model.megabytes:5.1f} MB  {model.about}")
        print("`stdiffeye models NAME` shows a model's card; `stdiffeye generate PICTURE --model NAME` uses it.")
