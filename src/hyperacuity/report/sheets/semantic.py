"""Semantic boundaries in a report: means over classes, the classes as small charts, and overlays class by class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hyperacuity.columns import Column, Scored
from hyperacuity.report.charts import semantic as charts
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.slider import Budget, numbers_of, text_size, with_slider
from hyperacuity.report.sheets.engine import Judged, TaskSheet, by_image
from hyperacuity.report.sheets.sheet import NAN, NOTHING, Figure, leader
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer, legend
from hyperacuity.run import Cell
from hyperacuity.semantic import SemanticScore, SemanticTally, overlays
from hyperacuity.semantic.task import notes

Scores = Mapping[str, SemanticScore]

MOST_ABSENT = 3
"""Classes without truth in an image that the viewer shows, those with the most false alarms."""


def _figures(judged: Judged) -> Iterator[Figure]:
    scores: Scores = judged.scores
    if not _shown(judged):
        return
    yield class_curves_figure(scores)
    yield Figure(
        "class-scores",
        "ODS by class",
        "ODS of every class with its 95 % interval, a mark for each system, the best class on top.",
        lambda hover: charts.class_scores_chart(scores),
        fluid=True,
    )


def class_curves_figure(scores: Scores) -> Figure:
    """Precision over recall of each class."""
    count = len(charts.classes_of(scores))
    return Figure(
        "classes",
        "Precision over recall, class by class",
        f"A small chart for each of {count} classes, with a curve per system and its best point; the number below the class is "
        "the best ODS. The chart beside it holds the same numbers.",
        lambda hover: charts.class_curves_chart(scores, hover=hover),
    )


def _shown(judged: Judged) -> bool:
    """True if a system has a score of any class."""
    return any(score.classes for score in judged.scores.values())


def _findings(judged: Judged) -> list[str]:
    """Sentences on the leader, and on its best and worst classes."""
    if not _shown(judged):
        return [NOTHING]
    lines, scores = judged.lines, judged.scores
    first = lines[0].system
    sentences = [leader(lines, judged.main)]
    classes = sorted(scores[first].classes.values(), key=lambda one: -one.ods.f)
    if len(classes) > 1:
        best, worst = classes[0], classes[-1]
        sentences.append(
            f"{first} finds {best.name} best (ODS {best.ods.f:.3f}) and {worst.name} worst ({worst.ods.f:.3f})."
        )
    if len(lines) > 1:
        second = scores[lines[1].system].classes
        behind = [one.name for one in classes if one.name in second and second[one.name].ods.f > one.ods.f]
        if behind:
            sentences.append(f"{lines[1].system} is ahead of it on {charts.names_in_order(behind)}.")
    return sentences


def _notes(judged: Judged) -> list[str]:
    return [
        f"{note[0].upper()}{note[1:]}." if not note.startswith(tuple(judged.scores)) else f"{note}."
        for note in notes(Scored(judged.grid.protocol, judged.scores))
    ]


def _image_scores(judged: Judged) -> dict[str, dict[str, float]]:
    """The mean over its classes of an image's best F, by image and system."""
    by_system: dict[str, dict[str, float]] = {}
    for system, score in judged.scores.items():
        best: dict[str, list[float]] = {image: [] for image in score.images}
        for one in score.classes.values():
            for image, point in zip(one.images, one.per_image, strict=True):
                best[image].append(point.f)
        by_system[system] = {image: float(np.mean(values)) if values else NAN for image, values in best.items()}
    return by_image(by_system)


class SemanticViewer(Viewer):
    """Matches of a system with the boundaries of each class, at every threshold of the benchmark."""

    layers = (
        Layer("match", "Match", "Hits, false alarms and misses of the class at the threshold"),
        Layer("prediction", "Prediction", "The soft map of the class as the system gave it; dark is strong"),
        Layer("truth", "Truth", "The boundaries of the class"),
        PHOTO,
    )
    legend = legend(
        "detected, and matched with a boundary of the class",
        "detected, but matched with nothing",
        "a boundary of the class, but not detected",
    )
    note = (
        "Numbers are of this class in this image at the threshold shown. Classes that the image shows come first, then those "
        "that it does not show and most is detected of."
    )

    def shared(self, cell: Cell) -> Shared:
        """The boundaries of each class that is of interest."""
        truths = self.reader.truths(cell)
        edges = truths[0].edges(self.protocol)
        border = self.protocol.border
        height, width = (side // 2 if self.protocol.half else side for side in truths[0].size)
        chosen = self._classes(cell.image)
        empty = np.zeros((height - 2 * border, width - 2 * border), np.bool_)
        drawn = {
            name: {"truth": layers.strength(np.pad(edges.get(c, empty), border).astype(np.uint8), 1)}
            for c, name in chosen.items()
        }
        return Shared((height, width), {"kinds": drawn}, (truths, chosen))

    def _classes(self, image: str) -> dict[int, str]:
        """The classes to look at: those of the image, then a few with false alarms; by index, with their name."""
        known = [self.grid.tally(system, image) for system in self.systems]
        tallies: list[SemanticTally] = [one for one in known if isinstance(one, SemanticTally)]
        names = self.protocol.names(tallies[0].truth.size)
        scored = {name for score in self.scores.values() for name in score.classes}
        there = [c for c in np.flatnonzero(tallies[0].truth).tolist() if names[c] in scored]
        false = np.max([one.detected.sum(axis=1) for one in tallies], axis=0)
        absent = [c for c in np.argsort(-false, kind="stable").tolist() if c not in there and false[c]]
        return {c: names[c] for c in (*there, *absent[:MOST_ABSENT])}

    def of_system(self, system: str, cell: Cell, truth: Any, budget: Budget) -> dict[str, Any]:
        """A system's map of each class, and its overlay at each threshold."""
        truths, chosen = truth
        prediction = self.reader.prediction(cell, self.protocol)
        tally: Any = self.grid.tally(system, cell.image)
        room = Budget(images=1, systems=len(chosen))
        room.left = budget.share()
        of_classes: dict[str, Any] = {
            name: {"missing": f"this system has no map of {name} for this image"} for name in chosen.values()
        }
        mapped = {c: name for c, name in chosen.items() if tally.shown[c]}
        pictures = overlays(prediction, truths, self.protocol, list(mapped))
        for (c, name), states in zip(mapped.items(), pictures, strict=True):
            of_classes[name] = self._class(system, name, prediction[c], tally.of_class(c), states, room)
            room.take(text_size(of_classes[name]))
        return {"kinds": of_classes}

    def _class(self, system: str, name: str, soft: Any, counts: Any, states: Any, room: Budget) -> dict[str, Any]:
        levels, score = self.protocol.levels, self.scores[system].classes.get(name)
        curve = np.ones(levels.size) if score is None else score.curve.f
        best = levels.size // 2 if score is None else int(np.argmin(np.abs(levels - score.ods.threshold)))
        border = self.protocol.border
        return with_slider(
            {"prediction": layers.soft_picture(soft, room.share() // 2)},
            np.pad(states, ((0, 0), (border, border), (border, border))),
            levels,
            numbers_of(counts),
            curve=curve,
            best=best,
            budget=room,
            digits=4,
            best_for=name,
        )


SHEET = TaskSheet(
    lambda judged: SemanticViewer(judged) if _shown(judged) else None,
    _figures,
    _findings,
    _notes,
    lambda scores: [class_curves_figure(scores)],
    image_score=Column("f", "best F", note="Mean over the image's classes of F at its own best threshold"),
    image_scores=_image_scores,
    across_criteria=False,
)
