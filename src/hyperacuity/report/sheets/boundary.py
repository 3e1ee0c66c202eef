"""The boundary benchmark in a report: leaderboard, charts, findings, and overlays that follow the threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hyperacuity.boundary import (
    BoundaryScore,
    BoundaryTally,
    Protocol,
    collect,
    overlays_with_partners,
    tolerance_in_pixels,
)
from hyperacuity.boundary.human import HumanScore
from hyperacuity.boundary.scores import f_measure, recall_precision
from hyperacuity.evaluation.suppression import OTHER_WAY, order_sentence, thick_warnings, treatments
from hyperacuity.evaluation.tables.boundary import COLUMNS, numbers
from hyperacuity.maps import EdgeMap
from hyperacuity.report.charts import boundary as charts
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.slider import Budget, with_slider
from hyperacuity.report.sheets.sheet import (
    NAN,
    NOTHING,
    Column,
    Each,
    Figure,
    Line,
    Sheet,
    leader,
    leaderboard,
    people_of,
)
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer, legend
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid, gather

Scores = Mapping[str, BoundaryScore]


def sheet(grid: Grid, each: Each) -> Sheet:
    """The boundary part of a report."""
    tallies = grid.tallies()
    scores = {system: collect(tallies[system]) for system in tallies}
    people: HumanScore = people_of(grid, each)
    lines = leaderboard(grid, COLUMNS, [_line(system, score) for system, score in scores.items()])
    ordered = {line.system: scores[line.system] for line in lines}
    return Sheet(
        title=grid.task.title,
        grid=grid,
        columns=COLUMNS,
        lines=lines,
        figures=tuple(_figures(ordered, people)) if ordered else (),
        findings=tuple(_findings(lines, ordered, people)),
        image_score=Column("f", "best F", note="F at the image's own best threshold"),
        image_scores=image_scores_of(ordered),
        viewer=BoundaryViewer(grid, ordered, grid.tally, grid.protocol),
        notes=(*thick_warnings(ordered), *filter(None, [treatments(grid.protocol), _order_note(grid, ordered)])),
        people=people.point.f if people.images else NAN,
    )


def _order_note(grid: Grid, scores: Scores) -> str:
    """Whether the order depends on suppression, where the runs found out."""
    other: dict[str, float] = {}
    treated = {name: grid.protocol.for_system(name).nms for name in scores}
    for origin in grid.origins:
        folder = origin.folder / OTHER_WAY
        for found in gather([folder]) if folder.is_dir() else ():
            as_here = replace(found.protocol, nms=grid.protocol.nms, nms_of=grid.protocol.nms_of)
            tallies = found.tallies() if as_here == grid.protocol else {}
            for name in tallies:  # a run may have been made both ways: only what was treated otherwise counts
                if name in scores and found.protocol.for_system(name).nms != treated[name]:
                    other[name] = collect(tallies[name], resamples=0).ods.f
    suppressed = {name: nms is not None for name, nms in treated.items()}
    return order_sentence({name: score.ods.f for name, score in scores.items()}, other, suppressed)


def _line(system: str, score: BoundaryScore) -> Line:
    return Line(system, numbers(score), score.ods.interval, len(score.images))


def image_scores_of(scores: Scores) -> dict[str, dict[str, float]]:
    """The best F of each image, by image and system."""
    found: dict[str, dict[str, float]] = {}
    for system, score in scores.items():
        for image, point in zip(score.images, score.per_image, strict=True):
            found.setdefault(image, {})[system] = point.f
    return found


def _figures(scores: Scores, people: HumanScore) -> Iterator[Figure]:
    best = next(iter(scores))
    human = people.point if people.images else None
    yield Figure(
        "precision-recall",
        "Precision over recall",
        f"Precision–recall curves of {len(scores)} systems. {best} has the best point, F = {scores[best].ods.f:.3f}. "
        "The leaderboard holds the same numbers.",
        lambda hover: charts.precision_recall(scores, human=human, hover=hover),
        fluid=True,
    )
    yield Figure(
        "f-over-threshold",
        "F over the threshold",
        "F at every threshold for each system; the mark is the best one, ODS.",
        lambda hover: charts.f_over_threshold(scores, hover=hover),
        fluid=True,
    )
    if any(len(score.images) > 1 for score in scores.values()):
        words = "The best F of every image, a row for each system; the tall mark is the median."
        yield Figure("images", "Image by image", words, lambda hover: charts.scatter_of_images(scores), fluid=True)


def _findings(lines: tuple[Line, ...], scores: Scores, people: HumanScore) -> list[str]:
    if not lines:
        return [NOTHING]
    first = lines[0]
    if people.images and not math.isnan(people.point.f):
        gap = people.point.f - first.values["ods"]
        second = f"People, compared with each other on the same images, reach F {people.point.f:.3f}: " + (
            f"{gap:.3f} above the best system." if gap > 0 else f"{-gap:.3f} below the best system."
        )
    else:
        gain = first.values["ois"] - first.values["ods"]
        second = f"Choosing the threshold for each image would give {first.system} {gain:.3f} more (OIS)."
    return [leader(lines, COLUMNS[0]), second, *_about_images(scores)]


def _about_images(scores: Scores) -> list[str]:
    found = {image: of for image, of in image_scores_of(scores).items() if len(of) == len(scores)}
    if len(found) < 2:
        return []
    hardest = min(found, key=lambda image: max(found[image].values()))
    text = f"The hardest image is {hardest}, where no system gets beyond F {max(found[hardest].values()):.2f}"
    if len(scores) > 1:
        split = max(found, key=lambda image: max(found[image].values()) - min(found[image].values()))
        least, most = min(found[split].values()), max(found[split].values())
        text += f"; systems differ most on {split}, from {least:.2f} to {most:.2f}"
    return [text + "."]


class BoundaryViewer(Viewer):
    """How systems match what :meth:`judged_by` keeps of the labels, at every threshold of the benchmark."""

    layers = (
        Layer("match", "Match", "Hits, false alarms and misses at the threshold"),
        Layer("prediction", "Prediction", "The soft map as the system gave it; dark is strong"),
        Layer("truth", "Truth", "What people drew; the darker, the more of them agree"),
        PHOTO,
    )
    legend = legend(
        "detected, and matched with what somebody drew",
        "detected, but matched with nothing that anybody drew",
        "drawn by somebody, but not detected",
        names=("hit", "false alarm", "miss"),
    )
    note = (
        "Numbers are of this image at the threshold shown; the F below its thumbnail is at the image's own best threshold. "
        "With several annotators, recall counts the pixels of each by themselves, the picture what any of them drew."
    )

    def __init__(
        self, grid: Grid, scores: Scores, tally_of: Callable[[str, str], BoundaryTally], benchmark: Protocol
    ) -> None:
        super().__init__(grid, list(scores))
        self.scores, self.tally_of, self.benchmark = scores, tally_of, benchmark

    def judged_by(self, truths: list[EdgeMap]) -> list[EdgeMap]:
        """The labels that systems are matched with: all of them."""
        return truths

    def shared(self, cell: Cell) -> Shared:
        """What people drew."""
        truths = self.reader.truths(cell)
        near = tolerance_in_pixels(truths[0].shape, self.benchmark.tolerance)
        return Shared(truths[0].shape, {"truth": layers.drawn(truths, near)}, self.judged_by(truths))

    def own(self, system: str, cell: Cell, truth: list[EdgeMap], budget: Budget) -> dict[str, Any]:
        """A system's map, and its overlay at each threshold."""
        prediction = self.reader.prediction(cell, self.benchmark)
        if self.benchmark.thresholds == "levels":
            made: dict[str, Any] = {"without": {"prediction": "a stack of segmentations is no soft map"}}
        else:
            made = {"prediction": layers.soft_picture(prediction, budget.share() // 2)}
        recall, precision = recall_precision(self.tally_of(system, cell.image))
        curve, ods = self.scores[system].curve, self.scores[system].ods
        numbers = {"precision": precision, "recall": recall, "F": f_measure(recall, precision)}
        found = overlays_with_partners(prediction, truth, self.benchmark.for_system(system))
        return with_slider(
            made,
            found.state,
            curve.threshold,
            {name: np.round(values, 3).tolist() for name, values in numbers.items()},
            closeness=curve.f / (curve.f.max() or 1),
            best=int(np.argmin(np.abs(curve.threshold - ods.threshold))),
            budget=budget,
            digits=4,
            partners=found.partners if len(truth) > 1 else None,
        )


def curves(scores: Mapping[str, Any]) -> Iterator[Figure]:
    """The curves of a leaderboard."""
    from hyperacuity.report.charts import boundary as charts

    best = next(iter(scores))
    yield Figure(
        "precision-recall",
        "Precision over recall",
        f"Precision–recall curves of {len(scores)} systems. {best} has the best point, F = {scores[best].ods.f:.3f}. "
        "The leaderboard holds the same numbers.",
        lambda hover: charts.precision_recall(scores, hover=hover),
        fluid=True,
    )
    yield Figure(
        "f-over-threshold",
        "F over the threshold",
        "F at every threshold for each system; the mark is the best one, ODS.",
        lambda hover: charts.f_over_threshold(scores, hover=hover),
        fluid=True,
    )
