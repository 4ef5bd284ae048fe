"""Schedules, objectives and samplers. They do not know the network."""

from stdiffeye.diffusion.objective import (
    LossAwareSteps,
    Prediction,
    add_noise,
    edm_gain,
    estimate_z0,
    network_input,
    target,
)
from stdiffeye.diffusion.samplers import NoiseSource, SamplerName, sample
from stdiffeye.diffusion.schedule import Schedule, ScheduleName, karras_grid, make_schedule

__all__ = [
    "LossAwareSteps",
    "NoiseSource",
    "Prediction",
    "SamplerName",
    "Schedule",
    "ScheduleName",
    "add_noise",
    "edm_gain",
    "estimate_z0",
    "karras_grid",
    "make_schedule",
    "network_input",
    "sample",
    "target",
]
