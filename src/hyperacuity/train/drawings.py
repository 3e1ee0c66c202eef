"""Pictures that people drew on, from BSDS500 or from folders, to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hyperacuity.data import load_dataset, pair_folders
from hyperacuity.data.datasets.bsds import refuse_reserved, reserved
from hyperacuity.data.datasets.samples import Sample
from hyperacuity.errors import UsageError, option


class DrawnPicture(NamedTuple):
    """The file of a picture, those of the people who drew on it, and whether 0 is the edge in these."""

    image: Path
    truths: tuple[Path, ...]
    inverted: bool = False


@dataclass(frozen=True)
class Drawings:
    """Pictures that people drew on, what to call them, how many reserved ones were left out, and files without a partner."""

    pictures: Sequence[DrawnPicture]
    source: str
    left_out: int = 0
    unpaired: Sequence[Path] = ()
    options: str = ""
    """Options by which they were chosen, where these are not the usual ones."""


def bsds500_drawn(
    data: Path | None, count: int | None = None, *, split: str = "train", allow_reserved: bool = False
) -> Drawings:
    """Images of BSDS500 that may be learned from, or ``count`` of them evenly chosen.

    ``split`` is ``train``, or ``train,val`` for both. Images reserved for measuring
    (:func:`~hyperacuity.data.datasets.bsds.reserved`) are left out by default.
    """
    parts = {"train": "training", "train,val": "training and validation"}
    if split not in parts:
        raise UsageError(f"{option('split', split)}: expected train or train,val")
    every = [one for part in split.split(",") for one in load_dataset("bsds500", data, split=part).samples]
    usable = every if allow_reserved else [one for one in every if one.name not in reserved()]
    if not usable:
        raise UsageError(
            f"bsds500, {split}: all {len(every)} images are reserved for measuring, so none is left to learn from"
        )
    chosen, left_out = evenly(usable, count), len(every) - len(usable)
    share = "the" if len(chosen) == len(every) else f"{len(chosen)} of the"
    source = f"{share} {len(every)} {parts[split]} images of BSDS500"
    source += f" (left out, as reserved for measuring: {left_out})" if left_out else ""
    options = "" if split == "train" else f", {option('split', split)}"
    options += ", `allow_reserved=True`" if allow_reserved else ""
    return Drawings([DrawnPicture(s.image, s.truths) for s in chosen if s.image], source, left_out, options=options)


def folders_drawn(images: Path, labels: Path, *, inverted: bool = False, allow_reserved: bool = False) -> Drawings:
    """The pictures of a folder with their labels; a wrong call where reserved images are among them and not allowed."""
    pairing = pair_folders(images, labels)
    refuse_reserved((pair.name for pair in pairing.pairs), allow=allow_reserved)
    drawn = [DrawnPicture(pair.prediction, pair.truths, inverted) for pair in pairing.pairs]
    return Drawings(drawn, f"{len(drawn)} images", unpaired=[*pairing.unpaired_predictions, *pairing.unpaired_truths])


def evenly(samples: Sequence[Sample], count: int | None) -> list[Sample]:
    """``count`` of the samples that have a picture, evenly chosen."""
    usable = [sample for sample in samples if sample.image is not None]
    if count is None or count >= len(usable):
        return usable
    return [usable[n * len(usable) // count] for n in range(count)]
