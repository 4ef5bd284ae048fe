"""What makes training faster on the machine at hand."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def faster_arithmetic(device: torch.device) -> Iterator[None]:
    """bfloat16 autocast where the processor has it; float32 elsewhere, where it would be slower."""
    has = torch.cuda.is_bf16_supported() if device.type == "cuda" else _cpu_has_bfloat16()
    # Its memory of cast weights is one for all threads: what one core clears would round another's gradients.
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=has, cache_enabled=False):
        yield


def _cpu_has_bfloat16() -> bool:
    checks = [getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    return any(check() for check in checks if check is not None)


def keep_memory() -> None:
    """Make the C library keep freed memory: giving pages back and fetching them anew costs a fifth of a step."""
    name = ctypes.util.find_library("c")
    if name is None:
        return
    library = ctypes.CDLL(name)
    if hasattr(library, "mallopt"):
        trim_threshold, mmap_threshold = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
        library.mallopt(mmap_threshold, 1 << 30)
        library.mallopt(trim_threshold, -1)
