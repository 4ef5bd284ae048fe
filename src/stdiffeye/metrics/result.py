"""What an evaluation returns: numbers with intervals, printable and writable."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from stdiffeye.errors import InputError
from stdiffeye.files import write_json, write_text
from stdiffeye.metrics.pairs import Floats

Key = tuple[str, str]
GAP = "gap closed"  # where a metric is named: all of them together


@dataclass(frozen=True, eq=False)
class Estimate:
    """One number.

    Parameters
    ----------
    value, low, high : the number and its 95 % bootstrap interval over stimuli; NaN when undefined.
    n : stimuli that it rests on.
    undefined : human × generated pairs without a score (too short, no durations), left out.
    per_stimulus : (S,) value of each stimulus, NaN where undefined; None for KLD, which pools them.
    """

    value: float
    low: float
    high: float
    n: int
    undefined: int
    per_stimulus: Floats | None = None

    def to_dict(self, keys: list[Key] | None = None) -> dict[str, Any]:
        """As in results.json; with `keys` also the values of the stimuli."""
        row: dict[str, Any] = {
            "value": _known(self.value),
            "low": _known(self.low),
            "high": _known(self.high),
            "n": self.n,
            "undefined": self.undefined,
        }
        if keys is not None and self.per_stimulus is not None:
            pairs = zip(keys, self.per_stimulus.tolist(), strict=True)
            row["per_stimulus"] = {f"{name}|{task}": _known(value) for (name, task), value in pairs}
        return row


@dataclass(frozen=True)
class Difference:
    """Two systems on one metric, or by gap closed over the metrics that both have.

    first − second, its interval, and the p of the paired bootstrap over stimuli.
    """

    first: str
    second: str
    protocol: str
    metric: str
    value: float
    low: float
    high: float
    p: float
    better: str

    def to_dict(self) -> dict[str, Any]:
        return {name: _known(value) for name, value in vars(self).items()}


@dataclass(frozen=True, eq=False)
class Result:
    """Name → protocol → metric → `Estimate`, with what is needed to read it.

    Parameters
    ----------
    systems : the systems in the order given, then the reference rows.
    references : which of the systems are reference rows.
    gap_closed : name → protocol → metric → (shuffled − model) / (shuffled − human); "mean" is over the metrics.
    stimuli : (name, task) of what was compared, in the order of `per_stimulus`.
    settings : what was asked for, the mode of comparison included.
    notes : what was left out and why.
    centres_px : per stimulus the (C, 2) clusters that SS used.
    """

    systems: dict[str, dict[str, dict[str, Estimate]]]
    references: tuple[str, ...]
    gap_closed: dict[str, dict[str, dict[str, Estimate]]]
    comparisons: list[Difference]
    stimuli: list[Key]
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    centres_px: Sequence[Floats] = ()

    def __getitem__(self, name: str) -> dict[str, dict[str, Estimate]]:
        return self.systems[name]

    def value(self, name: str, protocol: str, metric: str) -> float:
        """The number alone; NaN when the system has none."""
        found = self.systems[name].get(protocol, {}).get(metric)
        return float("nan") if found is None else found.value

    def __str__(self) -> str:
        from stdiffeye.metrics.tables import text

        return text(self)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def to_markdown(self, path: str | Path | None = None, intervals: bool = True) -> str:
        """A table per protocol; the best system is bold, the second underlined."""
        from stdiffeye.metrics.tables import markdown

        return _out(markdown(self, intervals), path)

    def to_latex(self, path: str | Path | None = None) -> str:
        """The paper's layout (booktabs, multirow), one table per protocol; best bold, second underlined."""
        from stdiffeye.metrics.tables import latex

        return _out(latex(self), path)

    def to_dict(self, per_stimulus: bool = False) -> dict[str, Any]:
        """What results.json holds."""
        keys = self.stimuli if per_stimulus else None
        return {
            "systems": _dicts(self.systems, keys),
            "gap_closed": _dicts(self.gap_closed, None),
            "comparisons": [row.to_dict() for row in self.comparisons],
            "references": list(self.references),
            "stimuli": len(self.stimuli),
            "settings": self.settings,
            "notes": self.notes,
        }

    def to_json(self, path: str | Path, per_stimulus: bool = False) -> None:
        """Write results.json; undefined numbers are null, absent ones absent."""
        write_json(path, self.to_dict(per_stimulus))

    def save_clusters(self, path: str | Path) -> None:
        """Write the clusters of SS as JSON, to be given to a later evaluation."""
        from stdiffeye.metrics.clusters import write_clusters

        if not self.centres_px:
            raise InputError("there are no clusters to save: neither SS nor SS_dur was evaluated")
        write_clusters(path, self.stimuli, self.centres_px)

    def to_csv(self, path: str | Path | None = None) -> str:
        """One line per system, protocol and metric."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["system", "protocol", "metric", "value", "low", "high", "n", "undefined", "gap_closed"])
        for name, protocols in self.systems.items():
            for protocol, metrics in protocols.items():
                for metric, one in metrics.items():
                    gap = self.gap_closed.get(name, {}).get(protocol, {}).get(metric)
                    numbers = [
                        one.value,
                        one.low,
                        one.high,
                        one.n,
                        one.undefined,
                        math.nan if gap is None else gap.value,
                    ]
                    writer.writerow([name, protocol, metric, *("" if np.isnan(x) else x for x in numbers)])
        return _out(out.getvalue(), path)


def _out(content: str, path: str | Path | None) -> str:
    if path is not None:
        write_text(path, content)
    return content


def _dicts(table: Mapping[str, Mapping[str, Mapping[str, Estimate]]], keys: list[Key] | None) -> dict[str, Any]:
    return {
        name: {
            protocol: {metric: one.to_dict(keys) for metric, one in metrics.items()}
            for protocol, metrics in protocols.items()
        }
        for name, protocols in table.items()
    }


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
