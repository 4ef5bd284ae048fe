"""Write what this environment consists of: a CycloneDX bill of materials (JSON) and a list of licences (Markdown).

    .venv/bin/python docs/scripts/sbom.py --out dist

`make build` calls it beside the wheel. Everything comes from the packages' own metadata; nothing is fetched.
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

ITSELF = "stdiffeye"
LONGEST_LICENCE = 60


def licence_of(one: Distribution) -> str:
    """What a package says its licence is: the expression, the classifier, or the first line of the field."""
    about = one.metadata
    if about.get("License-Expression"):
        return str(about["License-Expression"])
    named = [line.rsplit(" :: ", 1)[-1] for line in about.get_all("Classifier", []) if line.startswith("License ::")]
    lines = (about.get("License") or "").strip().splitlines()
    return ", ".join(named) or (lines[0][:LONGEST_LICENCE] if lines else "not stated")


def component(one: Distribution) -> dict[str, Any]:
    """A package as CycloneDX describes it."""
    name = one.name.lower().replace("_", "-")
    return {
        "type": "library",
        "name": one.name,
        "version": one.version,
        "purl": f"pkg:pypi/{name}@{one.version}",
        "licenses": [{"license": {"name": licence_of(one)}}],
    }


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--out", type=Path, default=Path("dist"))
    out = words.parse_args().out
    found = {one.name.lower(): one for one in distributions()}
    packages = [found[name] for name in sorted(found) if name != ITSELF]
    itself = found[ITSELF]
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": ITSELF, "version": itself.version}},
        "components": [component(one) for one in packages],
    }
    rows = [f"| {one.name} | {one.version} | {licence_of(one).replace('|', '/')} |" for one in packages]
    out.mkdir(parents=True, exist_ok=True)
    (out / "sbom.cdx.json").write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    table = "\n".join(["| package | version | licence |", "|---|---|---|", *rows])
    (out / "licences.md").write_text(f"# Licences of the dependencies\n\n{table}\n", encoding="utf-8")
    print(f"{len(packages)} packages: look at {out / 'sbom.cdx.json'} and {out / 'licences.md'}")


if __name__ == "__main__":
    main()
