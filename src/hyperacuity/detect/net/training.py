"""Training of the network: the loss, and a training that can be stopped and resumed."""

from __future__ import annotations

import copy
import io
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from hyperacuity.detect.net.architecture import Network
from hyperacuity.detect.net.crops import Batch, Crops
from hyperacuity.detect.net.lessons import Lesson
from hyperacuity.detect.net.settings import Settings
from hyperacuity.errors import InputError, UsageError
from hyperacuity.outputs import check_output, sealed, unsealed, write_bytes
from hyperacuity.small_files import read_small

CHECKPOINT = b"hyperacuity checkpoint 1"
"""Beginning of a checkpoint; a checksum follows, which is compared before anything else is read."""

MOST_BYTES = 1 << 32
"""Most bytes of a checkpoint, or of a file of weights."""

MEAN, SPREAD = 0.498, 0.502
"""Scale that EfficientNet-Lite expects: (x − mean) / spread."""


def find_device(name: str) -> torch.device:
    """The device of a name: ``"cpu"``, ``"cuda"``, or ``"auto"`` for the graphics processor if PyTorch can use one."""
    if name not in ("auto", "cpu", "cuda"):
        raise UsageError(f"device {name}: expected auto, cpu or cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise UsageError("device cuda: PyTorch finds no graphics processor that it can use here; expected auto or cpu")
    return torch.device("cuda" if name == "cuda" or (name == "auto" and torch.cuda.is_available()) else "cpu")


def load_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a ``.pth`` file, by name; ``InputError`` for a file that holds anything else. No code in it is run."""
    result = _load(path, torch.device("cpu"), read_small(path, "weights", most=MOST_BYTES))
    if not isinstance(result, dict) or not all(isinstance(value, Tensor) for value in result.values()):
        raise InputError(f"{path}: holds no weights, expected tensors by name")
    return {str(name): value.float() if value.is_floating_point() else value for name, value in result.items()}


def _load(path: Path, device: torch.device, data: bytes) -> Any:
    """Tensors, numbers and texts; ``weights_only`` runs no code that a file may hold."""
    try:
        return torch.load(io.BytesIO(data), map_location=device, weights_only=True)
    except Exception as error:  # whatever the bytes are, PyTorch has an error of another class for it
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: is no file of PyTorch that holds tensors alone ({reason})") from error


def boundary_loss(logit: Tensor, batch: Batch) -> Tensor:
    """Cross entropy with the share of people, boundaries counting up to four times as much as the rest."""
    weight = (1 + 3 * batch.boundary) * batch.known
    return (F.binary_cross_entropy_with_logits(logit, batch.boundary, reduction="none") * weight).mean()


def owner_loss(vector: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """log(1 + exp(−v·n)) where contours are labelled, and the share of them on the right side."""
    along = (vector * batch.towards).sum(1)
    total = batch.sure.sum() + 1
    return (F.softplus(-along) * batch.sure).sum() / total, ((along > 0) * batch.sure).sum() / total


class Losses(NamedTuple):
    """Losses of a step: of boundaries, of ownership, and the share of labelled contours on the right side."""

    boundary: Tensor
    owner: Tensor
    right: Tensor


class NetworkTraining:
    """A network that is being learned: its weights, their running mean, and how far it has come.

    With the same lessons, settings and start, training on a CPU gives the same weights to the last bit, stopped and resumed or
    not, however often they are looked at. A graphics processor adds in another order.
    """

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
        pretrained = {id(one) for one in encoder}
        head = [one for one in self.network.parameters() if id(one) not in pretrained]
        rates = [settings.encoder_rate if imagenet is not None else settings.rate, settings.rate]
        self.optimiser = torch.optim.AdamW(
            [{"params": part, "lr": rate, "most": rate} for part, rate in zip((encoder, head), rates, strict=True)],
            weight_decay=settings.decay,
            fused=device.type == "cuda",
        )
        self.mean = {name: value.clone() for name, value in self.network.state_dict().items()}

    def advance(self) -> Losses:
        """Learn from one batch."""
        self.network.train()
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
        return Losses(boundary.detach(), owner.detach(), right.detach())

    @torch.no_grad()
    def _average(self) -> None:
        """The running mean of the weights, over some thousand steps; over fewer at the beginning."""
        keep = min(0.999, (self.step + 1) / (self.step + 50))
        now = self.network.state_dict()
        names = [name for name, value in now.items() if value.dtype.is_floating_point]
        torch._foreach_lerp_([self.mean[name] for name in names], [now[name] for name in names], 1 - keep)

    def averaged(self) -> Network:
        """The network with the running mean of its weights."""
        network = copy.deepcopy(self.network)  # a new one would draw random weights, and change what comes after
        network.load_state_dict(self.mean)
        return network.eval()

    def save(self, path: Path, about: Mapping[str, Any]) -> None:
        """Write all that is needed to go on, whole or not at all; ``about`` goes along as JSON."""
        state = {
            "about": json.dumps(about),
            "settings": self.settings.as_dict(),
            "step": self.step,
            "network": self.network.state_dict(),
            "mean": self.mean,
            "optimiser": self.optimiser.state_dict(),
            "crops": self.crops.random.get_state(),
            "dropout": torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else torch.get_rng_state(),
        }
        buffer = io.BytesIO()
        torch.save(state, buffer)
        check_output(path, mark=CHECKPOINT)
        write_bytes(path, sealed(CHECKPOINT, buffer.getvalue()))

    def resume(self, path: Path) -> dict[str, Any]:
        """Go on from a saved file, and return what was written along; ``UsageError`` where its settings differ."""
        data = read_small(path, "a checkpoint", most=MOST_BYTES)
        if not data.startswith(CHECKPOINT):
            raise InputError(f"{path}: is no checkpoint of hyperacuity train net")
        body = unsealed(CHECKPOINT, data)
        if body is None:
            raise InputError(f"{path}: is damaged (its checksum is another): remove it to start over")
        saved = _load(path, self.device, body)
        if not isinstance(saved, dict) or not {"settings", "step", "optimiser", "dropout"} <= saved.keys():
            raise InputError(f"{path}: is no checkpoint of hyperacuity train net")
        now = self.settings.as_dict()
        if different := [name for name in now if saved["settings"].get(name) != now[name]]:
            changes = ", ".join(f"{name} {saved['settings'].get(name)}, not {now[name]}" for name in different)
            raise UsageError(f"{path}: was begun with {changes}; resume with the same settings")
        self.network.load_state_dict(saved["network"])
        self.optimiser.load_state_dict(saved["optimiser"])
        self.mean, self.step = saved["mean"], saved["step"]
        self.crops.random.set_state(saved["crops"].cpu())
        dropout = saved["dropout"].cpu()
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(dropout, self.device)
        else:
            torch.set_rng_state(dropout)
        about: dict[str, Any] = json.loads(saved["about"])
        return about


def rate_at(progress: float) -> float:
    """The learning rate as a share of its largest: up over the first tenth, then down along a cosine.

    >>> [round(rate_at(p), 2) for p in (0.0, 0.05, 0.1, 0.55, 1.0)]
    [0.02, 0.51, 1.0, 0.5, 0.0]
    """
    if progress < 0.1:
        return 0.02 + 9.8 * progress
    return 0.5 * (1 + math.cos(math.pi * (progress - 0.1) / 0.9))
