"""Training ``gpb`` from files: pictures and human labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperacuity.data import read_boundary_truths, read_image
from hyperacuity.detect.global_pb.model import CUE_NAMES, GpbModel
from hyperacuity.detect.global_pb.training import learn_gpb
from hyperacuity.detect.pb_training import Examples
from hyperacuity.errors import InputError, option
from hyperacuity.maps import EdgeMap
from hyperacuity.run.many import each
from hyperacuity.train.drawings import Drawings, DrawnPicture


@dataclass(frozen=True, eq=False)
class LearnedGpb:
    """A model, and what the weights of all cues were learned from."""

    model: GpbModel
    examples: Examples

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON. An ``effect`` is a weight times the standard deviation of its cue: effects can be compared."""
        spread = self.examples.cues.std(axis=0)
        effects = dict(zip(CUE_NAMES, (self.model.combined[1:] * spread).tolist(), strict=True))
        boundaries = float(self.examples.boundary.mean())
        return {
            **self.model.as_dict(),
            "pixels": len(self.examples.boundary),
            "boundaries": boundaries,
            "effects": effects,
        }


def train_gpb(drawings: Drawings, *, seed: int = 0, workers: int | None = None) -> LearnedGpb:
    """Learn the weights of gPb from drawings; their source and the command go into the model's description."""

    def labels(picture: DrawnPicture) -> EdgeMap:
        return np.asarray(np.any(read_boundary_truths(picture.truths, inverted=picture.inverted), axis=0))

    drawn = list(each(labels, drawings.pictures, workers, "reading labels"))
    if not any(one.any() for one in drawn):
        raise InputError(f"{drawings.source}: there is nothing to learn, no pixel is near a label")
    about = (
        f"Learned from {drawings.source} and all labels: hyperacuity train gpb with {option('seed', seed)}{drawings.options}. "
        "Textons of pb; weights by maximum likelihood, of the local cues first, then of all."
    )
    model, taught = learn_gpb(
        drawings.pictures,
        drawn,
        read=lambda picture: read_image(picture.image),
        each=lambda work, items: each(work, items, workers, "learning"),
        seed=seed,
        about=about,
    )
    return LearnedGpb(model, taught)
