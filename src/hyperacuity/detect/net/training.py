"""Learning: crops of photographs, turned, scaled, mirrored and pasted into one another, and the loss on them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from hyperacuity.detect.net.architecture import Network
from hyperacuity.detect.net.lessons import Lesson

MEAN, SPREAD = 0.498, 0.502
"""What EfficientNet-Lite expects: (x − mean) / spread."""

TURN = 0.2
"""How far photographs with figure/ground labels are turned, in radians: gravity is a cue."""


@dataclass(frozen=True)
class Settings:
    """How to learn. They are written into the file of the network."""

    encoder: str = "lite0"
    steps: int = 8000
    batch: int = 16
    crop: int = 384
    smallest: float = 0.6
    largest: float = 2.2
    paste: float = 0.35
    rate: float = 1e-3
    encoder_rate: float = 3e-4
    decay: float = 0.05
    owner_weight: float = 1.0
    seed: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The settings by name."""
        return asdict(self)


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
        batch: Batch = self._crop(which, scale, turn, centre[0], centre[1])
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
        other = self._crop(which, scale, turn, *middle, region=region)
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

    def _crop(
        self, which: Tensor, scale: Tensor, turn: Tensor, row: Tensor, column: Tensor, region: Tensor | None = None
    ) -> Cut:
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
    found, boxes = [], []
    for number, one in enumerate(lessons):
        for region in one.figures:
            rows, columns = np.nonzero(one.segments == region)
            found.append((number, region))
            boxes.append((rows.min(), rows.max() + 1, columns.min(), columns.max() + 1))
    shape = torch.tensor(np.array(boxes, np.float32).reshape(-1, 4), device=device)
    return torch.tensor(np.array(found, np.int64).reshape(-1, 2), device=device), shape


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


def boundary_loss(logit: Tensor, batch: Batch) -> Tensor:
    """Cross entropy with the share of people, boundaries counting up to four times as much as the rest."""
    weight = (1 + 3 * batch.boundary) * batch.known
    return (F.binary_cross_entropy_with_logits(logit, batch.boundary, reduction="none") * weight).mean()


def owner_loss(vector: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """log(1 + exp(−v·n)) where contours are labelled, and the share of them on the right side."""
    along = (vector * batch.towards).sum(1)
    total = batch.sure.sum() + 1
    return (F.softplus(-along) * batch.sure).sum() / total, ((along > 0) * batch.sure).sum() / total


class Course:
    """A network that is being learned: its weights, their running mean, and how far it has come."""

    def __init__(
        self,
        lessons: Sequence[Lesson],
        settings: Settings,
        device: torch.device,
        imagenet: Mapping[str, Tensor] | None = None,
    ) -> None:
        torch.manual_seed(settings.seed)
        self.settings, self.device, self.step = settings, device, 0
        self.crops = Crops(lessons, settings, device)
        self.network = Network(settings.encoder)
        if imagenet is not None:
            self.network.encoder.load_imagenet(dict(imagenet))
        self.network.to(device)
        encoder = list(self.network.encoder.parameters())
        own = {id(one) for one in encoder}
        head = [one for one in self.network.parameters() if id(one) not in own]
        rates = [settings.encoder_rate if imagenet is not None else settings.rate, settings.rate]
        self.optimiser = torch.optim.AdamW(
            [{"params": part, "lr": rate, "most": rate} for part, rate in zip((encoder, head), rates, strict=True)],
            weight_decay=settings.decay,
            fused=device.type == "cuda",
        )
        self.mean = {name: value.clone() for name, value in self.network.state_dict().items()}

    def learn(self, until: int, tell: Callable[[dict[str, float]], None] | None = None, every: int = 100) -> None:
        """Go on to a step, telling the losses now and then."""
        self.network.train()
        began, first = time.monotonic(), self.step
        while self.step < until:
            batch = self.crops.draw()
            for group in self.optimiser.param_groups:
                group["lr"] = group["most"] * rate_at(self.step / self.settings.steps)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                logit, vector, sides = self.network((batch.image - MEAN) / SPREAD)
            boundary = boundary_loss(logit.float(), batch)
            deep = sum((boundary_loss(side.float(), batch) for side in sides), torch.zeros((), device=self.device))
            owner, right = owner_loss(vector.float(), batch)
            loss = 4 * boundary + 0.8 * deep + self.settings.owner_weight * owner
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
            self.optimiser.step()
            self.step += 1
            self._average()
            if tell is not None and (self.step % every == 0 or self.step == until):
                rate = (self.step - first) / (time.monotonic() - began)
                losses = {"boundary": boundary, "owner": owner, "right": right}
                tell({"step": self.step, "rate": rate, **{name: value.item() for name, value in losses.items()}})

    @torch.no_grad()
    def _average(self) -> None:
        """The running mean of the weights, over some thousand steps; over fewer at the beginning."""
        keep = min(0.999, (self.step + 1) / (self.step + 50))
        now = self.network.state_dict()
        names = [name for name, value in now.items() if value.dtype.is_floating_point]
        torch._foreach_lerp_([self.mean[name] for name in names], [now[name] for name in names], 1 - keep)

    def averaged(self) -> Network:
        """The network with the running mean of its weights."""
        network = Network(self.settings.encoder).to(self.device)
        network.load_state_dict(self.mean)
        return network.eval()

    def save(self, path: Path) -> None:
        """Write all that is needed to go on."""
        torch.save(
            {
                "settings": self.settings.as_dict(),
                "step": self.step,
                "network": self.network.state_dict(),
                "mean": self.mean,
                "optimiser": self.optimiser.state_dict(),
                "random": self.crops.random.get_state(),
            },
            path,
        )

    def resume(self, path: Path) -> None:
        """Go on from a saved file; ``ValueError`` where its settings differ. No code in the file is run."""
        saved = torch.load(path, map_location=self.device, weights_only=True)
        if saved["settings"] != self.settings.as_dict():
            different = [key for key, value in self.settings.as_dict().items() if saved["settings"].get(key) != value]
            raise ValueError(f"was begun with another {', '.join(different)}")
        self.network.load_state_dict(saved["network"])
        self.optimiser.load_state_dict(saved["optimiser"])
        self.mean, self.step = saved["mean"], saved["step"]
        self.crops.random.set_state(saved["random"].cpu())


def rate_at(progress: float) -> float:
    """The learning rate as a share of its largest: up over the first tenth, then down along a cosine.

    >>> [round(rate_at(p), 2) for p in (0.0, 0.05, 0.1, 0.55, 1.0)]
    [0.02, 0.51, 1.0, 0.5, 0.0]
    """
    if progress < 0.1:
        return 0.02 + 9.8 * progress
    return 0.5 * (1 + math.cos(math.pi * (progress - 0.1) / 0.9))
