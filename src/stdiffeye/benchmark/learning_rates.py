"""A short search for the learning rate on the validation split, the same for every system, and recorded."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stdiffeye.benchmark import Budget
from stdiffeye.errors import InputError
from stdiffeye.files import read_json, write_json
from stdiffeye.systems.presets import load_preset

RECORD = "rates.json"
MOST_BEYOND = 2  # rates beyond those asked for
Train = Callable[[Path, float, Sequence[str]], Path]


@dataclass(frozen=True)
class RateSearch:
    """Which learning rates were tried on a stage, and how well each did on validation."""

    stage: str
    scores: dict[float, float | None]
    """Rate → gap closed on validation; None where the training broke off or there was nothing to validate on."""
    chosen: float
    dataset: str
    """The set whose validation split chose."""

    @property
    def change(self) -> str:
        return f"train.{self.stage}.learning_rate={self.chosen!r}"

    @classmethod
    def read(cls, folder: Path) -> RateSearch:
        values = read_json(folder / RECORD)
        scores = {float(rate): score for rate, score in values["scores"].items()}
        return cls(values["stage"], scores, values["chosen"], values["dataset"])

    def write(self, folder: Path) -> None:
        scores = {repr(rate): score for rate, score in self.scores.items()}
        record = {"stage": self.stage, "dataset": self.dataset, "scores": scores, "chosen": self.chosen}
        write_json(folder / RECORD, record)


def was_searched(folder: Path) -> bool:
    return (folder / RECORD).is_file()


def search_rates(
    preset: str, changes: Sequence[str], dataset: str, folder: Path, budget: Budget, train: Train
) -> RateSearch:
    """Try multiples of the preset's rate for a share of the budget each, and keep the one that validates best.

    While the best is the highest or the lowest, the next beyond it is tried too: nobody is held back by where a search
    happens to end. A search whose record lies in `folder` is not made again.
    """
    if was_searched(folder):
        return RateSearch.read(folder)
    config = load_preset(preset, changes)
    stage = next(iter(config.stages))
    usual = config.train[stage].learning_rate
    scores: dict[float, float | None] = {}
    ahead = [_rounded(usual * factor) for factor in budget.search_rates]
    while ahead:
        rate = ahead.pop(0)
        tried = folder / f"{rate:g}"
        try:
            train(tried, budget.minutes * budget.search_share, [f"train.{stage}.learning_rate={rate!r}"])
            scores[rate] = validation_score(tried / stage / "log.jsonl")
        except InputError:  # a rate so high that training broke off has lost
            scores[rate] = None
        if not ahead and len(scores) < len(budget.search_rates) + MOST_BEYOND:
            ahead = _beyond(scores)
    found = RateSearch(stage, scores, _best(scores) or usual, dataset)
    found.write(folder)
    return found


def _rounded(rate: float) -> float:
    return float(f"{rate:.2g}")


def _best(scores: Mapping[float, float | None]) -> float | None:
    finished = {rate: score for rate, score in scores.items() if score is not None}
    return max(finished, key=lambda rate: finished[rate]) if finished else None


def _beyond(scores: Mapping[float, float | None]) -> list[float]:
    """The rate to try next, as far beyond the best as its neighbour lies on the other side; none where both are known.

    A rate at which training broke off is known: it has lost.
    """
    rates, best = sorted(scores), _best(scores)
    if best is None or len(rates) < 2 or best not in (rates[0], rates[-1]):
        return []
    neighbour = rates[1] if best == rates[0] else rates[-2]
    return [_rounded(best * best / neighbour)]


def validation_score(log: Path) -> float | None:
    """The best score in a training log; None where nothing was validated."""
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    scores = [row["validation/score"] for row in rows if "validation/score" in row]
    best = max(scores, default=math.nan)
    return None if math.isnan(best) else float(best)
