"""The labels of a data set in a report: which boundaries everyone drew, which one person only, and where in which image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hyperacuity.audit import StrengthTally, strengths
from hyperacuity.audit.findings import label_findings
from hyperacuity.audit.strength import LabelScore
from hyperacuity.columns import Column
from hyperacuity.report.charts import audit as charts_audit
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.slider import Budget
from hyperacuity.report.sheets.engine import Judged, TaskSheet, by_image
from hyperacuity.report.sheets.sheet import NAN, Figure
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer
from hyperacuity.run import Cell


def _findings(judged: Judged) -> list[str]:
    scores: Mapping[str, LabelScore] = judged.scores
    return [
        sentence if len(scores) == 1 else f"{name}: {sentence}"
        for name, score in scores.items()
        for sentence in label_findings(score)
    ]


def _image_scores(judged: Judged) -> dict[str, dict[str, float]]:
    return by_image({name: {image: _agreed(one) for image, one in of.items()} for name, of in judged.tallies.items()})


def _agreed(tally: StrengthTally) -> float:
    """Share of a person's pixels that another person drew too; NaN with one annotator or nothing drawn."""
    drawn = int(np.trace(tally.agreed))
    pairs = drawn * (len(tally.agreed) - 1)
    return (int(tally.agreed.sum()) - drawn) / pairs if pairs else NAN


def _figures(judged: Judged) -> Iterator[Figure]:
    agreed = _image_scores(judged)
    for n, (name, score) in enumerate(judged.scores.items()):
        yield from _figures_of(score, {i: of[name] for i, of in agreed.items() if name in of}, name if n else "")


def _figures_of(score: LabelScore, agreed: Mapping[str, float], of: str) -> Iterator[Figure]:
    """The charts of one data set; ``of`` names it where it is not the first."""
    ending, whose = (f"-{of}", f", {of}") if of else ("", "")
    yield Figure(
        f"shares{ending}",
        f"How strong the labels are{whose}",
        "Shares of boundaries and of pixels by the share of the annotators who drew them.",
        lambda hover: charts_audit.label_chart(score),
    )
    people = dict(zip(score.images, score.annotators, strict=True))
    known = {image: (people[image], share) for image, share in agreed.items() if share == share}
    if known:
        yield Figure(
            f"images{ending}",
            f"Agreement, image by image{whose}",
            "The share of a person's pixels that another person drew too, a mark for each image.",
            lambda hover: charts_audit.image_agreement_chart(known),
        )
    matrix = score.matrix
    if matrix is not None and len(matrix) > 1:
        yield Figure(
            f"agreement{ending}",
            f"Who agrees with whom{whose}",
            "The share of what one annotator drew that another one drew too, for each pair.",
            lambda hover: charts_audit.agreement_chart(matrix),
        )


class LabelViewer(Viewer):
    """Lines that everyone drew, and one person alone; a "system" stands for all annotators of a data set."""

    layers = (
        Layer("strength", "Strength", "What anybody drew; the darker, the more people drew it"),
        Layer("consensus", "Everyone", "What everyone drew, as each of them drew it"),
        Layer("orphans", "One person", "What one person alone drew"),
        PHOTO,
    )
    not_run = "these labels do not have this image"

    def shared(self, cell: Cell) -> Shared:
        """Nothing: each set of labels is its own."""
        return Shared(self.reader.truths(cell)[0].shape, {})

    def of_system(self, system: str, cell: Cell, truth: None, budget: Budget) -> dict[str, Any]:
        """The strength of the labels of one data set."""
        people = strengths(self.reader.truths(cell), self.protocol.tolerance, tolerance_px=self.protocol.tolerance_px)
        strongest = np.max(people.drawn_by, axis=0).astype(np.uint8)
        alone = np.logical_or.reduce(people.orphans).astype(np.uint8)
        return {
            "strength": layers.strength(strongest, people.annotators),
            "consensus": layers.strength(np.where(strongest == people.annotators, strongest, 0), people.annotators),
            "orphans": layers.strength(alone, 1),
            "numbers": {
                "annotators": str(people.annotators),
                "drawn by one person only": f"{100 * people.boundaries.orphan:.0f} % of the boundaries",
                "by everyone": f"{100 * people.boundaries.consensus:.0f} %",
            },
        }


SHEET = TaskSheet(
    LabelViewer,
    _figures,
    _findings,
    board="In numbers",
    image_score=Column("agreement", "agreement", note="Of a person's pixels, the share that another drew too"),
    image_scores=_image_scores,
    across_criteria=False,
    nothing="No image could be read.",
)
