"""Weights as safetensors that carry their own checksum; what is damaged or not a number is refused.

The checksum is SHA-256 of every tensor's name, type, shape and values, in the order of their names, and of what else
the header says. It stands in the header, so that one file is all there is to copy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from stdiffeye.border import LONGEST_REASON, refuse_pipe
from stdiffeye.errors import InputError
from stdiffeye.files import atomic_write, disk_full

CHECKSUM = "sha256"
LENGTH_BYTES = 8


def write_weights(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> None:
    """Write tensors with what the header says of them, whole or not at all."""
    plain = {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}
    metadata = {**about, CHECKSUM: weights_sha256(plain, about)}
    with atomic_write(path) as temporary:
        try:
            save_file(plain, temporary, metadata)
            _order_header(temporary)
        except SafetensorError as error:
            raise disk_full(path, " ".join(str(error).split())) from None


def read_weights(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and what the header says of them.

    Raises
    ------
    InputError
        When the file is damaged, when its checksum is wrong, or when a value is NaN or infinite. A file without a
        checksum, made elsewhere, is read.
    """
    refuse_pipe(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
    except (SafetensorError, ValueError, OSError) as error:
        raise InputError(
            f"{path} is damaged or no file of weights ({' '.join(str(error).split())[:LONGEST_REASON]})"
        ) from None
    expected = metadata.pop(CHECKSUM, None)
    if expected is not None and expected != weights_sha256(tensors, metadata):
        raise InputError(f"{path} is damaged: its checksum is wrong; copy the file again, or train it again")
    for name, tensor in tensors.items():
        # A sum of doubles is finite where all of its numbers are, and is had in a third of the time.
        if tensor.is_floating_point() and not torch.isfinite(tensor.sum(dtype=torch.float64)):
            raise InputError(f"{path} holds NaN or infinity in {name}: no gaze can come of it; train it again")
    return tensors, metadata


def _order_header(path: Path) -> None:
    """Sort what the header says: the library writes it in any order, and the same weights must be the same bytes."""
    with path.open("r+b") as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        header = json.loads(file.read(length))
        header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
        ordered = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
        if len(ordered) <= length:
            file.seek(LENGTH_BYTES)
            file.write(ordered.ljust(length))


def has_checksum(path: Path) -> bool:
    """Whether a whole file of weights carries its checksum."""
    with safe_open(path, framework="pt") as file:
        return CHECKSUM in (file.metadata() or {})


def weights_sha256(tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> str:
    """Checksum of named tensors and of what is said of them."""
    digest = hashlib.sha256(json.dumps(dict(about), sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
