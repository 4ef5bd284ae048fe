"""The training loop of one system: set up, fit, validate, keep.

Batches and noise depend on (seed, step) alone, so a run that was killed goes on from its last checkpoint and ends with
the same weights as one that was not.
"""

from __future__ import annotations

import contextlib
import copy
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.optim import AdamW

from stdiffeye.errors import InputError
from stdiffeye.files import disk_errors, write_text
from stdiffeye.progress import track
from stdiffeye.systems.base import Batches, BatchPlan, Sources, TrainableSystem
from stdiffeye.systems.cores import on_cores
from stdiffeye.systems.presets import TrainConfig
from stdiffeye.systems.step_random import Ranks, StepRandom
from stdiffeye.training.arithmetic import faster_arithmetic, keep_memory
from stdiffeye.training.checkpoint import Progress, load_checkpoint, save_checkpoint, save_weights
from stdiffeye.training.interrupts import Interrupts
from stdiffeye.training.validation import said

LAST_FILE = "last.safetensors"
LOG_EVERY = 20
LONGEST_UNSAVED_S = 60.0
LONGEST_WARM_UP = 0.1  # of a training: in a short one the learning rate would hardly be reached
Validate = Callable[[TrainableSystem], dict[str, float]]
Result = TypeVar("Result")


@dataclass
class Setting:
    """Where and for how long a system is trained."""

    folder: Path
    minutes: float | None = None
    clock: Callable[[], float] = time.monotonic
    """What minutes are measured by; `time.process_time` counts the processor's time, whatever else runs."""
    ranks: Ranks = field(default_factory=Ranks)
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    quiet: bool = False
    tensorboard: bool = False

    def seconds_left(self, spent_s: float) -> float:
        """Of the minutes, when so many seconds are spent; infinite where steps alone end the training."""
        return math.inf if self.minutes is None else 60 * self.minutes - spent_s


def fit(
    name: str,
    system: TrainableSystem,
    sources: Sources,
    config: TrainConfig,
    setting: Setting,
    validate: Validate | None = None,
) -> Progress:
    """Train `system` until its steps or minutes are over; the folder holds last and best checkpoints and the log."""
    keeper, progress = _begun(name, system, config, setting)
    log = Log(setting, progress.step)
    judge = Judge(validate, keeper.mean, log, setting, config.validate_every)
    batches = system.batches(sources, "train", _plan(config, setting), augment=True)
    with Interrupts().watched() as interrupts:
        watch = Stopwatch(setting, progress.seconds)
        if judge.owed(progress.step):  # broken off while it was judged
            with watch.paused():
                judge.judge(progress, interrupts, keeper)
        for step in _steps(name, progress, config, setting, watch):
            done, stop = _share_done(step, watch.seconds, config, setting, interrupts.wanted)
            if stop:
                keeper.keep(progress)
                raise KeyboardInterrupt
            if done >= 1:
                break
            losses = _trained(name, step, _rate(step, done, config), batches, keeper, config)
            progress.step, progress.seconds = step + 1, watch.seconds
            log.step(progress, losses, config.learning_rate * _rate(step, done, config))
            if judge.due(progress.step):
                with watch.paused():
                    judge.judge(progress, interrupts, keeper)
            else:
                keeper.keep_if_due(progress)
        if judge.missing(progress.step):
            judge.judge(progress, interrupts, keeper)
        keeper.keep(progress)
    return progress


def _begun(name: str, system: TrainableSystem, config: TrainConfig, setting: Setting) -> tuple[Keeper, Progress]:
    """The weights, their running mean and the optimiser: as the last checkpoint left them, or fresh."""
    keep_memory()
    system.to(setting.device)
    mean = copy.deepcopy(system).requires_grad_(False)
    groups, rate = system.parameter_groups(), config.learning_rate
    optimiser = AdamW(groups, rate, betas=(0.9, 0.99), weight_decay=config.weight_decay, fused=True)
    keeper = Keeper(setting.folder / LAST_FILE, system, mean, optimiser, setting, config.checkpoint_every)
    if not keeper.path.is_file():
        return keeper, Progress()
    progress = load_checkpoint(keeper.path, system, mean, optimiser)
    _say_what_is_left(name, progress, setting)
    return keeper, progress


def _plan(config: TrainConfig, setting: Setting) -> BatchPlan:
    return BatchPlan(
        config.stimuli, config.viewers, config.seed, setting.ranks, setting.device, config.dataset_exponent
    )


def _steps(name: str, progress: Progress, config: TrainConfig, setting: Setting, watch: Stopwatch) -> Iterable[int]:
    """The steps that are left, with the progress shown."""
    quiet, ahead = setting.quiet or setting.ranks.rank != 0, range(progress.step, config.steps)
    left_s = lambda: setting.seconds_left(watch.seconds)  # noqa: E731
    return track(ahead, f"training {name}", config.steps, progress.step, quiet, left_s)


class Stopwatch:
    """Seconds of training, on the clock of the setting; those of a run before count."""

    def __init__(self, setting: Setting, seconds: float) -> None:
        self._clock = setting.clock
        self._began = self._clock() - seconds

    @property
    def seconds(self) -> float:
        return self._clock() - self._began

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Judging is not training: slow sampling must not shorten it."""
        at = self._clock()
        yield
        self._began += self._clock() - at


def _trained(
    name: str, step: int, rate: float, batches: Batches, keeper: Keeper, config: TrainConfig
) -> dict[str, float]:
    """One step of the weights and of their running mean; its losses."""
    losses = train_step(keeper.system, batches, keeper.optimiser, step, config, keeper.setting, rate)
    if not all(map(math.isfinite, losses.values())):
        raise InputError(_not_a_number(name, step, losses, keeper.path))
    _follow(keeper.mean, keeper.system, min(config.ema, (1 + step) / (10 + step)))
    return losses


@dataclass
class Keeper:
    """Keeps checkpoints: every so many steps, and at least every minute."""

    path: Path
    system: TrainableSystem
    mean: TrainableSystem
    optimiser: AdamW
    setting: Setting
    every: int
    _kept_at: float = field(default_factory=lambda: time.monotonic())

    def keep_if_due(self, progress: Progress) -> None:
        if progress.step % self.every == 0 or time.monotonic() - self._kept_at >= LONGEST_UNSAVED_S:
            self.keep(progress)

    def keep(self, progress: Progress) -> None:
        if self.setting.ranks.rank == 0:
            save_checkpoint(self.path, self.system, self.mean, self.optimiser, progress)
        self._kept_at = time.monotonic()


@dataclass
class Judge:
    """Validates the running mean of the weights; the best so far is kept as `best.safetensors`."""

    validate: Validate | None
    mean: TrainableSystem
    log: Log
    setting: Setting
    every: int

    def due(self, step: int) -> bool:
        return self.validate is not None and step % self.every == 0

    def missing(self, step: int) -> bool:
        return self.validate is not None and self.log.validated_at != step

    def owed(self, step: int) -> bool:
        """Whether a checkpoint was kept before its validation, which was then broken off."""
        return step > 0 and self.due(step) and self.missing(step)

    def judge(self, progress: Progress, interrupts: Interrupts, keeper: Keeper) -> None:
        """Validate between two checkpoints, so that stopping it loses no step."""
        keeper.keep(progress)
        if self.validate is not None and self.setting.ranks.rank == 0:
            with interrupts.at_once():
                self.mean.eval()
                scores = self.validate(self.mean)
            if scores["score"] > progress.best:
                progress.best = scores["score"]
                about = {"step": progress.step, "minutes": round(progress.seconds / 60, 1), **scores}
                save_weights(self.setting.folder / "best.safetensors", self.mean, about)
            self.log.validation(progress, scores)
            if not self.setting.quiet:
                print(f"step {progress.step:,}: {said(scores)} on validation", file=sys.stderr)
        keeper.keep(progress)


def _say_what_is_left(name: str, progress: Progress, setting: Setting) -> None:
    if setting.quiet or setting.ranks.rank != 0:
        return
    done = progress.seconds / 60
    left = ""
    if setting.minutes is not None:
        rest = max(0.0, setting.minutes - done)
        left = f"; its share of --minutes, {setting.minutes:.1f}, counts these: {rest:.1f} are left"
    print(f"{name} goes on after step {progress.step:,} and {done:.1f} minutes of training{left}", file=sys.stderr)


def train_step(
    system: TrainableSystem,
    batches: Batches,
    optimiser: AdamW,
    step: int,
    config: TrainConfig,
    setting: Setting,
    rate: float,
) -> dict[str, float]:
    """One step of the optimiser over `accumulate` batches."""
    system.train()
    for group in optimiser.param_groups:
        group["lr"] = config.learning_rate * rate * group["rate"]
    optimiser.zero_grad(set_to_none=True)
    parameters = [parameter for parameter in system.parameters() if parameter.requires_grad]

    def gradients_of(numbered: tuple[int, Any]) -> tuple[dict[str, Tensor], tuple[Tensor | None, ...]]:
        number, batch = numbered
        with faster_arithmetic(setting.device):
            losses = system.loss(batch, StepRandom(config.seed, number, setting.ranks, setting.device))
        return losses, torch.autograd.grad(losses["total"] / config.accumulate, parameters, allow_unused=True)

    seen: dict[str, float] = {}
    numbers = range(step * config.accumulate, (step + 1) * config.accumulate)
    for losses, gradients in _each(gradients_of, numbers, batches, system, setting):
        for parameter, gradient in zip(parameters, gradients, strict=True):
            if gradient is not None:
                parameter.grad = gradient if parameter.grad is None else parameter.grad.add_(gradient)
        for key, value in _everywhere(losses, setting.ranks).items():
            seen[key] = seen.get(key, 0.0) + value / config.accumulate
    _share_gradients(system, setting.ranks)
    seen["gradient"] = float(torch.nn.utils.clip_grad_norm_(parameters, config.clip))
    if all(map(math.isfinite, seen.values())):
        optimiser.step()
    return seen


def _each(
    work: Callable[[tuple[int, Any]], Result],
    numbers: Sequence[int],
    batches: Batches,
    system: TrainableSystem,
    setting: Setting,
) -> Iterator[Result]:
    """`work` of each batch, a core busy with each where nothing else ties them together.

    Batches are read one after the other: what they are read from (stores, cached features) is not for two at once.
    """
    tied = setting.ranks.world > 1 or setting.device.type != "cpu" or _drops(system) or system.extra_state()
    if len(numbers) > 1 and not tied:
        yield from on_cores(work, ((number, batches.batch(number)) for number in numbers))
        return
    for number in numbers:
        torch.manual_seed(number)  # dropout has no generator of its own
        yield work((number, batches.batch(number)))


def _drops(system: TrainableSystem) -> bool:
    """Whether there is dropout, whose one generator cannot serve several cores in a fixed order."""
    return any(module.p > 0 for module in system.modules() if isinstance(module, torch.nn.Dropout))


def _share_done(
    step: int, seconds: float, config: TrainConfig, setting: Setting, stop: bool = False
) -> tuple[float, bool]:
    """How much of the budget is used, by steps or by time, whichever is further; and whether to stop here."""
    by_time = 0.0 if setting.minutes is None else seconds / (60 * setting.minutes)
    if setting.ranks.world > 1:  # all processes must stop at the same step
        agreed = torch.tensor([by_time, float(stop)])
        dist.broadcast(agreed, 0)
        by_time, stop = float(agreed[0]), bool(agreed[1])
    return max(step / config.steps, by_time), stop


def _rate(step: int, done: float, config: TrainConfig) -> float:
    """Share of the learning rate: a linear rise, then level, then half a cosine down to zero."""
    rise = min(1.0, max((step + 1) / config.warm_up, done / LONGEST_WARM_UP)) if config.warm_up else 1.0
    if config.decay_share == 0 or done < 1 - config.decay_share:
        return rise
    return rise * 0.5 * (1 + math.cos(math.pi * (done - 1 + config.decay_share) / config.decay_share))


@torch.no_grad()
def _follow(mean: TrainableSystem, system: TrainableSystem, memory: float) -> None:
    for slow, fast in zip(mean.state_dict().values(), system.state_dict().values(), strict=True):
        if slow.is_floating_point():
            slow.lerp_(fast, 1 - memory)
        else:
            slow.copy_(fast)


class Log:
    """Losses and scores as JSON Lines, and to TensorBoard where requested."""

    def __init__(self, setting: Setting, resumed_at: int) -> None:
        self.silent = setting.ranks.rank != 0
        self.path = setting.folder / "log.jsonl"
        self.board = None
        self.validated_at: int | None = None
        if self.silent:
            return
        setting.folder.mkdir(parents=True, exist_ok=True)
        if self.path.is_file():  # what came after the last checkpoint will be written again
            rows = [row for row in _whole_lines(self.path) if row["step"] <= resumed_at]
            write_text(self.path, "".join(json.dumps(row) + "\n" for row in rows))
            self.validated_at = max((row["step"] for row in rows if "validation/score" in row), default=None)
        if setting.tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                raise InputError("--tensorboard needs the extra 'log': pip install 'stdiffeye[log]'") from None
            self.board = SummaryWriter(str(setting.folder / "tensorboard"))

    def step(self, progress: Progress, losses: dict[str, float], rate: float) -> None:
        if progress.step % LOG_EVERY == 0 or progress.step == 1:
            self._write(progress, losses | {"learning_rate": rate})

    def validation(self, progress: Progress, scores: dict[str, float]) -> None:
        self._write(progress, {f"validation/{key}": value for key, value in scores.items()})
        self.validated_at = progress.step

    def _write(self, progress: Progress, values: dict[str, float]) -> None:
        if self.silent:
            return
        row = {"step": progress.step, "seconds": round(progress.seconds, 1)}
        row |= {key: round(value, 6) for key, value in values.items()}
        with disk_errors(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        if self.board is not None:
            for key, value in values.items():
                self.board.add_scalar(key, value, progress.step)


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    """Rows of a log; the last line of a killed run may be cut short."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            rows.append(json.loads(line))
    return rows


def _everywhere(losses: dict[str, Tensor], ranks: Ranks) -> dict[str, float]:
    """Losses averaged over all processes."""
    return {key: float(ranks.total(value.detach()) / ranks.world) for key, value in losses.items()}


def _share_gradients(system: TrainableSystem, ranks: Ranks) -> None:
    if ranks.world == 1:
        return
    for parameter in system.parameters():
        if not parameter.requires_grad:
            continue
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        dist.all_reduce(parameter.grad)
        parameter.grad /= ranks.world


def _not_a_number(name: str, step: int, losses: dict[str, float], last: Path) -> str:
    what = next(key for key in ("total", *losses) if not math.isfinite(losses[key]))
    kept = f"the last good state is {last}" if last.is_file() else "nothing had been kept yet"
    return (
        f"training {name} stopped at step {step + 1}: {what} is {losses[what]}; {kept}. "
        f"Try a lower rate (--set train.{name}.learning_rate=…) or a longer warm-up (--set train.{name}.warm_up=…)"
    )
