"""Which gaze of a file is shown: one stimulus, some of its viewers."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial


def select(
    trials: Sequence[Trial],
    name: str | None = None,
    task: str | None = None,
    viewers: int | None = None,
    subject: str | Sequence[str] = (),
) -> list[Trial]:
    """Select trials of one stimulus, by default of the first one.

    Parameters
    ----------
    trials : sequence of Trial
        All trials of a file.
    name, task : str, optional
        Of the stimulus; by default those of the first trial that fits.
    viewers : int, optional
        At most so many trials; all by default.
    subject : str or sequence of str
        Only these viewers; all by default.

    Returns
    -------
    list of Trial
        In the order of the file, at least one.

    Raises
    ------
    InputError
        Where nothing fits; the message names what there is.

    Examples
    --------
    >>> from stdiffeye import Frame, Scanpath, Trial
    >>> path = Scanpath([[10, 10]], Frame(100, 80))
    >>> trials = [Trial(name, subject, path) for name in ("a.jpg", "b.jpg") for subject in ("1", "2")]
    >>> [trial.subject for trial in select(trials, "b.jpg", viewers=1)]
    ['1']
    """
    if not trials:
        raise InputError("the file holds no trial to show")
    names = [trial.name for trial in trials]
    name = names[0] if name is None else name
    if name not in names:
        near = difflib.get_close_matches(name, sorted(set(names)), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the first one is {names[0]!r}"
        raise InputError(f"there is no stimulus {name!r} in the file: {hint}")
    of_name = [trial for trial in trials if trial.name == name]
    task = of_name[0].task if task is None else task
    found = [trial for trial in of_name if trial.task == task]
    if not found:
        raise InputError(f"{name!r} has no task {task!r}: it has {', '.join(sorted({t.task for t in of_name}))!r}")
    wanted = {subject} if isinstance(subject, str) else set(subject)
    if wanted:
        missing = sorted(wanted - {trial.subject for trial in found})
        if missing:
            present = ", ".join(trial.subject for trial in found)
            raise InputError(f"{name!r} has no viewer {missing[0]!r}: it has {present}")
        found = [trial for trial in found if trial.subject in wanted]
    return found if viewers is None else found[:viewers]
