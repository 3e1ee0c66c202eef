"""The labels of a data set in a report: which boundaries everyone drew, which one person only, and where in which image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperacuity.boundary import StrengthTally, collect_strengths, strengths
from hyperacuity.boundary.findings import label_findings
from hyperacuity.boundary.strength import LabelScore
from hyperacuity.data import read_boundary_truths, read_image
from hyperacuity.report import charts_audit, layers
from hyperacuity.report.gather import Grid
from hyperacuity.report.sheet import NAN, Column, Each, Figure, Layer, Line, Sheet, Viewer, picture_of
from hyperacuity.run import Cell

COLUMNS = (
    Column(
        "orphan", "one person only", better="", digits=1, unit="%", note="Share of the boundaries, each counted once"
    ),
    Column("consensus", "everyone", better="", digits=1, unit="%", note="Share of the boundaries, each counted once"),
    Column(
        "agreement", "agreement", better="", digits=1, unit="%", note="Of a person's pixels, how many another drew too"
    ),
    Column("pixels", "one person's pixels", better="", digits=1, unit="%", note="Share of all drawn pixels"),
    Column("maps", "maps", better="", digits=0, note="How many maps all annotators drew together"),
)

LAYERS = (
    Layer("strength", "Strength", "What anybody drew; the darker, the more people drew it"),
    Layer("consensus", "Everyone", "What everyone drew, as each of them drew it"),
    Layer("orphans", "One person", "What one person alone drew"),
    Layer("photo", "Photograph"),
)


def sheet(grid: Grid, each: Each) -> Sheet:
    """The part of a report that is about labels alone; one line stands for all annotators."""
    (tallies,) = grid.tallies(StrengthTally).values() or [{}]
    tolerance, inverted = float(grid.options["tolerance"]), bool(grid.options.get("inverted", False))
    if not tallies:
        return Sheet("Labels", grid, COLUMNS, (), findings=("No image could be read.",))
    score = collect_strengths(tallies)
    low, high = score.boundaries.orphan_interval
    line = Line(
        next(iter(grid.packed)),
        {
            "orphan": 100 * score.boundaries.orphan,
            "consensus": 100 * score.boundaries.consensus,
            "agreement": 100 * score.agreement,
            "pixels": 100 * score.pixels.orphan,
            "maps": float(sum(score.annotators)),
        },
        interval=(100 * low, 100 * high),
        images=len(tallies),
        failed=len(grid.failures),
        rank=1,
        group=1,
    )
    agreed = {image: _agreed(one) for image, one in tallies.items()}
    return Sheet(
        title="Labels",
        grid=grid,
        columns=COLUMNS,
        lines=(line,),
        board="In numbers",
        figures=_figures(score, agreed),
        findings=tuple(label_findings(score)),
        image_score=Column(
            "agreement", "agreement", note="Of a person's pixels, the share that another person drew too"
        ),
        image_scores={image: {line.system: share} for image, share in agreed.items()},
        viewer=Viewer(LAYERS, (), _look(tolerance, inverted)),
    )


def _agreed(tally: StrengthTally) -> float:
    """Of a person's pixels, the share that another person drew too; NaN with one annotator or nothing drawn."""
    drawn = int(np.trace(tally.agreed))
    pairs = drawn * (len(tally.agreed) - 1)
    return (int(tally.agreed.sum()) - drawn) / pairs if pairs else NAN


def _figures(score: LabelScore, agreed: Mapping[str, float]) -> tuple[Figure, ...]:
    figures = [
        Figure(
            "shares",
            "How strong the labels are",
            "Shares of boundaries and of pixels by the share of the annotators who drew them.",
            lambda hover: charts_audit.label_chart(score),
            fluid=False,
            span=8,
        )
    ]
    people = dict(zip(score.images, score.annotators, strict=True))
    known = {image: (people[image], share) for image, share in agreed.items() if share == share}
    if known:
        figures.append(
            Figure(
                "images",
                "Agreement, image by image",
                "The share of a person's pixels that another person drew too, a mark for each image.",
                lambda hover: charts_audit.image_agreement_chart(known),
                fluid=False,
            )
        )
    matrix = score.matrix
    if matrix is not None and len(matrix) > 1:
        figures.append(
            Figure(
                "agreement",
                "Who agrees with whom",
                "The share of what one annotator drew that another one drew too, for each pair.",
                lambda hover: charts_audit.agreement_chart(matrix),
                fluid=False,
            )
        )
    return tuple(figures)


def _look(tolerance: float, inverted: bool) -> Any:
    def look(image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        (cell,) = cells.values()
        people = strengths(read_boundary_truths(cell.truths, inverted=inverted), tolerance)
        strongest = np.max(people.drawn_by, axis=0).astype(np.uint8)
        alone = np.logical_or.reduce(people.orphans).astype(np.uint8)
        shared = {
            "strength": layers.strength(strongest, people.annotators),
            "consensus": layers.strength(np.where(strongest == people.annotators, strongest, 0), people.annotators),
            "orphans": layers.strength(alone, 1),
        }
        if (picture := picture_of(cells)) is not None:
            shared["photo"] = layers.photograph(read_image(picture))
        height, width = strongest.shape
        one, everyone = people.boundaries.orphan, people.boundaries.consensus
        told = {
            "annotators": str(people.annotators),
            "drawn by one person only": f"{100 * one:.0f} % of the boundaries",
            "by everyone": f"{100 * everyone:.0f} %",
        }
        return {"size": [width, height], "shared": shared, "systems": [{"numbers": told}]}

    return look
