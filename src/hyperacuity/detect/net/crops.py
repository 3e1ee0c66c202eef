"""Crops of photographs to learn from: turned, scaled, mirrored, pasted into one another, under other light."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from hyperacuity.detect.net.lessons import Lesson
from hyperacuity.detect.net.settings import Settings

TURN = 0.2
"""Largest turn of photographs with figure/ground labels, in radians: gravity is a cue."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Crops: photographs B×3×C×C in [0, 1]; boundary and what is known of it, B×1×C×C; ``towards`` B×2×C×C, ``sure`` B×C×C."""

    image: Tensor
    boundary: Tensor
    known: Tensor
    towards: Tensor
    sure: Tensor


class Crops:
    """Draws batches from lessons, all on the device; the generator's seed decides which."""

    def __init__(self, lessons: Sequence[Lesson], settings: Settings, device: torch.device) -> None:
        self.settings, self.device = settings, device
        sizes = np.array([one.image.shape[:2] for one in lessons])
        height, width = sizes.max(axis=0)
        self.frame = (int(height), int(width))

        def stack(part: Callable[[Lesson], np.ndarray], channels: int, kind: torch.dtype) -> Tensor:
            whole = torch.zeros((len(lessons), channels, height, width), dtype=kind)
            for number, one in enumerate(lessons):
                values = np.atleast_3d(part(one)).transpose(2, 0, 1)
                whole[number, :, : values.shape[1], : values.shape[2]] = torch.from_numpy(values.copy())
            return whole.to(device)

        self.images = stack(lambda one: one.image, 3, torch.uint8)
        self.boundaries = stack(lambda one: one.boundary, 1, torch.uint8)
        self.towards = stack(lambda one: one.towards, 2, torch.int8)
        self.sure = stack(lambda one: one.sure, 1, torch.uint8)
        self.segments = stack(lambda one: one.segments, 1, torch.int16)
        self.sizes = torch.tensor(sizes, device=device, dtype=torch.float32)
        owners = [number for number, one in enumerate(lessons) if one.has_owners]
        self.owners = torch.tensor(owners or range(len(lessons)), device=device)
        self.figures, self.boxes = _cut_outs(lessons, device)
        axis = torch.arange(settings.crop, device=device) + 0.5 - settings.crop / 2
        self.down, self.right = torch.meshgrid(axis, axis, indexing="ij")
        self.random = torch.Generator(device).manual_seed(settings.seed)

    def draw(self) -> Batch:
        """A batch: half from all photographs, turned freely; half from those with figure/ground labels, nearly upright."""
        count = self.settings.batch
        free = count // 2
        which = torch.cat([self._pick(len(self.images), free), self.owners[self._pick(len(self.owners), count - free)]])
        scale = self._between(math.log(self.settings.smallest), math.log(self.settings.largest), count).exp()
        turn = torch.cat([self._between(-math.pi, math.pi, free), self._between(-TURN, TURN, count - free)])
        reach = self.settings.crop / 2 / scale
        centre = []
        for axis in (0, 1):
            size = self.sizes[which, axis]
            middle = reach + (size - 2 * reach).clamp(min=0) * self._between(0, 1, count)
            centre.append(torch.minimum(middle, torch.maximum(size - reach, size / 2)))
        batch: Batch = self.cut(which, scale, turn, centre[0], centre[1])
        if len(self.figures) and self.settings.paste > 0:
            batch = self._pasted(batch)
        sure = batch.sure.clone()
        sure[:free] = 0
        return Batch(self._lit(batch.image), batch.boundary, batch.known, batch.towards, sure)

    def _pasted(self, batch: Batch) -> Batch:
        """Cut-outs of figures laid over some of the crops, each with its outline as a boundary that it owns."""
        count, crop = self.settings.batch, self.settings.crop
        chosen = self._pick(len(self.figures), count)
        which, region = self.figures[chosen, 0], self.figures[chosen, 1]
        box = self.boxes[chosen]
        size = torch.maximum(box[:, 1] - box[:, 0], box[:, 3] - box[:, 2]).clamp(min=8)
        scale = (crop * self._between(0.25, 0.75, count) / size).clamp(0.5, 2.5)
        turn = self._between(-TURN, TURN, count)
        aim = [self._between(-0.35, 0.35, count) * crop / scale for _ in range(2)]
        middle = (box[:, 0] + box[:, 1]) / 2 + aim[0], (box[:, 2] + box[:, 3]) / 2 + aim[1]
        other = self.cut(which, scale, turn, *middle, region=region)
        mask = other.mask * (self._between(0, 1, count) < self.settings.paste).float()[:, None, None, None]
        soft = blurred(mask, 1.5)
        seam = 4 * soft * (1 - soft)
        slope = torch.stack(_slope(soft[:, 0]), 1)
        towards = slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-6)
        on_seam = (seam > 0.3).float()
        alpha = blurred(mask, 0.7)

        def merge(inside: Tensor, outside: Tensor) -> Tensor:
            return mask * inside + (1 - mask) * outside

        return Batch(
            alpha * other.image + (1 - alpha) * batch.image,
            torch.maximum(merge(other.boundary, batch.boundary), seam),
            torch.maximum(mask, batch.known),
            on_seam * towards + (1 - on_seam) * merge(other.towards, batch.towards),
            (on_seam + (1 - on_seam) * merge(other.sure[:, None], batch.sure[:, None]))[:, 0],
        )

    def cut(
        self, which: Tensor, scale: Tensor, turn: Tensor, row: Tensor, column: Tensor, region: Tensor | None = None
    ) -> Cut:
        """Crops of the photographs ``which`` around a row and a column, enlarged, turned (radians) and by chance mirrored."""
        count = len(which)
        mirror = torch.where(self._between(0, 1, count) < 0.5, -1.0, 1.0)[:, None, None]
        cos, sin = (f(turn)[:, None, None] for f in (torch.cos, torch.sin))
        zoom = scale[:, None, None]
        x = (cos * self.right * mirror - sin * self.down) / zoom + column[:, None, None]
        y = (sin * self.right * mirror + cos * self.down) / zoom + row[:, None, None]
        grid = torch.stack([x / self.frame[1] * 2 - 1, y / self.frame[0] * 2 - 1], -1)

        def read(values: Tensor, mode: str = "bilinear") -> Tensor:
            return F.grid_sample(values[which].float(), grid, mode=mode, align_corners=False)

        size = self.sizes[which]
        inside = (x >= 0) & (x < size[:, 1, None, None]) & (y >= 0) & (y < size[:, 0, None, None])
        field = read(self.towards, "nearest") / 127
        towards = torch.stack(
            [(cos * field[:, 0] + sin * field[:, 1]) * mirror, -sin * field[:, 0] + cos * field[:, 1]], 1
        )
        known = inside[:, None].float()
        mask = known
        if region is not None:
            mask = (read(self.segments, "nearest") == region[:, None, None, None]).float() * known
        sure = read(self.sure, "nearest")[:, 0] / 255 * known[:, 0]
        return Cut(read(self.images) / 255, read(self.boundaries) / 255, known, towards, sure, mask)

    def _lit(self, image: Tensor) -> Tensor:
        """Other light: brightness, contrast, saturation, tint, gamma, noise; one in ten without colour."""
        count = len(image)

        def each(low: float, high: float, channels: int = 1) -> Tensor:
            return self._between(low, high, count * channels).view(count, channels, 1, 1)

        image = image.clamp(1e-4, 1) ** each(-0.35, 0.35).exp()
        image = image * each(0.7, 1.3) + each(-0.12, 0.12) + each(-0.05, 0.05, 3)
        grey = image.mean(1, keepdim=True)
        colour = torch.where(each(0, 1) < 0.1, torch.zeros_like(grey[:, :, :1, :1]), each(0.3, 1.5))
        image = grey + (image - grey) * colour
        noise = torch.randn(image.shape, device=self.device, generator=self.random) * each(0, 0.03)
        return (image + noise).clamp(0, 1)

    def _pick(self, below: int, count: int) -> Tensor:
        return torch.randint(below, (count,), device=self.device, generator=self.random)

    def _between(self, low: float, high: float, count: int) -> Tensor:
        return low + (high - low) * torch.rand(count, device=self.device, generator=self.random)


@dataclass(frozen=True, eq=False)
class Cut(Batch):
    """Crops, and where a chosen region of them lies, B×1×C×C."""

    mask: Tensor


def _cut_outs(lessons: Sequence[Lesson], device: torch.device) -> tuple[Tensor, Tensor]:
    """Lesson and region of each figure that can be pasted, and its box: rows from, to; columns from, to."""
    result, boxes = [], []
    for number, one in enumerate(lessons):
        for region in one.figures:
            rows, columns = np.nonzero(one.segments == region)
            result.append((number, region))
            boxes.append((rows.min(), rows.max() + 1, columns.min(), columns.max() + 1))
    shape = torch.tensor(np.array(boxes, np.float32).reshape(-1, 4), device=device)
    return torch.tensor(np.array(result, np.int64).reshape(-1, 2), device=device), shape


def blurred(x: Tensor, sigma: float) -> Tensor:
    """Smoothed by a Gaussian, B×1×H×W."""
    reach = math.ceil(3 * sigma)
    kernel = torch.exp(-0.5 * (torch.arange(-reach, reach + 1, device=x.device) / sigma) ** 2)
    kernel = kernel / kernel.sum()
    x = F.conv2d(x, kernel[None, None, :, None], padding=(reach, 0))
    return F.conv2d(x, kernel[None, None, None, :], padding=(0, reach))


def _slope(x: Tensor) -> tuple[Tensor, Tensor]:
    padded = F.pad(x[:, None], (1, 1, 1, 1), mode="replicate")[:, 0]
    return padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2], padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1]
