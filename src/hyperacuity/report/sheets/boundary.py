"""The boundary benchmark in a report: leaderboard, charts, findings, and overlays that follow the threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
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
from hyperacuity.boundary.scores import Point
from hyperacuity.columns import Column
from hyperacuity.evaluation.suppression import OTHER_WAY, order_sentence, thick_warnings, treatments
from hyperacuity.maps import EdgeMap
from hyperacuity.report.charts import boundary as charts
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.slider import Budget, numbers_of, with_slider
from hyperacuity.report.sheets.engine import Judged, TaskSheet
from hyperacuity.report.sheets.sheet import Figure, leader
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer, legend
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid, gather

Scores = Mapping[str, BoundaryScore]


def _order_note(grid: Grid, scores: Scores) -> str:
    """Say whether the order depends on suppression, if the runs tried it."""
    other: dict[str, float] = {}
    treated = {name: grid.protocol.for_system(name).nms for name in scores}
    for origin in grid.origins:
        folder = origin.folder / OTHER_WAY
        for tried in gather([folder]) if folder.is_dir() else ():
            as_here = replace(tried.protocol, nms=grid.protocol.nms, nms_of=grid.protocol.nms_of)
            tallies = tried.tallies() if as_here == grid.protocol else {}
            for name in tallies:  # a run may have been made both ways: only what was treated otherwise counts
                if name in scores and tried.protocol.for_system(name).nms != treated[name]:
                    other[name] = collect(tallies[name], resamples=0).ods.f
    suppressed = {name: nms is not None for name, nms in treated.items()}
    return order_sentence({name: score.ods.f for name, score in scores.items()}, other, suppressed)


def _notes(judged: Judged) -> list[str]:
    treated = (treatments(judged.grid.protocol), _order_note(judged.grid, judged.scores))
    return [*thick_warnings(judged.scores), *filter(None, treated)]


def _figures(judged: Judged) -> Iterator[Figure]:
    scores: Scores = judged.scores
    yield from curve_figures(
        scores, judged.people.point if judged.people is not None and judged.people.images else None
    )
    if any(len(score.images) > 1 for score in scores.values()):
        words = "The best F of every image, a row for each system; the tall mark is the median."
        yield Figure("images", "Image by image", words, lambda hover: charts.scatter_of_images(scores), fluid=True)


def curve_figures(scores: Scores, human: Point | None = None) -> Iterator[Figure]:
    """Precision over recall, and F over the threshold."""
    best = next(iter(scores))
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


def _findings(judged: Judged) -> list[str]:
    """Sentences on the leader, on people or a threshold for each image, and on the hardest image."""
    first, people, images = judged.lines[0], judged.people, judged.image_scores
    if people is not None and people.images and not math.isnan(people.point.f):
        gap = people.point.f - first.number("ods")
        second = f"People, compared with each other on the same images, reach F {people.point.f:.3f}: " + (
            f"{gap:.3f} above the best system." if gap > 0 else f"{-gap:.3f} below the best system."
        )
    else:
        gain = first.number("ois") - first.number("ods")
        second = f"Choosing the threshold for each image would give {first.system} {gain:.3f} more (OIS)."
    sentences = [leader(judged.lines, judged.main), second]
    shared = {image: of for image, of in images.items() if len(of) == len(judged.lines)}
    if len(shared) < 2:
        return sentences
    hardest = min(shared, key=lambda image: max(shared[image].values()))
    text = f"The hardest image is {hardest}, where no system gets beyond F {max(shared[hardest].values()):.2f}"
    if len(judged.lines) > 1:
        split = max(shared, key=lambda image: max(shared[image].values()) - min(shared[image].values()))
        least, most = min(shared[split].values()), max(shared[split].values())
        text += f"; systems differ most on {split}, from {least:.2f} to {most:.2f}"
    return [*sentences, f"{text}."]


class BoundaryViewer(Viewer):
    """Matches of systems with the labels that :meth:`judged_by` keeps, at every threshold of the benchmark."""

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
    )
    note = (
        "Numbers are of this image at the threshold shown; the F below its thumbnail is at the image's own best threshold. "
        "With several annotators, recall counts the pixels of each by themselves, the picture what any of them drew."
    )

    @property
    def benchmark(self) -> Protocol:
        """The boundary benchmark by which labels are matched."""
        protocol: Protocol = self.grid.protocol
        return protocol

    def tally_of(self, system: str, image: str) -> BoundaryTally:
        """The tally of an image under :attr:`benchmark`."""
        tally: BoundaryTally = self.grid.tally(system, image)
        return tally

    def score_of(self, system: str) -> BoundaryScore:
        """The score of a system under :attr:`benchmark`."""
        score: BoundaryScore = self.scores[system]
        return score

    def judged_by(self, truths: list[EdgeMap]) -> list[EdgeMap]:
        """The labels that systems are matched with: all of them."""
        return truths

    def shared(self, cell: Cell) -> Shared:
        """Lines that people drew."""
        truths = self.reader.truths(cell)
        near = tolerance_in_pixels(truths[0].shape, self.benchmark.tolerance)
        return Shared(truths[0].shape, {"truth": layers.drawn(truths, near)}, self.judged_by(truths))

    def of_system(self, system: str, cell: Cell, truth: list[EdgeMap], budget: Budget) -> dict[str, Any]:
        """A system's map, and its overlay at each threshold."""
        prediction = self.reader.prediction(cell, self.benchmark)
        if self.benchmark.thresholds == "levels":
            made: dict[str, Any] = {"without": {"prediction": "a stack of segmentations is no soft map"}}
        else:
            made = {"prediction": layers.soft_picture(prediction, budget.share() // 2)}
        curve, ods = self.score_of(system).curve, self.score_of(system).ods
        matched = overlays_with_partners(prediction, truth, self.benchmark.for_system(system))
        return with_slider(
            made,
            matched.state,
            curve.threshold,
            numbers_of(self.tally_of(system, cell.image)),
            curve=curve.f,
            best=int(np.argmin(np.abs(curve.threshold - ods.threshold))),
            budget=budget,
            digits=4,
            partners=matched.partners if len(truth) > 1 else None,
        )


SHEET = TaskSheet(
    BoundaryViewer,
    _figures,
    _findings,
    _notes,
    curve_figures,
    image_score=Column("f", "best F", note="F at the image's own best threshold"),
    across_criteria=False,
)
