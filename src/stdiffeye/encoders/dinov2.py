"""DINOv2 with registers, the paper's picture encoder: 518×518 px → 37×37 tokens of 768 channels (ViT-B/14).

Class and register tokens are dropped. Works with any size of the family; the input size is the one in the model's
configuration. Needs the extra `full`.

References
----------
M. Oquab et al.: DINOv2: Learning Robust Visual Features without Supervision. TMLR 2024.
T. Darcet et al.: Vision Transformers Need Registers. ICLR 2024.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from stdiffeye.encoders.hub import load_model
from stdiffeye.encoders.identity import weights_hash
from stdiffeye.encoders.picture import Picture, squash

NAME = "dinov2"
HUB_ID = "facebook/dinov2-with-registers-base"
VERSION = 1  # raise it when the same picture would give other tokens

# ImageNet's, which the network was trained on.
PIXEL_MEAN = (0.485, 0.456, 0.406)
PIXEL_DEVIATION = (0.229, 0.224, 0.225)


class Dinov2(nn.Module):
    """The frozen network as a `PictureEncoder`.

    Parameters
    ----------
    where
        A folder written by `save_pretrained`, or a hub id.
    download
        Allow the hub id to be fetched.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, where: str = HUB_ID, download: bool = False) -> None:
        super().__init__()
        self.network = load_model("Dinov2WithRegistersModel", where, ("dinov2_with_registers",), download)
        config = self.network.config
        side = config.image_size // config.patch_size
        self.name = f"{NAME}:{where}"
        self.grid = (side, side)
        self.width = int(config.hidden_size)
        self.input_size = (side * config.patch_size, side * config.patch_size)
        self.skipped_tokens = 1 + config.num_register_tokens
        self.register_buffer("mean", torch.tensor(PIXEL_MEAN).view(3, 1, 1) * 255, persistent=False)
        self.register_buffer("deviation", torch.tensor(PIXEL_DEVIATION).view(3, 1, 1) * 255, persistent=False)

    @property
    def identity(self) -> str:
        """Name, input size, version and a hash of the weights."""
        return f"{NAME}-{self.input_size[0]}x{self.input_size[1]}-v{VERSION}-{weights_hash(self)}"

    def forward(self, pixels: Tensor) -> Tensor:
        """(B, 3, height, width) of 0..255 → (B, rows · columns, width)."""
        states = self.network((pixels - self.mean) / self.deviation).last_hidden_state  # (B, 1 + registers + N, C)
        return states[:, self.skipped_tokens :]  # (B, N, C)

    def prepare(self, pictures: Sequence[Picture], flip: bool = False) -> Tensor:
        """(B, 3, height, width) uint8: pictures squashed to the network's size."""
        pixels = [torch.tensor(squash(picture, *self.input_size, flip)) for picture in pictures]
        return torch.stack(pixels).permute(0, 3, 1, 2).contiguous()

    @torch.inference_mode()
    def encode(self, pictures: Sequence[Picture], flip: bool = False) -> Tensor:
        """(B, rows · columns, width) float32; one by one, so that tokens do not depend on the batch."""
        tokens = [self(self.prepare([picture], flip).to(self.mean.device)).cpu() for picture in pictures]
        return torch.cat(tokens) if tokens else torch.empty(0, self.grid[0] * self.grid[1], self.width)
