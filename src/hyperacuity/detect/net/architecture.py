"""The network in PyTorch, for learning; what runs afterwards is the ONNX file that :mod:`.export` makes of it.

The encoder is EfficientNet-Lite (Tan & Le 2019, without squeeze-and-excitation, with ReLU6). Its features at strides 2 to 32 go
down a pyramid, which two heads read: *boundary* at full size, together with a shallow branch on the photograph itself, and
*ownership* at stride 4, a vector from ground to figure (:class:`~hyperacuity.detect.net.network.Look`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

STEP = 32
"""Photographs are padded to a multiple of this, the largest stride."""


@dataclass(frozen=True)
class Stage:
    """Blocks of one kind: how many, their kernel, the stride of the first, expansion, channels that come out."""

    blocks: int
    kernel: int
    stride: int
    expansion: int
    channels: int


ENCODERS = {
    "lite0": (Stage(1, 3, 1, 1, 16), Stage(2, 3, 2, 6, 24), Stage(2, 5, 2, 6, 40), Stage(3, 3, 2, 6, 80),
              Stage(3, 5, 1, 6, 112), Stage(4, 5, 2, 6, 192), Stage(1, 3, 1, 6, 320)),
    "lite2": (Stage(1, 3, 1, 1, 16), Stage(3, 3, 2, 6, 24), Stage(3, 5, 2, 6, 48), Stage(4, 3, 2, 6, 88),
              Stage(4, 5, 1, 6, 120), Stage(4, 5, 2, 6, 208)),
}  # fmt: skip
"""EfficientNet-Lite by name. Of lite2 the last two blocks are left out, which keeps the weights below 8 MB."""

PYRAMID = (32, 48, 64, 96, 96)
"""Channels of the pyramid at strides 2, 4, 8, 16 and 32."""


class SameConv(nn.Conv2d):
    """A convolution padded as TensorFlow pads even sizes: one more below and to the right where the stride is 2."""

    def forward(self, input: Tensor) -> Tensor:
        total = self.kernel_size[0] - self.stride[0]
        before, after = total // 2, total - total // 2
        if before != after:
            input, before = F.pad(input, (before, after, before, after)), 0
        return F.conv2d(input, self.weight, self.bias, self.stride, before, 1, self.groups)


class Block(nn.Module):
    """Expand, filter each channel, project; the input is added where shapes agree (Sandler et al. 2018)."""

    def __init__(self, channels: int, stage: Stage, stride: int) -> None:
        super().__init__()
        inner = channels * stage.expansion
        self.expand = _normed(SameConv(channels, inner, 1, bias=False)) if stage.expansion > 1 else None
        self.filter = _normed(SameConv(inner, inner, stage.kernel, stride, groups=inner, bias=False))
        self.project = _normed(SameConv(inner, stage.channels, 1, bias=False))
        self.skips = stride == 1 and channels == stage.channels

    def forward(self, x: Tensor) -> Tensor:
        y = x if self.expand is None else F.relu6(self.expand(x))
        y = self.project(F.relu6(self.filter(y)))
        return x + y if self.skips else y


def _normed(convolution: nn.Conv2d) -> nn.Sequential:
    return nn.Sequential(convolution, nn.BatchNorm2d(convolution.out_channels, eps=1e-3, momentum=0.01))


class Encoder(nn.Module):
    """Features at strides 2, 4, 8, 16 and 32."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.stem = _normed(SameConv(3, 32, 3, 2, bias=False))
        self.blocks = nn.ModuleList()
        self.taps: dict[int, int] = {}  # stride → the last block at it
        channels, stride = 32, 2
        self.channels: dict[int, int] = {}
        for stage in ENCODERS[name]:
            for number in range(stage.blocks):
                step = stage.stride if number == 0 else 1
                stride *= step
                self.blocks.append(Block(channels, stage, step))
                channels = stage.channels
                self.taps[stride], self.channels[stride] = len(self.blocks) - 1, channels

    def forward(self, x: Tensor) -> list[Tensor]:
        y = F.relu6(self.stem(x))
        features = []
        for number, block in enumerate(self.blocks):
            y = block(y)
            if number in self.taps.values():
                features.append(y)
        return features

    def load_imagenet(self, weights: dict[str, Tensor]) -> None:
        """Take the weights of a published EfficientNet-Lite; ``ValueError`` where one that is needed is missing."""
        parts = {
            "expand": ("_expand_conv", "_bn0"),
            "filter": ("_depthwise_conv", "_bn1"),
            "project": ("_project_conv", "_bn2"),
        }
        state = self.state_dict()
        for key in state:
            words = key.split(".")
            if words[0] == "stem":
                theirs = f"{('_conv_stem', '_bn0')[int(words[1])]}.{words[2]}"
            else:
                theirs = f"_blocks.{words[1]}.{parts[words[2]][int(words[3])]}.{words[4]}"
            if theirs not in weights or weights[theirs].shape != state[key].shape:
                raise ValueError(f"the weights have no {theirs} of shape {tuple(state[key].shape)}")
            state[key] = weights[theirs]
        self.load_state_dict(state)


def _smooth(channels_in: int, channels: int, dilation: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels_in, channels, 3, padding=dilation, dilation=dilation, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
    )


class Network(nn.Module):
    """Boundary logits (B×1×H×W), ownership vectors (B×2×H×W), and while learning a logit map per level of the pyramid."""

    def __init__(self, encoder: str = "lite2") -> None:
        super().__init__()
        self.encoder = Encoder(encoder)
        result = list(self.encoder.channels.values())
        self.lateral = nn.ModuleList(
            _normed(nn.Conv2d(c, p, 1, bias=False)) for c, p in zip(result, PYRAMID, strict=True)
        )
        self.context = nn.Linear(result[-1], PYRAMID[-1])
        self.narrow = nn.ModuleList(nn.Conv2d(above, here, 1, bias=False) for here, above in pairwise(PYRAMID))
        self.smooth = nn.ModuleList(_smooth(p, p) for p in PYRAMID)
        self.sides = nn.ModuleList(nn.Conv2d(p, 1, 1) for p in PYRAMID)
        self.fine = nn.Sequential(_smooth(3, 16), _smooth(16, 16))
        self.fuse = nn.Sequential(_smooth(PYRAMID[0] + 16, 16), _smooth(16, 16))
        self.boundary = nn.Conv2d(16, 1, 1)
        self.owner = nn.Sequential(_smooth(PYRAMID[1], 64), _smooth(64, 64, 2), nn.Conv2d(64, 2, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
        features = self.encoder(x)
        context = self.context(features[-1].mean((2, 3)))[:, :, None, None]
        level = self.smooth[4](self.lateral[4](features[4]) + context)
        sides, levels = [_enlarged(self.sides[4](level), 32)], [level]
        for number in (3, 2, 1, 0):
            above = _enlarged(self.narrow[number](level), 2)
            level = self.smooth[number](self.lateral[number](features[number]) + above)
            levels.insert(0, level)
            sides.append(_enlarged(self.sides[number](level), 2 ** (number + 1)))
        finest = F.dropout2d(levels[0], 0.1, self.training)
        logit = self.boundary(self.fuse(torch.cat([_enlarged(finest, 2), self.fine(x)], 1)))
        owner = self.owner(F.dropout2d(levels[1], 0.15, self.training))
        return logit, _enlarged(owner, 4), sides


def _enlarged(x: Tensor, factor: int) -> Tensor:
    return F.interpolate(x, scale_factor=float(factor), mode="bilinear", align_corners=False)
