"""The paper's Figure 3: four generators, four protocols, and only CRPS finds the realistic one.

Truth is a Gaussian in the plane; the distance is Euclidean, computed by the project's own protocol engine as the DTW
of scanpaths of a single fixation. Spreads and places of the generators are ours, since the paper does not print them:

* zero variance: always the mean. Wins **mean**, because any spread adds distance.
* low variance: too narrow, at the right place. Wins **best** of a few, because it wastes no sample on rare places.
* mid variance: narrow and at the wrong place, such that its distances to people are distributed like people's
  distances to each other. Wins **KLD**, which sees nothing but that histogram.
* realistic: the right place, a little too wide (no model is perfect). Wins **CRPS**.

CRPS as printed counts the distance of a sample to itself, which lets narrow generators look better when there are few
samples: with five of them the printed form is won by the low variance too, the `fair` form is not. Both are reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.benchmark.figure3_drawing import save_figure3
from stdiffeye.benchmark.protocol_orders import SAMPLES as SAMPLES_OF_SYSTEMS
from stdiffeye.benchmark.protocol_orders import rank_correlations, read_values, to_markdown
from stdiffeye.files import write_text
from stdiffeye.gaze import Frame, Scanpath, Trial
from stdiffeye.metrics import PROTOCOLS, evaluate

FRAME = Frame(512, 384)
STD_PX = 30.0
VIEWERS, STIMULI = 20, 100
SAMPLES, FEW_SAMPLES = 60, 5
EUCLIDEAN = "DTW"  # of single fixations


@dataclass(frozen=True)
class Generator:
    """A Gaussian: its standard deviation and its distance from the truth's mean, in units of the truth's."""

    std: float
    offset: float = 0.0


GENERATORS: Mapping[str, Generator] = {
    "zero variance": Generator(0.0),
    "low variance": Generator(0.65),
    "mid variance": Generator(0.8, offset=0.85),
    "realistic": Generator(1.15),
}
# Label of a row → protocol, estimator, samples per stimulus.
ROWS: Mapping[str, tuple[str, str, int]] = {
    "mean": ("mean", "printed", SAMPLES),
    f"best of {FEW_SAMPLES}": ("best", "printed", FEW_SAMPLES),
    "KLD": ("kld", "printed", SAMPLES),
    "CRPS": ("crps", "printed", SAMPLES),
    f"CRPS as printed, {FEW_SAMPLES} samples": ("crps", "printed", FEW_SAMPLES),
    f"CRPS fair, {FEW_SAMPLES} samples": ("crps", "fair", FEW_SAMPLES),
}
MAIN_ROWS = tuple(ROWS)[:4]


@dataclass(frozen=True)
class Figure3:
    """Points of truth and generators, in standard deviations of the truth, and row → generator → score in px."""

    truth: Floats
    points: Mapping[str, Floats]
    scores: Mapping[str, Mapping[str, float]]

    @property
    def main_rows(self) -> tuple[str, ...]:
        """The rows of the paper's figure, one per protocol."""
        return MAIN_ROWS

    def winner(self, row: str) -> str:
        """The generator with the lowest score."""
        return min(self.scores[row], key=lambda name: self.scores[row][name])

    def to_markdown(self) -> str:
        """One row per protocol, the winner bold."""
        lines = [f"| lower is better | {' | '.join(GENERATORS)} |", "|---|" + "---:|" * len(GENERATORS)]
        for row, scores in self.scores.items():
            best = self.winner(row)
            cells = [f"**{score:.3f}**" if name == best else f"{score:.3f}" for name, score in scores.items()]
            lines.append(f"| {row} | {' | '.join(cells)} |")
        return "\n".join(lines)


def figure3(seed: int = 0) -> Figure3:
    """Draw the points and score them with every protocol."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(STIMULI, VIEWERS, 2))
    points = {
        name: rng.normal(size=(STIMULI, SAMPLES, 2)) * one.std + (one.offset, 0.0) for name, one in GENERATORS.items()
    }
    runs = {how[1:]: _score(truth, points, *how[1:]) for how in ROWS.values()}
    scores = {row: runs[estimator, samples][protocol] for row, (protocol, estimator, samples) in ROWS.items()}
    return Figure3(truth.reshape(-1, 2), {name: one.reshape(-1, 2) for name, one in points.items()}, scores)


def reproduce(data: Path, out: Path, quiet: bool = False) -> Path:
    """Write the report `out` and the figure beside it, as PNG and PDF; `data` is not needed."""
    found = figure3()
    save_figure3(found, out.with_suffix(""))
    write_text(out, _report(found, out.stem) + _orders(out.with_name("results") / "table1.csv") + "\n")
    if not quiet:
        print(found.to_markdown())
    return out


_REPORT = """# Why CRPS: four generators, four protocols

Made by `stdiffeye demo crps`. Points in the plane, Euclidean distance in px; {stimuli} stimuli with {viewers} true
points each, of a Gaussian with a standard deviation of {std:g} px. Mean, KLD and CRPS use {samples} generated points
per stimulus, best-of-N {few}. In units of the true standard deviation the generators are

{generators}

![Four generators and their scores]({name}.png)

{table}

A degenerate generator wins each of the older protocols: the constant one the mean, a narrow one best-of-N, one at the
wrong position KLD. CRPS with enough samples is won by the realistic one.

Two limits, which the paper's figure does not show:

* Best-of-N prefers the narrow generator only when N is small. In the plane, dozens of samples would favour a wide one.
* CRPS as printed includes the distance of every sample to itself. With few samples the narrow generator wins. The fair
  form leaves that distance out, and is the one to use."""


def _report(found: Figure3, name: str) -> str:
    generators = "\n".join(
        f"* {label}: standard deviation {one.std:g}, {one.offset:g} from the true mean"
        for label, one in GENERATORS.items()
    )
    return _REPORT.format(
        name=name,
        table=found.to_markdown(),
        generators=generators,
        stimuli=STIMULI,
        viewers=VIEWERS,
        std=STD_PX,
        samples=SAMPLES,
        few=FEW_SAMPLES,
    )


_ORDERS = """

## Real systems

Do the protocols order real systems alike? From the [table of systems](results/table1.md): Spearman's correlation of the
order by each protocol with that by fair CRPS. Means over the metrics, with 95 % intervals by resampling the systems.
Fair CRPS is computed from the table's mean and CRPS: they differ by half the mean distance among the {samples} samples.

{table}
"""


def _orders(path: Path) -> str:
    """How the protocols order the systems of the committed table; "" where there is none beside the page."""
    if not path.is_file():
        return ""
    values = read_values(path)
    systems = len({name for column in values.values() for name in column["crps"]})
    table = to_markdown(rank_correlations(values), systems)
    return _ORDERS.format(table=table, samples=SAMPLES_OF_SYSTEMS).rstrip()


def _score(truth: Floats, points: Mapping[str, Floats], estimator: str, samples: int) -> dict[str, dict[str, float]]:
    """Protocol → generator → score, with so many samples per stimulus."""
    result = evaluate(
        _trials(truth),
        {name: _trials(one[:, :samples]) for name, one in points.items()},
        metrics=(EUCLIDEAN,),
        estimator=estimator,
        references=False,
        replicates=0,
    )
    return {how: {name: result.value(name, how, EUCLIDEAN) for name in points} for how in PROTOCOLS}


def _trials(points: Floats) -> list[Trial]:
    """(stimuli, n, 2) points as scanpaths of one fixation, around the frame's centre."""
    xy_px = FRAME.centre_px + STD_PX * points
    return [
        Trial(f"stimulus {s}", str(n), Scanpath(xy_px[s, n][None], FRAME))
        for s in range(points.shape[0])
        for n in range(points.shape[1])
    ]
