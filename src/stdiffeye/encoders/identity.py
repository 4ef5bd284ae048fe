"""What tells one encoder's weights from another's."""

from __future__ import annotations

import hashlib

from torch import nn

_HASH_LETTERS = 8


def weights_hash(module: nn.Module) -> str:
    """A short hash of a module's state as it is now: a fine-tuned network never reads the old one's features."""
    digest = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        digest.update(name.encode() + value.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:_HASH_LETTERS]
