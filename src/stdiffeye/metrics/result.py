"""What an evaluation returns: numbers with intervals, printable and writable."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.csv_cells import CsvWriter
from stdiffeye.errors import InputError
from stdiffeye.files import write_json, write_text

Key = tuple[str, str]
GAP = "gap closed"  # where a metric is named: all of them together


@dataclass(frozen=True, eq=False)
class Estimate:
    """One number with its 95 % confidence interval.

    Attributes
    ----------
    value, low, high : float
        The number and its bootstrap interval over stimuli; NaN when undefined.
    n : int
        Stimuli that the number is averaged over.
    undefined : int
        Human × generated pairs without a score (too short, no durations), which are left out.
    per_stimulus : ndarray, (S,), or None
        Value of each stimulus, NaN where undefined; None for KLD, which pools the stimuli.

    Examples
    --------
    >>> Estimate(0.5, 0.4, 0.6, n=20, undefined=0).to_dict()
    {'value': 0.5, 'low': 0.4, 'high': 0.6, 'n': 20, 'undefined': 0}
    """

    value: float
    low: float
    high: float
    n: int
    undefined: int
    per_stimulus: Floats | None = None

    def to_dict(self, keys: list[Key] | None = None) -> dict[str, Any]:
        """Return plain values as in results.json.

        Parameters
        ----------
        keys : list of (name, task), optional
            The stimuli, where their values are wanted too.

        Returns
        -------
        dict
            NaN becomes None.
        """
        row: dict[str, Any] = {
            "value": _plain(self.value),
            "low": _plain(self.low),
            "high": _plain(self.high),
            "n": self.n,
            "undefined": self.undefined,
        }
        if keys is not None and self.per_stimulus is not None:
            pairs = zip(keys, self.per_stimulus.tolist(), strict=True)
            row["per_stimulus"] = {f"{name}|{task}": _plain(value) for (name, task), value in pairs}
        return row


@dataclass(frozen=True)
class Difference:
    """Difference of two systems on one metric, or of their gap closed over the metrics that both have.

    Attributes
    ----------
    first, second : str
        Names of the systems.
    protocol, metric : str
        What is compared; the metric is "gap closed" for the mean over metrics.
    value, low, high : float
        first − second and its 95 % interval.
    p : float
        Two-sided p value of the paired bootstrap over stimuli.
    better : str
        Name of the better system, empty where they are equal.

    Examples
    --------
    >>> Difference("ours", "theirs", "crps", "DTW", -3.0, -5.0, -1.0, 0.01, "ours").to_dict()["better"]
    'ours'
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
        """Return plain values as in results.json.

        Returns
        -------
        dict
            NaN becomes None.
        """
        return {name: _plain(value) for name, value in vars(self).items()}


class FurtherTable(Protocol):
    """What a further table of a result can do, as `stdiffeye.statistics.likelihood` has one."""

    def to_dict(self, per_stimulus: bool = False) -> dict[str, Any]:
        """Return plain values as in results.json.

        Parameters
        ----------
        per_stimulus : bool
            Include the values of every stimulus.

        Returns
        -------
        dict
            NaN becomes None.
        """
        ...

    def to_markdown(self) -> str:
        """Return the table as Markdown.

        Returns
        -------
        str
            The table, with a heading.
        """
        ...


@dataclass(frozen=True, eq=False)
class Result:
    """What `evaluate` returns: system → protocol → metric → `Estimate`, printable and writable.

    Attributes
    ----------
    systems : dict of str to dict
        The systems in the order given, then the reference rows; each protocol → metric → `Estimate`.
    references : tuple of str
        Which of the systems are reference rows.
    gap_closed : dict of str to dict
        System → protocol → metric → (shuffled − model) / (shuffled − human); "mean" is over the metrics.
    comparisons : list of Difference
        Paired tests between systems; empty unless asked for.
    stimuli : list of (str, str)
        (name, task) of what was compared, in the order of `Estimate.per_stimulus`.
    settings : dict
        The settings of the evaluation.
    notes : list of str
        What was left out and why.
    centres_px : sequence of ndarray, (C, 2)
        Per stimulus the cluster centres that SS used, px of the 512×384 frame.
    to_references : list of Difference
        Of each system from the rows human and shuffled, paired over stimuli.
    viewers : float
        Human scanpaths per stimulus, on average.
    likelihood : LikelihoodTable, optional
        How likely models find each next fixation, where that was asked for (`stdiffeye.statistics.likelihood`).
    """

    systems: dict[str, dict[str, dict[str, Estimate]]]
    references: tuple[str, ...]
    gap_closed: dict[str, dict[str, dict[str, Estimate]]]
    comparisons: list[Difference]
    stimuli: list[Key]
    settings: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    centres_px: Sequence[Floats] = ()
    to_references: list[Difference] = field(default_factory=list)
    viewers: float = math.nan
    likelihood: FurtherTable | None = None

    def __getitem__(self, name: str) -> dict[str, dict[str, Estimate]]:
        return self.systems[name]

    def value(self, name: str, protocol: str, metric: str) -> float:
        """Return one number.

        Parameters
        ----------
        name : str
            Name of the system.
        protocol : str
            As "crps".
        metric : str
            As "DTW".

        Returns
        -------
        float
            NaN where the system does not have it.
        """
        found = self.systems[name].get(protocol, {}).get(metric)
        return float("nan") if found is None else found.value

    def __str__(self) -> str:
        from stdiffeye.metrics.tables import text

        return self._with_likelihood(text(self) if self.systems else "")

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def to_markdown(self, path: str | Path | None = None, intervals: bool = True) -> str:
        """Return a table per protocol, best system bold, second underlined.

        Parameters
        ----------
        path : path, optional
            File to write it to as well.
        intervals : bool
            Print confidence intervals.

        Returns
        -------
        str
            The tables.
        """
        from stdiffeye.metrics.tables import markdown

        return _out(self._with_likelihood(markdown(self, intervals) if self.systems else ""), path)

    def _with_likelihood(self, words: str) -> str:
        if self.likelihood is None:
            return words
        return "\n\n".join(block for block in (words.rstrip("\n"), self.likelihood.to_markdown() + "\n") if block)

    def to_latex(self, path: str | Path | None = None) -> str:
        """Return LaTeX in the paper's layout (booktabs, multirow).

        Parameters
        ----------
        path : path, optional
            File to write it to as well.

        Returns
        -------
        str
            The tables.
        """
        from stdiffeye.metrics.tables import latex

        return _out(latex(self), path)

    def to_dict(self, per_stimulus: bool = False) -> dict[str, Any]:
        """Return plain values as in results.json.

        Parameters
        ----------
        per_stimulus : bool
            Include the values of every stimulus.

        Returns
        -------
        dict
            NaN becomes None.
        """
        keys = self.stimuli if per_stimulus else None
        return ({} if self.likelihood is None else {"likelihood": self.likelihood.to_dict(per_stimulus)}) | {
            "systems": _dicts(self.systems, keys),
            "gap_closed": _dicts(self.gap_closed, None),
            "comparisons": [row.to_dict() for row in self.comparisons],
            "to_references": [row.to_dict() for row in self.to_references],
            "references": list(self.references),
            "stimuli": len(self.stimuli),
            "viewers": _plain(self.viewers),
            "settings": self.settings,
            "notes": self.notes,
        }

    def save(self, path: str | Path, per_stimulus: bool = False) -> list[Path]:
        """Write JSON, and tables beside it.

        Parameters
        ----------
        path : path
            JSON file to write.
        per_stimulus : bool
            Include the values of every stimulus.

        Returns
        -------
        list of Path
            The JSON file, then .md, and .tex and .csv where there are scanpath metrics.
        """
        path = Path(path)
        markdown, latex, table = (path.with_suffix(suffix) for suffix in (".md", ".tex", ".csv"))
        self.to_json(path, per_stimulus)
        self.to_markdown(markdown)
        if not self.systems:
            return [path, markdown]
        self.to_latex(latex)
        self.to_csv(table)
        return [path, markdown, latex, table]

    def to_json(self, path: str | Path, per_stimulus: bool = False) -> None:
        """Write results.json; undefined numbers are null, absent ones absent.

        Parameters
        ----------
        path : path
            File to write.
        per_stimulus : bool
            Include the values of every stimulus.
        """
        write_json(path, self.to_dict(per_stimulus))

    def save_clusters(self, path: str | Path) -> None:
        """Write the clusters of SS as JSON, to be given to a later evaluation.

        Parameters
        ----------
        path : path
            File to write.

        Raises
        ------
        InputError
            When no metric used clusters.
        """
        from stdiffeye.metrics.clusters import write_clusters

        if not self.centres_px:
            raise InputError("there are no clusters to save: neither SS nor SS_dur was evaluated")
        write_clusters(path, self.stimuli, self.centres_px)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return one line per system, protocol and metric; numbers have six digits, in `to_json` all.

        Parameters
        ----------
        path : path, optional
            File to write it to as well.

        Returns
        -------
        str
            The table.
        """
        out = io.StringIO()
        writer = CsvWriter(out)
        writer.row(["system", "protocol", "metric", "value", "low", "high", "n", "undefined", "gap_closed"])
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
                    writer.row([name, protocol, metric, *("" if np.isnan(x) else f"{x:.6g}" for x in numbers)])
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


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
