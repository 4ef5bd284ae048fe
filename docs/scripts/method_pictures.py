"""Figures of the page on the method: trajectory, scanpath and index together, and how noise becomes gaze."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from stdiffeye.diffusion import estimate_z0
from stdiffeye.gaze import Scanpath, Trial, fixation_index
from stdiffeye.gaze.index import anchors
from stdiffeye.gaze.lifting import extend_fixations, skeleton_of
from stdiffeye.generation import Model
from stdiffeye.model.fixation_tokens import from_tokens
from stdiffeye.plotting import draw
from stdiffeye.plotting.backdrop import backdrop
from stdiffeye.plotting.canvas import new_figure, style
from stdiffeye.plotting.colours import by_time
from stdiffeye.plotting.overlay import draw_scanpath, draw_trajectory, set_view
from stdiffeye.systems.coarse_to_fine.scanpath_sampling import PREDICTION

COUPLING_IN, STEPS_IN = (9.0, 3.0), (9.0, 4.6)
DIM = 0.55
INSIDE = 0.04  # noise reaches beyond the picture; tokens are shown no nearer to its edge than this
SHORT_S, LONG_S = 2.0, 3.0
X_COLOUR, SKELETON_COLOUR = "#0072B2", "#999999"
ZOOM_S = 0.9


def coupling(model: Model, picture: Path, seed: int) -> Any:
    """Left: samples in the colour of their index, fixations numbered. Right: the index over time, with its anchors."""
    gaze = model.generate(picture, samples=1, seconds=SHORT_S, seed=seed)[0]
    path = gaze.scanpath
    rho, at = fixation_index(gaze, path), anchors(gaze, path)
    with style():
        figure = new_figure(*COUPLING_IN)
        left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
        set_view(left, gaze.frame, [])
        backdrop(picture, gaze.frame).show(left, gaze.frame, DIM)
        draw_trajectory(left, gaze, "black")
        left.scatter(*gaze.xy_px.T, s=12, c=by_time(rho), edgecolor="black", lw=0.3, zorder=3)
        draw_scanpath(left, path, "white", numbers=True, hollow=True)
        left.set_title("trajectory in the colour of its index, and scanpath")
        _index_over_time(right, gaze.time_ms / 1000, rho, at)
    return figure


def _index_over_time(ax: Any, time_s: Any, rho: Any, at: Any) -> None:
    ax.scatter(time_s, rho, s=6, c=by_time(rho), zorder=2)
    for number, sample in enumerate(at, start=1):
        ax.plot([0, time_s[sample]], [rho[sample]] * 2, color="#cccccc", lw=0.7, zorder=1)
        ax.plot([time_s[sample]] * 2, [0, rho[sample]], color="#cccccc", lw=0.7, zorder=1)
        ax.annotate(str(number), (time_s[sample], rho[sample]), (0, 5), textcoords="offset points", ha="center", size=7)
    ax.plot(time_s[at], rho[at], "o", color="black", ms=3.5, zorder=3)
    ax.set(xlim=(0, time_s[-1] + 0.05), ylim=(0, 1.02), xlabel="time (s)", ylabel="fixation index ρ̃")
    ax.set_title("one anchor per fixation, even steps between them")


def coarse_to_fine(model: Model, picture: Path, seed: int) -> Any:
    """Noise, two estimates on the way, the scanpath, the trajectory, and skeleton and trajectory over time."""
    with watched(model) as seen:
        gaze = model.generate(picture, samples=1, seconds=LONG_S, seed=seed)[0]
    del seen[model.first.config.sampling_steps :]  # long gaze is generated in two pieces; this is the first
    path = gaze.scanpath
    steps = {0: "noise", 1: "estimate after 1 step", len(seen) // 2: f"estimate after {len(seen) // 2} steps"}
    with style():
        figure = new_figure(*STEPS_IN)
        axes = figure.subplots(2, 3).ravel()
        for ax, (number, words) in zip(axes, steps.items(), strict=False):
            tokens = seen[0][0] if number == 0 else seen[number - 1][1]
            _show_tokens(ax, tokens, path, picture, f"{words} (of {len(seen)})" if number else words)
        draw(path, picture, axes[3], dim=DIM, title="scanpath stage")
        draw(Trial("", "", path, gaze), picture, axes[4], kind="trajectory", dim=DIM, title="trajectory stage")
        _skeleton_and_gaze(axes[5], path, gaze)
    return figure


class watched:
    """Within the block, the noised tokens and the estimate of each step of the model's scanpath stage are kept."""

    def __init__(self, model: Model) -> None:
        self.stage: Any = model.first
        self.steps: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __enter__(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        predict = self.stage.predict

        def recorded(z: torch.Tensor, step: torch.Tensor, *rest: Any) -> torch.Tensor:
            output = predict(z, step, *rest)
            estimate = estimate_z0(output, z, *self.stage.schedule.at(step), PREDICTION)
            self.steps.append((z[0].clone(), estimate[0].clone()))
            return output

        self.stage.predict = recorded
        return self.steps

    def __exit__(self, *error: object) -> None:
        del self.stage.predict


def _show_tokens(ax: Any, tokens: torch.Tensor, final: Scanpath, picture: Path, title: str) -> None:
    """Tokens on their way, as many as there will be fixations."""
    tokens = tokens[: len(final)].double()
    position, duration_ms, _ = from_tokens(tokens)
    xy_px = final.frame.denormalise(position.clamp(INSIDE, 1 - INSIDE).numpy())
    draw(Scanpath(xy_px, final.frame, duration_ms.numpy()), picture, ax, dim=DIM, title=title)


def _skeleton_and_gaze(ax: Any, path: Scanpath, gaze: Any) -> None:
    skeleton = skeleton_of(extend_fixations(path), gaze.rate_hz)
    ax.plot(
        np.arange(len(skeleton.xy_px)) / gaze.rate_hz,
        skeleton.xy_px[:, 0],
        color=SKELETON_COLOUR,
        lw=3,
        label="skeleton",
    )
    ax.plot(gaze.time_ms / 1000, gaze.xy_px[:, 0], color=X_COLOUR, lw=1.1, label="generated")
    ax.set(xlim=(0, ZOOM_S), xlabel="time (s)", ylabel="x (px)")
    shown = gaze.xy_px[: round(ZOOM_S * gaze.rate_hz), 0]
    ax.set_ylim(shown.min() - 25, shown.max() + 25)
    ax.legend(loc="best")
    ax.set_title(f"x over the first {ZOOM_S:g} s")
