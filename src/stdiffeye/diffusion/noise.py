"""The chance in generated gaze: one stream of random numbers per viewer, and viewers who together cover much.

Independent samples leave gaps and repeat each other by accident. Here sixteen viewers of a picture are stratified: in
each random number, one of them is in each sixteenth of its distribution (a Latin hypercube), and for two of the first
fifteen numbers, the next fifteen, …, four of them are in each quarter of the plane (an orthogonal array of strength
two). Each viewer alone is as random as before, so no gaze gets likelier; a handful of them cover more of what
people do. Which of them are shown first is decided in `systems.coarse_to_fine.representatives`.

References
----------
M. D. McKay, R. J. Beckman, W. J. Conover: A comparison of three methods for selecting values of input variables.
Technometrics 21(2), 1979. B. Tang: Orthogonal array-based Latin hypercubes. JASA 88(424), 1993.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

VIEWERS = 1024  # seeds of one set of viewers: its number times this, and on
TOGETHER = 16  # viewers that are stratified over the distribution together
ARRAY = torch.tensor([[(row & column).bit_count() % 2 for column in range(1, TOGETHER)] for row in range(TOGETHER)])
"""(16, 15) of 0 and 1: every two columns hold each of 00, 01, 10, 11 four times (Sylvester's Hadamard matrix)."""


def viewer_seeds(viewers: int, samples: int) -> list[int]:
    """Seeds of the first `samples` of a set of viewers with this number."""
    return [viewers * VIEWERS + k for k in range(samples)]


def sample_seeds(seed: int, picture: bytes, task: str, samples: int) -> list[int]:
    """A seed per sample that depends on the picture's content or name, the task and the sample's number."""
    content = hashlib.blake2b(picture, digest_size=16).digest()
    viewers = hashlib.blake2b(content + f"|{task}|{seed}".encode(), digest_size=6).digest()
    return viewer_seeds(int.from_bytes(viewers, "big"), samples)


@dataclass
class _Viewer:
    """A viewer's own stream, who else belongs to its set, and how much was sampled for it."""

    seed: int
    random: int = 0

    def __post_init__(self) -> None:
        self.generator = torch.Generator().manual_seed(self.seed)


class NoiseSource:
    """Noise with one generator per sample, so that sample k is the same whatever it is batched with."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._viewers = [_Viewer(seed) for seed in seeds]

    def of(self, samples: Sequence[int]) -> NoiseSource:
        """The same noise for some of the samples."""
        some = copy.copy(self)
        some._viewers = [self._viewers[k] for k in samples]
        return some

    def fresh(self, *shape: int) -> Tensor:
        """(samples, *shape) standard normal, each sample's independent of the others'."""
        return torch.stack([torch.randn(shape, generator=viewer.generator) for viewer in self._viewers])

    def normal(self, *shape: int) -> Tensor:
        """(samples, *shape) standard normal."""
        return self.fresh(*shape)

    def uniform(self) -> Tensor:
        """(samples,) in [0, 1)."""
        return torch.stack([torch.rand((), generator=viewer.generator) for viewer in self._viewers])


class StratifiedNoise(NoiseSource):
    """Noise of stratified viewers; those whose seeds are of one set of `VIEWERS`, sixteen at a time."""

    def normal(self, *shape: int) -> Tensor:
        return torch.special.ndtri(self._stratified(*shape)).float()

    def uniform(self) -> Tensor:
        return self._stratified().float().clamp(max=1 - 2**-24)

    def _stratified(self, *shape: int) -> Tensor:
        """(samples, *shape) uniform, as float64."""
        uniform = []
        for viewer in self._viewers:
            together, member = divmod(viewer.seed, TOGETHER)
            rank = _ranks(together, viewer.random, math.prod(shape))[member].reshape(shape)
            within = torch.rand(shape, generator=viewer.generator, dtype=torch.float64).clamp(min=2**-40)
            uniform.append((rank + within) / TOGETHER)
            viewer.random += 1
        return torch.stack(uniform)


class Trimmed(NoiseSource):
    """Noise for the first `trim` of `tokens` tokens."""

    def __init__(self, whole: NoiseSource, tokens: int, trim: int) -> None:
        self._whole, self._tokens, self._trim = whole, tokens, trim

    def fresh(self, *shape: int) -> Tensor:
        return self._whole.fresh(self._tokens, *shape[1:])[:, : self._trim]

    def normal(self, *shape: int) -> Tensor:
        return self._whole.normal(self._tokens, *shape[1:])[:, : self._trim]

    def uniform(self) -> Tensor:
        return self._whole.uniform()


def noise_of(seeds: Sequence[int], stratified: bool) -> NoiseSource:
    """Noise of stratified viewers, or of independent ones."""
    return StratifiedNoise(seeds) if stratified else NoiseSource(seeds)


def categorical(logits: Tensor, uniform: Tensor) -> Tensor:
    """(B,) samples from (B, n) logits by inverting the distribution at `uniform` (B,)."""
    cumulative = logits.softmax(-1).cumsum(-1)
    return (uniform[:, None] > cumulative).sum(-1).clamp(max=logits.shape[-1] - 1)


@functools.lru_cache(maxsize=8)
def _ranks(together: int, count: int, numbers: int) -> Tensor:
    """(16, numbers) which sixteenth of its distribution each number of each viewer is in."""
    digest = hashlib.blake2b(f"{together}|{count}".encode(), digest_size=7).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest, "big"))
    arrays = -(-numbers // (TOGETHER - 1))
    row = torch.rand(arrays, TOGETHER, 1, generator=generator).argsort(1)
    column = torch.rand(arrays, 1, TOGETHER - 1, generator=generator).argsort(2)
    swapped = torch.randint(2, (arrays, 1, TOGETHER - 1), generator=generator)
    array = (ARRAY[row, column] ^ swapped).transpose(0, 1).reshape(TOGETHER, -1)[:, :numbers]
    order = (array + torch.rand(array.shape, generator=generator)).argsort(0)
    return order.argsort(0).to(torch.int8)
