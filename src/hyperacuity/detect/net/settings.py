"""Settings of learning the network, which are written into its file. Needs no PyTorch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from hyperacuity.errors import UsageError

ENCODER_NAMES = ("lite0", "lite2")
"""The encoders that there are, those of :data:`hyperacuity.detect.net.architecture.ENCODERS`."""


@dataclass(frozen=True)
class Settings:
    """Settings of learning; the defaults are those of the network that comes with the package.

    Attributes
    ----------
    encoder
        EfficientNet ``"lite0"`` or ``"lite2"``.
    steps, batch, crop
        How many batches, of how many crops, of how many pixels along a side.
    smallest, largest
        By how much photographs are reduced or enlarged.
    paste
        The share of crops over which a figure from another photograph is laid.
    rate, encoder_rate
        The largest learning rate of the pyramid and the heads, and that of an encoder that starts from learned weights.
    decay
        Weight decay.
    owner_weight
        Weight of the loss of ownership next to that of boundaries.
    seed
        Of the first weights, the crops and what is dropped out.

    Examples
    --------
    >>> Settings(encoder="lite9")
    Traceback (most recent call last):
    hyperacuity.errors.UsageError: encoder lite9: expected lite0 or lite2
    """

    encoder: str = "lite2"
    steps: int = 1250
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

    def __post_init__(self) -> None:
        """Validate."""
        if self.encoder not in ENCODER_NAMES:
            raise UsageError(f"encoder {self.encoder}: expected {' or '.join(ENCODER_NAMES)}")
        for name, least in (("steps", 1), ("batch", 2), ("seed", 0)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} {getattr(self, name)}: expected at least {least}")
        if self.crop < 64 or self.crop % 32:
            raise UsageError(f"crop {self.crop}: expected a multiple of 32 pixels from 64 on")
        if not 0 < self.smallest <= self.largest:
            raise UsageError(
                f"smallest {self.smallest:g} and largest {self.largest:g}: expected 0 < smallest ≤ largest"
            )
        if not 0 <= self.paste <= 1:
            raise UsageError(f"paste {self.paste:g}: expected a share from 0 to 1")
        for name in ("rate", "encoder_rate", "decay", "owner_weight"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise UsageError(f"{name} {getattr(self, name):g}: expected a number from 0 on")

    def as_dict(self) -> dict[str, Any]:
        """The settings by name."""
        return asdict(self)
