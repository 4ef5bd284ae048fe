"""Which search targets a model was trained on, how near another word is to them, and which style is nearest.

A text encoder gives any words a vector, so a model generates gaze for any task. How much that is worth depends on
how near the words are to a target of its training. Nearness is the cosine of the two vectors.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from stdiffeye.encoders import text_encoder
from stdiffeye.encoders.word_table import NAME as WORDS
from stdiffeye.io.descriptions import describe, known_sets
from stdiffeye.systems.presets import SystemConfig, parse_yaml
from stdiffeye.training.shipped import RUN_FILE

# Of the sentence encoder: other names of a thing are above (mug and cup .76, wrist watch and clock .72), other things
# below (glass and cup .59, dog and car .48).
NEAR = 0.65
TARGETS_SHOWN = 18
ALIKE = 0.75  # of two names of data sets, as osie and osie-mat, or of a word and its misspelling

Verdict = Literal["trained", "near", "guess"]


@dataclass(frozen=True)
class TargetMatch:
    """How near a task is to what a model was trained to search for.

    Attributes
    ----------
    task : str
        What is asked for.
    model : str
        The model's name.
    targets : tuple of str
        What it was trained on; none for free viewing.
    nearest : str
        The target that is nearest to the task; "" where there is none.
    similarity : float
        Cosine of their vectors: 1 for the same.
    """

    task: str
    model: str
    targets: tuple[str, ...]
    nearest: str = ""
    similarity: float = math.nan

    @property
    def verdict(self) -> Verdict:
        """trained, near (another name of a target, as it seems) or guess."""
        if self.nearest and self.similarity > 1 - 1e-4:
            return "trained"
        return "near" if self.similarity >= NEAR else "guess"

    def __str__(self) -> str:
        if not self.targets:
            return f"{self.model} was trained on free viewing alone: what it makes of the task {self.task!r} is a guess"
        count = len(self.targets)
        known = f"the {count} target{'s' * (count > 1)} that {self.model} was trained on"
        if self.verdict == "trained":
            return f"{self.task!r} is among {known}"
        spelt = difflib.get_close_matches(self.task.lower(), self.targets, 1, ALIKE)
        if self.verdict == "guess" and spelt:
            return f"{self.task!r} is not among {known}, so this gaze is a guess: did you mean {spelt[0]!r}?"
        listed = ", ".join(self.targets[:TARGETS_SHOWN]) + (", …" if count > TARGETS_SHOWN else "")
        near = f"nearest is {self.nearest!r}, similarity {self.similarity:.2f}"
        worth = "" if self.verdict == "near" else ", so this gaze is a guess"
        return f"{self.task!r} is not among {known} ({listed}); {near}{worth}"


def match_target(task: str, model: str, targets: Sequence[str], text: str = WORDS) -> TargetMatch:
    """Hold a task against the targets of a model.

    Parameters
    ----------
    task
        What is searched for, in words.
    model
        Its name, for the sentence.
    targets
        What it was trained on.
    text
        Its text encoder.
    """
    if not targets:
        return TargetMatch(task, model, ())
    encoder = text_encoder(text)
    wanted = torch.nn.functional.normalize(encoder.encode(task), dim=0)
    known = torch.nn.functional.normalize(torch.stack([encoder.encode(one) for one in targets]), dim=1)
    similarity, number = (known @ wanted).max(0)
    return TargetMatch(task, model, tuple(targets), targets[int(number)], float(similarity))


def targets_of(folder: Path, config: SystemConfig) -> tuple[str, ...] | None:
    """The targets that a run or shipped model was trained on; None where nothing is known of them.

    A run records them; for the shipped ones they are those of the public sets that they were trained on.
    """
    made: Any = parse_yaml((folder / RUN_FILE).read_text(encoding="utf-8"), str(folder / RUN_FILE)).get("made")
    if isinstance(made, dict) and "targets" in made:
        return tuple(map(str, made["targets"]))
    sets = sets_of(config)
    if not sets or not set(sets) <= set(known_sets()):
        return None
    return tuple(sorted({target for name in sets for target in describe(name).targets}))


def sets_of(config: SystemConfig) -> tuple[str, ...]:
    """The data sets whose styles the first stage knows."""
    return tuple(getattr(next(iter(config.stages.values())), "sets", ()))


def nearest_style(style: str, known: Sequence[str], default: str) -> str:
    """The style that a model has instead of one that it lacks.

    First the data set of nearly the same name, then the one whose pictures were seen for the most similar time, then
    the model's default.
    """
    alike = difflib.get_close_matches(style, known, n=1, cutoff=ALIKE)
    if alike:
        return alike[0]
    wanted_ms = _viewing_ms(style)
    timed = {name: time_ms for name in known if (time_ms := _viewing_ms(name)) is not None}
    if wanted_ms is None or not timed:
        return default
    nearest = min(abs(math.log(time_ms / wanted_ms)) for time_ms in timed.values())
    same = [name for name, time_ms in timed.items() if abs(math.log(time_ms / wanted_ms)) == nearest]
    return default if default in same else same[0]


def _viewing_ms(name: str) -> float | None:
    """Of a public set; other names, which may come from anywhere, are not opened as files."""
    return describe(name).viewing_ms if name in known_sets() else None
