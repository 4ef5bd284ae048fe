"""Schedules, objectives, noise and samplers. They do not know the network."""

from stdiffeye.diffusion.noise import VIEWERS, NoiseSource, categorical, noise_of, sample_seeds, viewer_seeds
from stdiffeye.diffusion.objective import (
    LossAwareSteps,
    Prediction,
    add_noise,
    edm_gain,
    estimate_z0,
    network_input,
    target,
)
from stdiffeye.diffusion.samplers import MULTISTEP, Levels, SamplerName, begin, multistep, sample
from stdiffeye.diffusion.schedule import Schedule, ScheduleName, karras_grid, make_schedule

__all__ = [
    "MULTISTEP",
    "VIEWERS",
    "Levels",
    "LossAwareSteps",
    "NoiseSource",
    "Prediction",
    "SamplerName",
    "Schedule",
    "ScheduleName",
    "add_noise",
    "begin",
    "categorical",
    "edm_gain",
    "estimate_z0",
    "karras_grid",
    "make_schedule",
    "multistep",
    "network_input",
    "noise_of",
    "sample",
    "sample_seeds",
    "target",
    "viewer_seeds",
]
