"""The settings of an evaluation, and what they imply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from stdiffeye.errors import InputError
from stdiffeye.metrics.protocols import PROTOCOLS, Estimator
from stdiffeye.metrics.spec import MAIN_METRICS, METRICS, PROPER_METRICS, MetricSpec, specs
from stdiffeye.metrics.stimuli import Mode

Average = Literal["stimulus", "pooled"]
POOLED_BY_SCANDIFF = ("MM", "SM")  # the groups whose pairs ScanDiff pools over all stimuli


@dataclass(frozen=True)
class EvaluationSettings:
    """How systems are judged.

    Attributes
    ----------
    metrics : tuple of str or None
        Names in `METRICS`; by default `MAIN_METRICS` and `PROPER_METRICS`, as far as mode and files allow.
    protocols : tuple of str
        Of "crps", "mean", "best", "kld".
    estimator : {"fair", "printed"}
        CRPS without the distance of each sample to itself, or as the paper prints it.
    average : {"stimulus", "pooled"}
        Mean of the stimuli's values, or over the pairs of all stimuli.
    compat : {"scandiff"} or None
        Follow ScanDiff: pad scanpaths to 3 fixations with (1 px, 1 px, 1 ms), set missing durations to 100 ms, and pool
        pairs for MM and SM.
    mode : {"scanpath", "extracted", "pointwise"}
        Compare scanpaths as given, fixations extracted from both sides' trajectories, or raw samples.
    rate_hz : float or None
        Sampling rate for "pointwise"; by default the trajectories' own.
    max_fixations : int or None
        Scanpaths are cut to so many fixations.
    replicates : int
        Bootstrap replicates for intervals and tests; 0 leaves them out.
    seed : int
        Of the bootstrap and of the shuffled humans.
    shuffles : int or None
        How often the humans are shuffled; by default 2 to 8 times, more for fewer stimuli.
    references : bool
        Whether to add the rows human, shuffled and centre.
    """

    metrics: tuple[str, ...] | None = None
    protocols: tuple[str, ...] = PROTOCOLS
    estimator: Estimator = "fair"
    average: Average = "stimulus"
    compat: Literal["scandiff"] | None = None
    mode: Mode = "scanpath"
    rate_hz: float | None = None
    max_fixations: int | None = 16
    replicates: int = 1000
    seed: int = 0
    shuffles: int | None = None
    references: bool = True

    def __post_init__(self) -> None:
        unknown = [protocol for protocol in self.protocols if protocol not in PROTOCOLS]
        if unknown or not self.protocols:
            raise InputError(f"there is no protocol {(unknown or [''])[0]!r}: there are {', '.join(PROTOCOLS)}")
        for name, allowed in (("estimator", Estimator), ("average", Average)):
            if getattr(self, name) not in get_args(allowed):
                raise InputError(f"{name} must be one of {', '.join(get_args(allowed))}, got {getattr(self, name)!r}")
        if self.compat not in (None, "scandiff"):
            raise InputError(f"compat must be 'scandiff' or None, got {self.compat!r}")
        if self.replicates < 0 or (self.shuffles is not None and self.shuffles < 1):
            raise InputError(f"replicates must be ≥ 0 and shuffles ≥ 1, got {self.replicates} and {self.shuffles}")

    def specs(self, semantics: bool) -> list[MetricSpec]:
        """Return the chosen metrics; by default all that the mode and the given files allow.

        Parameters
        ----------
        semantics : bool
            Whether there are semantic maps.

        Returns
        -------
        list of MetricSpec
            In the order of the tables.

        Raises
        ------
        InputError
            When a chosen metric cannot be computed.
        """
        if self.metrics is not None:
            chosen = specs(self.metrics)
            wanting = [spec.name for spec in chosen if spec.needs_semantics and not semantics]
            if wanting:
                raise InputError(f"{', '.join(wanting)} need semantic maps: give --semantics FOLDER")
            unfit = [spec.name for spec in chosen if self.mode == "pointwise" and not spec.on_samples]
            if unfit:
                raise InputError(f"{', '.join(unfit)} are not defined on raw samples; use --trajectories extracted")
            return chosen
        chosen = specs((*MAIN_METRICS, *PROPER_METRICS))
        return [
            spec
            for spec in chosen
            if (semantics or not spec.needs_semantics) and (spec.on_samples or self.mode != "pointwise")
        ]

    def pooled(self, metric: str) -> bool:
        """Tell whether a metric is averaged over the pairs of all stimuli.

        Parameters
        ----------
        metric : str
            Its name.

        Returns
        -------
        bool
            False where it is averaged over stimuli.
        """
        if self.compat == "scandiff":
            return METRICS[metric].group in POOLED_BY_SCANDIFF
        return self.average == "pooled"
