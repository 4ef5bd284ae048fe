"""The card of a run: what was trained, on whose gaze, for how long, and how it did on validation."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stdiffeye.data.run_description import CARD_FILE
from stdiffeye.data.store import Store
from stdiffeye.files import write_text
from stdiffeye.systems.base import TrainableSystem
from stdiffeye.systems.presets import SystemConfig
from stdiffeye.training.validation import said
from stdiffeye.version import __version__


def write_card(
    out: Path,
    config: SystemConfig,
    stages: Mapping[str, TrainableSystem],
    stores: Sequence[Store],
    notes: Sequence[str] = (),
) -> None:
    """Write the card of the run in `out`; `stages` are those that it has trained, `notes` what was said before."""
    sections = [f"# {out.resolve().name}", config.about, _table(out, config, stages)]
    sections += [f"Note: {note}." for note in notes]
    sections += ["## Data", "\n".join(_cited(store) for store in stores)]
    sections += [f"## {name}\n\n{_head(stage)}" for name, stage in stages.items()]
    write_text(out / CARD_FILE, "\n\n".join(section for section in sections if section) + "\n")


def _table(out: Path, config: SystemConfig, stages: Mapping[str, TrainableSystem]) -> str:
    rows = [("system", config.system), ("picture features", config.encoder)]
    for name, stage in stages.items():
        size = sum(value.numel() for value in stage.parameters()) / 1e6
        rows.append((name, f"{size:.1f} M parameters; {_history(out / name / 'log.jsonl')}"))
    rows.append(("made by", f"`stdiffeye train`, version {__version__}; all settings are in run.yaml"))
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows)])


def _history(log: Path) -> str:
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.is_file() else []
    if not rows:
        return "not trained"
    trained = f"{rows[-1]['step']:,} steps in {rows[-1]['seconds'] / 60:.1f} minutes"
    judged = [row for row in rows if "validation/score" in row]
    if not judged:
        return trained
    best = max(judged, key=lambda row: float(row["validation/score"]))
    scores = {key.removeprefix("validation/"): value for key, value in best.items() if key.startswith("validation/")}
    return f"{trained}; best on validation at step {best['step']:,}: {said(scores)}"


def _cited(store: Store) -> str:
    about = store.info["description"]
    trials = len(store.where("train"))
    return f"* {about['title']}, {trials:,} trials of the train split: {about['citation']} Licence: {about['licence']}"


def _head(stage: TrainableSystem) -> str:
    """What the file that defines the stage says of itself: for a baseline, what was kept and what left out."""
    return inspect.cleandoc(sys.modules[type(stage).__module__].__doc__ or "")
