"""One eye's raw samples at their own times, and a `RawTrial` that holds them before anything is cleaned."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stdiffeye.arrays import Floats, Points
from stdiffeye.gaze.frame import Frame
from stdiffeye.gaze.recording import Eye, Recording
from stdiffeye.gaze.types import Scanpath, Trajectory, Trial
from stdiffeye.gaze.validations import Validation


@dataclass(frozen=True, eq=False)
class Samples:
    """One eye's raw samples.

    Parameters
    ----------
    time_ms : array, shape (N,)
        Strictly rising; steps may vary, and a missing row is a gap as a lost sample is.
    xy_px : array, shape (N, 2)
        Position in `frame`, NaN where the eye was lost.
    rate_hz : float
        Nominal samples per second.
    frame : Frame
        What the pixels are pixels of.

    Examples
    --------
    >>> still = Trajectory([[5, 5]] * 4, 1000, Frame(10, 10))
    >>> Samples.of(still)[1:3].time_ms.tolist()
    [1.0, 2.0]
    """

    time_ms: Floats
    xy_px: Points
    rate_hz: float
    frame: Frame

    @classmethod
    def of(cls, gaze: Trajectory | Recording, eye: Eye = "best") -> Samples:
        """The samples of a trajectory, or of one eye of a recording.

        Parameters
        ----------
        gaze : Trajectory or Recording
            Where they are taken from.
        eye : {"best", "left", "right", "mean"}
            As in `Recording.xy_px`.

        Returns
        -------
        Samples
            Times and positions.
        """
        xy_px = gaze.xy_px if isinstance(gaze, Trajectory) else gaze.xy_px(eye)
        return cls(gaze.time_ms, xy_px, gaze.rate_hz, gaze.frame)

    def __len__(self) -> int:
        return len(self.time_ms)

    def __getitem__(self, span: slice) -> Samples:
        return replace(self, time_ms=self.time_ms[span], xy_px=self.xy_px[span])

    @property
    def lost(self) -> NDArray[np.bool_]:
        """(N,) which samples are lost."""
        return np.asarray(np.isnan(self.xy_px).any(axis=1))

    @property
    def duration_ms(self) -> float:
        """From the first sample to the end of the last one."""
        return float(self.time_ms[-1] - self.time_ms[0] + 1000 / self.rate_hz)


@dataclass(frozen=True)
class RawTrial:
    """One viewer's gaze at one stimulus as the tracker recorded it: nothing cleaned, resampled or extracted.

    Parameters
    ----------
    name, subject : str
        Stimulus and viewer.
    recording : Recording
        The trial's raw samples.
    scanpath : Scanpath, optional
        Its fixations, where the data set gives them; in the recording's frame.
    task, dataset, split, target_box_px, viewing_ms, details
        As of a `Trial`.
    validations : tuple of Validation
        Of the whole recording, on its clock.
    """

    name: str
    subject: str
    recording: Recording
    scanpath: Scanpath | None = None
    task: str = ""
    dataset: str = ""
    split: str = ""
    target_box_px: tuple[float, float, float, float] | None = None
    viewing_ms: float | None = None
    details: dict[str, Any] = field(default_factory=dict)
    validations: tuple[Validation, ...] = ()

    def cleaned(self, trajectory: Trajectory, scanpath: Scanpath, **details: Any) -> Trial:
        """The trial that cleaning made of it.

        Parameters
        ----------
        trajectory : Trajectory
            The cleaned samples.
        scanpath : Scanpath
            Their fixations.
        **details
            Added to the trial's own details.

        Returns
        -------
        Trial
            With subject, stimulus and task as before.
        """
        own = {name: value for name, value in vars(self).items() if name not in ("recording", "validations")}
        return Trial(**own | {"trajectory": trajectory, "scanpath": scanpath, "details": self.details | details})
