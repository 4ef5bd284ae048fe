"""Encoders by the name that configurations and flags use."""

from __future__ import annotations

from stdiffeye.encoders import PictureEncoder
from stdiffeye.errors import InputError


def picture_encoder(name: str = "efficientnet-lite0", download: bool = False) -> PictureEncoder:
    """Make a picture encoder.

    Parameters
    ----------
    name : "efficientnet-lite0".
    """
    if name == "efficientnet-lite0":
        from stdiffeye.encoders.efficientnet import EfficientNetLite0

        return EfficientNetLite0()
    raise InputError(f"there is no picture encoder {name!r}: expected efficientnet-lite0 or dinov2:FOLDER_OR_HUB_ID")
