"""What one viewer did with each area of interest: the measures, for one scanpath.

| measure | unit | definition |
|---|---|---|
| `hit` | 0 or 1 | whether a fixation lies in the area; its mean is the hit share |
| `fixations` | count | fixations in the area |
| `dwell_ms` | ms | sum of their durations |
| `dwell_share` | 0 to 1 | that sum over the sum of all durations |
| `time_to_first_ms` | ms | onset of the first of them, from the picture's onset; undefined without a hit |
| `first_duration_ms` | ms | duration of the first of them; undefined without a hit |
| `visits` | count | stays in the area: runs of fixations in it without one outside |
| `revisits` | count | visits after the first |

Where the data have durations but no onsets, an onset is the sum of the durations before, which leaves out saccades.
Measures of time are undefined (NaN) for scanpaths without durations.
"""

from __future__ import annotations

import numpy as np

from stdiffeye.arrays import Floats
from stdiffeye.gaze.areas import Areas
from stdiffeye.gaze.types import Scanpath

LABELS = {
    "hit": "hit share",
    "fixations": "fixations",
    "dwell_ms": "dwell time (ms)",
    "dwell_share": "share of the dwell time",
    "time_to_first_ms": "time to first fixation (ms)",
    "first_duration_ms": "duration of first fixation (ms)",
    "visits": "visits",
    "revisits": "revisits",
}
MEASURES = tuple(LABELS)


def area_visits(path: Scanpath, areas: Areas) -> dict[str, Floats]:
    """All measures of one scanpath.

    Parameters
    ----------
    path : Scanpath
        One viewer's fixations.
    areas : Areas
        Areas of the picture.

    Returns
    -------
    dict of str to ndarray, (A,)
        Measure → value of each area; NaN where it is not defined.

    Examples
    --------
    >>> from stdiffeye import Frame
    >>> areas = Areas.boxes({"left": (0, 0, 50, 80), "right": (50, 0, 50, 80)})
    >>> path = Scanpath([[20, 30], [70, 50], [30, 30]], Frame(100, 80), [200, 300, 100], [0, 240, 580])
    >>> found = area_visits(path, areas)
    >>> found["dwell_ms"].tolist(), found["time_to_first_ms"].tolist(), found["revisits"].tolist()
    ([300.0, 300.0], [0.0, 240.0], [1.0, 0.0])
    """
    inside = areas.inside(path)
    hit = inside.any(axis=0)
    entered = np.diff(inside.astype(np.int8), axis=0, prepend=0) == 1
    visits = entered.sum(axis=0).astype(np.float64)
    found = {
        "hit": hit.astype(np.float64),
        "fixations": inside.sum(axis=0).astype(np.float64),
        "visits": visits,
        "revisits": np.maximum(visits - 1, 0),
    }
    found |= dict.fromkeys(MEASURES[2:6], np.full(len(areas), np.nan))
    if path.duration_ms is not None:
        first = inside.argmax(axis=0)
        dwell_ms, total_ms = path.duration_ms @ inside, float(path.duration_ms.sum())
        found["dwell_ms"] = dwell_ms
        found["dwell_share"] = dwell_ms / total_ms if total_ms else np.full(len(areas), np.nan)
        found["time_to_first_ms"] = np.where(hit, onsets_ms(path)[first], np.nan)
        found["first_duration_ms"] = np.where(hit, path.duration_ms[first], np.nan)
    return {name: found[name] for name in MEASURES}


def onsets_ms(path: Scanpath) -> Floats:
    """(M,) when each fixation began: as recorded, else the sum of the durations before it.

    Parameters
    ----------
    path : Scanpath
        Fixations with durations.

    Returns
    -------
    array, shape (M,)
        Milliseconds since the first sample.
    """
    if path.onset_ms is not None:
        return path.onset_ms
    assert path.duration_ms is not None
    return np.concatenate([[0.0], np.cumsum(path.duration_ms)[:-1]])
