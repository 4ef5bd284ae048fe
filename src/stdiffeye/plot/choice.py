"""Which gaze of a file is shown: one stimulus, some of its viewers."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from stdiffeye.errors import InputError
from stdiffeye.gaze import Trial


def choose(
    trials: Sequence[Trial],
    name: str | None = None,
    task: str | None = None,
    viewers: int | None = None,
    subjects: Sequence[str] = (),
) -> list[Trial]:
    """Trials of one stimulus: by default the first in the file.

    Parameters
    ----------
    name, task : of the stimulus.
    viewers : at most so many of its trials; None = all.
    subjects : only these viewers.
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
    if subjects:
        missing = sorted(set(subjects) - {trial.subject for trial in found})
        if missing:
            known = ", ".join(trial.subject for trial in found)
            raise InputError(f"{name!r} has no viewer {missing[0]!r}: it has {known}")
        found = [trial for trial in found if trial.subject in subjects]
    return found if viewers is None else found[:viewers]
