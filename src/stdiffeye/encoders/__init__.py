"""Picture to tokens, words to a vector; frozen, and cached on disk by content.

Every encoder stands behind one of the two protocols below, so that the model never knows which network looked at
the picture. No encoder adds positions to its tokens: the model adds its own sine positions, once, for all of them.
Nothing here loads torch until an encoder is made.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from torch import Tensor

    from stdiffeye.encoders.picture import Picture


@runtime_checkable
class PictureEncoder(Protocol):
    """What the model sees of a picture.

    Attributes
    ----------
    name : what a configuration calls this encoder, as `picture_encoder` takes it.
    identity : name, input size, version and weights in one word; features of different identities never mix.
    grid : rows and columns of tokens.
    width : channels of a token.
    input_size : height and width in pixels that every picture is squashed to.
    """

    name: str
    grid: tuple[int, int]
    width: int
    input_size: tuple[int, int]

    @property
    def identity(self) -> str: ...

    def encode(self, pictures: Sequence[Picture], flip: bool = False) -> Tensor:
        """(B, rows · columns, width) float32 tokens, row by row from the top left.

        `flip` mirrors the pictures left to right before they are encoded.
        """
        ...


@runtime_checkable
class TextEncoder(Protocol):
    """What the model knows of the words of a task.

    Attributes
    ----------
    name : what a configuration calls this encoder, as `text_encoder` takes it.
    width : numbers in a vector, 512 for all that ship.
    """

    name: str
    width: int

    def encode(self, words: str) -> Tensor:
        """(width,) float32 vector; all zeros for "", free viewing."""
        ...


_HOMES = {
    "FeatureCache": "stdiffeye.encoders.cache",
    "features": "stdiffeye.encoders.precompute",
    "Picture": "stdiffeye.encoders.picture",
    "load_picture": "stdiffeye.encoders.picture",
    "picture_encoder": "stdiffeye.encoders.choose",
    "text_encoder": "stdiffeye.encoders.choose",
}

__all__ = ["PictureEncoder", "TextEncoder", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stdiffeye.encoders' has no attribute {name!r}")
