"""Training ``pb`` from files: pictures and human labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperacuity.audit import strengths
from hyperacuity.data import read_boundary_truths, read_image
from hyperacuity.detect.pb_detector import CUES, PbModel
from hyperacuity.detect.pb_training import Examples, examples, logistic_fit, observe_all
from hyperacuity.errors import InputError, UsageError, option
from hyperacuity.maps import EdgeMap
from hyperacuity.run.many import each
from hyperacuity.train.drawings import Drawings, DrawnPicture

TRUTHS = ("all", "consensus")
"""Labels that pb can be learned from: all, or those that everyone drew."""


@dataclass(frozen=True)
class PbTrainingConfig:
    """Settings of the training of pb: the seed, what pixels near weak labels are, and how histograms are compared."""

    seed: int = 0
    weak: str = "ignore"
    hist_distance: str = "chi2"

    def __post_init__(self) -> None:
        """Validate."""
        if self.weak not in ("ignore", "negative"):
            raise UsageError(f"{option('weak', self.weak)}: expected ignore or negative")
        if self.hist_distance not in ("chi2", "quadratic"):
            raise UsageError(f"{option('hist_distance', self.hist_distance)}: expected chi2 or quadratic")

    def about(self, source: str, truth: str, options: str = "") -> str:
        """Describe how a model was obtained: from what, by which command, and with which options."""
        kind, chosen = "all labels", option("truth", truth)
        if truth == "consensus":
            other = "left out" if self.weak == "ignore" else "no boundary"
            kind = f"the labels that everyone drew, pixels near other labels being {other}"
            chosen = f"{chosen}, {option('weak', self.weak)}"
        chosen += f", {option('hist_distance', self.hist_distance)}, {option('seed', self.seed)}{options}"
        how = f"hyperacuity detect train pb with {chosen}"
        return f"Learned from {source} and {kind}: {how}. 64 textons by k-means; weights by maximum likelihood."


@dataclass(frozen=True, eq=False)
class LearnedPb:
    """A model, and what it was learned from."""

    model: PbModel
    truth: str
    examples: Examples

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON. An ``effect`` is a weight times the standard deviation of its cue: effects can be compared."""
        constant, *weights = self.model.weights.tolist()
        spread = self.examples.cues.std(axis=0).tolist()
        return {
            "about": self.model.about,
            "truth": self.truth,
            "pixels": len(self.examples.boundary),
            "boundaries": float(self.examples.boundary.mean()),
            "weights": {"constant": constant, **dict(zip(CUES, weights, strict=True))},
            "effects": {cue: w * deviation for cue, w, deviation in zip(CUES, weights, spread, strict=True)},
        }


def learn_pb(
    drawings: Drawings, truths: Sequence[str], config: PbTrainingConfig, workers: int | None
) -> dict[str, LearnedPb]:
    """Learn from all labels, from those that everyone drew, or from both in turn: the textons are the same.

    The pictures' ``source`` goes into the model's description.
    """
    pictures, source = drawings.pictures, drawings.source

    def labels(picture: DrawnPicture) -> tuple[EdgeMap, EdgeMap]:
        """Read the labels that anyone drew, and those that everyone drew, if wanted."""
        people = read_boundary_truths(picture.truths, inverted=picture.inverted)
        anyone: EdgeMap = np.any(people, axis=0)
        return anyone, np.any(strengths(people).consensus, axis=0) if "consensus" in truths else anyone

    options: Any = {"hist_distance": config.hist_distance}
    drawn = list(each(labels, pictures, workers, "reading labels"))
    textons, observed = observe_all(
        pictures,
        read=lambda picture: read_image(picture.image),
        each=lambda work, items: each(work, items, workers, "learning"),
        seed=config.seed,
        **options,
    )
    anyone, everyone = [maps[0] for maps in drawn], [maps[1] for maps in drawn]
    weak: Any = config.weak
    learned = {}
    for truth in truths:
        taught = examples(observed, anyone) if truth == "all" else examples(observed, everyone, anyone, weak=weak)
        if not 0 < taught.boundary.mean() < 1:
            raise InputError(f"{source}: there is nothing to learn: either no pixel is near a label, or all are")
        model = PbModel(textons, logistic_fit(*taught), config.about(source, truth, drawings.options), **options)
        learned[truth] = LearnedPb(model, truth, taught)
    return learned
