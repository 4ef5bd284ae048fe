"""A scanpath stage with one viewing style of its own, and the few weights of it that a small set can teach.

Learned are the style's vector, its centre bias, the length head, and the rows of the output that are durations and
gaps; everything else stays as it is. Heads serve all styles, so the stage keeps none but the new one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from stdiffeye.data.store import Store
from stdiffeye.errors import InputError
from stdiffeye.systems.coarse_to_fine.representatives import CANDIDATES
from stdiffeye.systems.coarse_to_fine.scanpath_stage import ScanpathStage
from stdiffeye.training.run import usual_recording_s, usual_viewing_s

STYLE_ROWS = ("conditions.style.weight", "density.centre_bias")
OWN_ROW = 1  # row 0 is of any style
TIME_CHANNELS = 2  # of a token: before these are x and y, from here on duration and gap
RATES = {"style": 5e-3, "centre_bias": 1e-3, "heads": 5e-4}


def with_own_style(stage: ScanpathStage, begin: str, store: Store) -> ScanpathStage:
    """A copy of `stage` that has the style of `store` alone, with the values of its style `begin`.

    Parameters
    ----------
    stage : ScanpathStage
        A trained stage.
    begin : str
        A style of the stage.
    store : Store
        Names the new style, and tells the viewing time and how long recordings are.

    Returns
    -------
    ScanpathStage
        With weights of its own, ready to be trained.
    """
    config, shown_s = stage.config, usual_viewing_s(store)
    own_s = stage.viewing_s(begin) if np.isnan(shown_s) else shown_s
    changed = replace(
        config,
        sets=(store.dataset,),
        viewing_s=() if np.isnan(own_s) else (own_s,),
        recorded_s=(usual_recording_s(store),),
        candidates=(stage.of_style(config.candidates, begin, CANDIDATES),),
    )
    rows, own = torch.tensor([0, stage.style_number(begin)]), ScanpathStage(changed)
    weights = stage.state_dict()
    own.load_state_dict({name: value[rows] if name in STYLE_ROWS else value for name, value in weights.items()})
    return own


def learned_weights(stage: ScanpathStage) -> list[dict[str, object]]:
    """Freeze a stage but for the weights of its style; returns these as groups of an optimiser."""
    stage.requires_grad_(False)
    style, head = stage.conditions.style.weight, stage.denoiser.head[-1]
    if not isinstance(head, nn.Linear):
        raise InputError("this model's output is no linear layer: it has no rows of durations to learn")
    groups = {"style": [style], "heads": [*stage.length.parameters(), head.weight, head.bias]}
    if stage.density is not None:
        groups["centre_bias"] = [stage.density.centre_bias]
    for parameters in groups.values():
        for parameter in parameters:
            parameter.requires_grad_(True)
    for parameter in (style, *groups.get("centre_bias", ())):
        parameter.register_hook(_only_from(OWN_ROW))
    for parameter in (head.weight, head.bias):
        parameter.register_hook(_only_from(TIME_CHANNELS))
    return [{"params": parameters, "lr": RATES[name]} for name, parameters in groups.items()]


def _only_from(first: int) -> Callable[[Tensor], Tensor]:
    """What passes on the gradient of the rows from `first` on, and zero for those before."""

    def passed(gradient: Tensor) -> Tensor:
        gradient = gradient.clone()
        gradient[:first] = 0
        return gradient

    return passed
