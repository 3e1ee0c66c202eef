"""Hierarchies, stacks of segmentations and label maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperacuity.data import holds_ucm, read_segmentations, read_ucm
from hyperacuity.data.files import warn
from hyperacuity.data.readers import count_truths
from hyperacuity.errors import UsageError
from hyperacuity.kinds import arrays
from hyperacuity.kinds.base import Cell, SoftKind
from hyperacuity.maps import LabelMap, label_map
from hyperacuity.regions import hierarchy, ucm_levels

FORMS = ("auto", "ucm", "segmentations", "soft")

MOST_BORDERS = 0.3
"""If more than this share of neighbouring pixels have different labels, a warning asks whether these are labels at all."""


@dataclass(frozen=True)
class RegionKind(SoftKind):
    """``form`` is what predictions hold: ``auto`` is a ucm2 or labels; of ``soft`` boundary maps hierarchies are made."""

    prediction_is = "segmentations"
    truth_is = "segmentation"

    form: str = "auto"

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UsageError(f"predictions as {self.form!r}: expected one of {', '.join(FORMS)}")

    def reading(self) -> dict[str, object]:
        """Parts for a form that was named, since a file may hold several, and for how soft maps are read."""
        named: dict[str, object] = {} if self.form == "auto" else {"from": self.form}
        return named | super().reading() if self.form == "soft" else named

    def prediction(self, cell: Cell, protocol: Any) -> Any:
        """The hierarchy, cut at the protocol's levels, or the segmentations as they are."""
        path = cell.prediction
        if self.form == "soft":
            return hierarchy(self.soft(path)).levels(protocol.thresholds)
        if self.form == "ucm" or (self.form == "auto" and holds_ucm(path)):
            return ucm_levels(read_ucm(path), protocol.thresholds)
        found = read_segmentations([path])
        if any(np.mean(labels[:, 1:] != labels[:, :-1]) > MOST_BORDERS for labels in found):
            warn(f"{path}: nearly every pixel is a region of its own, a boundary map? Use `form='soft'`")
        return found

    def annotators_of(self, cell: Cell) -> int:
        """The number of annotators of one image; a MAT file or a stack may hold several."""
        return count_truths(cell.truths, ("groundTruth", "segs"), stacks=True)

    def truths(self, cell: Cell) -> list[Any]:
        """Every annotator's segmentation."""
        return read_segmentations(cell.truths)

    def batch(self, prediction: Any, protocol: Any) -> list[Any]:
        """Stacks of segmentations; only a fourth dimension makes a batch."""
        return arrays.stacks(prediction)

    def checked(self, truth: Any, protocol: Any) -> LabelMap:
        """A label map."""
        return label_map(truth)
