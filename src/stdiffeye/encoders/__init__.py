"""Picture to tokens, words to a vector; frozen, and cached on disk by content.

Every encoder stands behind one of the two protocols below, so that the model never knows which network encoded
the picture. No encoder adds positions to its tokens: the model adds its own sine positions, once, for all of them.
Nothing here loads torch until an encoder is made.
"""

from __future__ import annotations

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
    name
        What a configuration calls this encoder, as `picture_encoder` takes it.
    identity
        Name, input size, version and weights in one word; features of different identities never mix.
    grid
        Rows and columns of tokens.
    width
        Channels of a token.
    input_size
        Height and width in pixels that every picture is squashed to.
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
    name
        What a configuration calls this encoder, as `text_encoder` takes it.
    width
        Numbers in a vector, 512 for all that ship.
    """

    name: str
    width: int

    def encode(self, words: str) -> Tensor:
        """(width,) float32 vector; all zeros for "", free viewing."""
        ...


__all__ = [
    "FeatureCache",
    "Picture",
    "PictureEncoder",
    "TextEncoder",
    "features",
    "load_picture",
    "picture_encoder",
    "text_encoder",
]


def __getattr__(name: str) -> Any:
    match name:
        case "FeatureCache":
            from stdiffeye.encoders.cache import FeatureCache

            return FeatureCache
        case "features":
            from stdiffeye.encoders.feature_files import features

            return features
        case "Picture" | "load_picture":
            from stdiffeye.encoders import picture

            return getattr(picture, name)
        case "picture_encoder" | "text_encoder":
            from stdiffeye.encoders import choose

            return getattr(choose, name)
    raise AttributeError(f"module 'stdiffeye.encoders' has no attribute {name!r}")
