"""The labels of a data set in a report: which boundaries everyone drew, which one person only, and where in which image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperacuity.audit import StrengthTally, collect_strengths, strengths
from hyperacuity.audit.findings import label_findings
from hyperacuity.audit.strength import LabelScore, Strengths
from hyperacuity.data import read_boundary_truths, read_image
from hyperacuity.report.charts import audit as charts_audit
from hyperacuity.report.pictures import layers
from hyperacuity.report.sheets.sheet import NAN, Column, Each, Figure, Layer, Line, Sheet, Viewer, picture_of
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid

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
    """The part of a report that is about labels alone; a line stands for all annotators of a data set."""
    tolerance, inverted = float(grid.options["tolerance"]), bool(grid.options.get("inverted", False))
    tallies = grid.tallies(StrengthTally)
    scores = {name: collect_strengths(images) for name, images in tallies.items()}
    agreed: dict[str, dict[str, float]] = {}
    for name, images in tallies.items():
        for image, one in images.items():
            agreed.setdefault(image, {})[name] = _agreed(one)
    told = [
        sentence if len(scores) == 1 else f"{name}: {sentence}"
        for name, score in scores.items()
        for sentence in label_findings(score)
    ]
    return Sheet(
        title="Labels",
        grid=grid,
        columns=COLUMNS,
        lines=tuple(_line(grid, name, score) for name, score in scores.items()),
        board="In numbers",
        figures=tuple(
            figure
            for n, (name, score) in enumerate(scores.items())
            for figure in _figures(score, {i: of[name] for i, of in agreed.items() if name in of}, name if n else "")
        ),
        findings=tuple(told) or ("No image could be read.",),
        image_score=Column(
            "agreement", "agreement", note="Of a person's pixels, the share that another person drew too"
        ),
        image_scores=agreed,
        viewer=Viewer(LAYERS, (), _look(list(scores), tolerance, inverted)),
    )


def _line(grid: Grid, name: str, score: LabelScore) -> Line:
    low, high = score.boundaries.orphan_interval
    return Line(
        name,
        {
            "orphan": 100 * score.boundaries.orphan,
            "consensus": 100 * score.boundaries.consensus,
            "agreement": 100 * score.agreement,
            "pixels": 100 * score.pixels.orphan,
            "maps": float(sum(score.annotators)),
        },
        interval=(100 * low, 100 * high),
        images=len(score.images),
        failed=sum(failure.system == name for failure in grid.failures),
    )


def _agreed(tally: StrengthTally) -> float:
    """Of a person's pixels, the share that another person drew too; NaN with one annotator or nothing drawn."""
    drawn = int(np.trace(tally.agreed))
    pairs = drawn * (len(tally.agreed) - 1)
    return (int(tally.agreed.sum()) - drawn) / pairs if pairs else NAN


def _figures(score: LabelScore, agreed: Mapping[str, float], of: str) -> tuple[Figure, ...]:
    """The charts of one data set; ``of`` names it where it is not the first."""
    ending, told = (f"-{of}", f", {of}") if of else ("", "")
    figures = [
        Figure(
            f"shares{ending}",
            f"How strong the labels are{told}",
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
                f"images{ending}",
                f"Agreement, image by image{told}",
                "The share of a person's pixels that another person drew too, a mark for each image.",
                lambda hover: charts_audit.image_agreement_chart(known),
                fluid=False,
            )
        )
    matrix = score.matrix
    if matrix is not None and len(matrix) > 1:
        figures.append(
            Figure(
                f"agreement{ending}",
                f"Who agrees with whom{told}",
                "The share of what one annotator drew that another one drew too, for each pair.",
                lambda hover: charts_audit.agreement_chart(matrix),
                fluid=False,
            )
        )
    return tuple(figures)


def _look(names: list[str], tolerance: float, inverted: bool) -> Any:
    def look(image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        size: list[int] = []
        systems: list[dict[str, Any]] = []
        for name in names:
            if name not in cells:
                systems.append({"missing": "these labels do not have this image"})
                continue
            people = strengths(read_boundary_truths(cells[name].truths, inverted=inverted), tolerance)
            size = size or [*people.drawn_by[0].shape[::-1]]
            systems.append(_shown(people))
        shared: dict[str, Any] = {}
        if (picture := picture_of(cells)) is not None:
            shared["photo"] = layers.photograph(read_image(picture))
        return {"size": size, "shared": shared, "systems": systems}

    return look


def _shown(people: Strengths) -> dict[str, Any]:
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
