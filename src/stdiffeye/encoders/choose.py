"""Encoders by the name that configurations and flags use."""

from __future__ import annotations

from pathlib import Path

from stdiffeye.encoders import PictureEncoder, TextEncoder
from stdiffeye.errors import InputError


def picture_encoder(name: str = "efficientnet-lite0", download: bool = False) -> PictureEncoder:
    """Make a picture encoder.

    Parameters
    ----------
    name
        "efficientnet-lite0"; "efficientnet-lite0:FILE" with late blocks that were tuned to gaze, or
        "efficientnet-lite0-early", their early features; "dinov2:FOLDER" or "dinov2:HUB_ID"; "dinov2" for the paper's.
    download
        Allow a hub id to be fetched from the network; otherwise only this machine is searched.
    """
    kind, _, where = name.partition(":")
    if kind == "efficientnet-lite0":
        from stdiffeye.encoders.efficientnet import EfficientNetLite0

        return EfficientNetLite0(where or None)
    if name == "efficientnet-lite0-early":
        from stdiffeye.encoders.efficientnet import EarlyEncoder

        return EarlyEncoder()
    if kind == "dinov2":
        from stdiffeye.encoders import dinov2

        return dinov2.Dinov2(where or dinov2.HUB_ID, download)
    raise InputError(
        f"there is no picture encoder {name!r}: expected efficientnet-lite0[:FILE], dinov2:FOLDER or dinov2:HUB_ID"
    )


def located(name: str, home: Path) -> str:
    """The same name, where a file of tuned blocks lies in or beside the folder `home`."""
    kind, _, file = name.partition(":")
    return f"{kind}:{home / file}" if kind == "efficientnet-lite0" and file else name


def text_encoder(name: str = "words", download: bool = False) -> TextEncoder:
    """Make a text encoder.

    Parameters
    ----------
    name
        "words", the universal sentence encoder with its shipped table; "clip:FOLDER" or "clip:HUB_ID"; "clip" for the
        paper's hub id.
    download
        As for `picture_encoder`.
    """
    kind, _, where = name.partition(":")
    if kind == "words" and not where:
        from stdiffeye.encoders.word_table import WordVectors

        return WordVectors()
    if kind == "clip":
        from stdiffeye.encoders import clip_text

        return clip_text.ClipText(where or clip_text.HUB_ID, download)
    raise InputError(f"there is no text encoder {name!r}: expected words or clip:FOLDER_OR_HUB_ID")
