"""The card of a run: what was trained, on whose gaze, for how long, and how it did on validation."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stdiffeye import __version__
from stdiffeye.data.store import Store
from stdiffeye.files import write_text
from stdiffeye.systems.config import SystemConfig
from stdiffeye.systems.part import Part

CARD_FILE = "card.md"


def write_card(out: Path, config: SystemConfig, parts: Mapping[str, Part], stores: Sequence[Store]) -> None:
    """Write the card of the run in `out`; `parts` are those that it has trained."""
    sections = [f"# {out.resolve().name}", config.about, _table(out, config, parts)]
    sections += ["## Data", "\n".join(_cited(store) for store in stores)]
    sections += [f"## {name}\n\n{_head(part)}" for name, part in parts.items()]
    write_text(out / CARD_FILE, "\n\n".join(section for section in sections if section) + "\n")


def _table(out: Path, config: SystemConfig, parts: Mapping[str, Part]) -> str:
    rows = [("system", config.system), ("picture features", config.encoder)]
    for name, part in parts.items():
        size = sum(value.numel() for value in part.parameters()) / 1e6
        rows.append((name, f"{size:.1f} M parameters; {_history(out / name / 'log.jsonl')}"))
    rows.append(("made by", f"`stdiffeye train`, version {__version__}; all settings are in run.yaml"))
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows)])


def _history(log: Path) -> str:
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.is_file() else []
    if not rows:
        return "not trained"
    said = f"{rows[-1]['step']:,} steps in {rows[-1]['seconds'] / 60:.1f} minutes"
    judged = [row for row in rows if "validation/score" in row]
    if not judged:
        return said
    best = max(judged, key=lambda row: float(row["validation/score"]))
    what = "loss" if "validation/loss" in best else "gap closed"
    scores = {key.removeprefix("validation/"): value for key, value in best.items() if key.startswith("validation/")}
    scores.pop("score")
    listed = ", ".join(f"{v:.3f}" if what == "loss" else f"{key} {100 * v:.0f} %" for key, v in scores.items())
    return f"{said}; best on validation at step {best['step']:,}: {what} {listed}"


def _cited(store: Store) -> str:
    about = store.info["description"]
    trials = len(store.where("train"))
    return f"* {about['title']}, {trials:,} trials of the train split: {about['citation']} Licence: {about['licence']}"


def _head(part: Part) -> str:
    """What the file that defines the part says of itself: for a peer, what was kept and what left out."""
    return inspect.cleandoc(sys.modules[type(part).__module__].__doc__ or "")
