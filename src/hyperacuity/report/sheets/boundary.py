"""The boundary benchmark in a report: leaderboard, charts, findings, and overlays that follow the threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary import (
    BoundaryScore,
    BoundaryTally,
    HumanScore,
    Protocol,
    Suppression,
    collect,
    collect_humans,
    overlays,
    resampled_scores,
    tally_humans,
    tolerance_in_pixels,
)
from hyperacuity.boundary.scores import f_measure, recall_precision
from hyperacuity.compare.significance import Pairwise, pairwise_of_samples
from hyperacuity.data import read_boundary_truths, read_image, read_segmentations, read_soft
from hyperacuity.errors import InputError, UsageError
from hyperacuity.maps import EdgeMap
from hyperacuity.report import theme
from hyperacuity.report.charts import boundary as charts_boundary
from hyperacuity.report.pictures import layers, slider
from hyperacuity.report.sheets.sheet import (
    Column,
    Each,
    Figure,
    Layer,
    Line,
    Sheet,
    Viewer,
    enough_weights,
    lead,
    picture_of,
    ranked,
    told_chance,
)
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid

COLUMNS = (
    Column("ods", "ODS", note="Best F at one threshold for all images"),
    Column("ois", "OIS", note="F with the best threshold for each image"),
    Column("ap", "AP", note="Average precision: area under precision over recall"),
    Column("r50", "R50", note="Recall at a precision of one half", better=""),
    Column("threshold", "threshold", note="The threshold of ODS", better="", digits=2),
)

LAYERS = (
    Layer("match", "Match", "Hits, false alarms and misses at the threshold"),
    Layer("prediction", "Prediction", "The soft map as the system gave it; dark is strong"),
    Layer("truth", "Truth", "What people drew; the darker, the more of them agree"),
    Layer("photo", "Photograph"),
)

LEGEND = (
    ("hit", theme.HIT, "hit", "detected, and matched with what somebody drew"),
    ("false", theme.FALSE, "false alarm", "detected, but matched with nothing that anybody drew"),
    ("miss", theme.MISS, "miss", "drawn by somebody, but not detected"),
)


def sheet(grid: Grid, each: Each) -> Sheet:
    """The boundary part of a report. ``each(title, function, items)`` maps a function over items, with progress."""
    protocol, inverted = protocol_of(grid), bool(grid.options.get("inverted", False))
    tallies = grid.tallies(BoundaryTally)
    scores = {system: collect(images, protocol) for system, images in tallies.items()}
    people = _people(grid, protocol, inverted, each)
    tested = tested_ods(tallies, grid.shared_images(), protocol)
    lines = ranked(COLUMNS, [_line(grid, system, score) for system, score in scores.items()], tested)
    ordered = {line.system: scores[line.system] for line in lines}
    return Sheet(
        title="Boundaries",
        grid=grid,
        columns=COLUMNS,
        lines=lines,
        figures=_figures(ordered, people) if ordered else (),
        findings=tuple(_findings(lines, ordered, people, tested, list(scores))),
        image_score=Column("f", "best F", note="F at the image's own best threshold"),
        image_scores=image_scores_of(ordered),
        viewer=Viewer(LAYERS, LEGEND, Look(protocol, inverted, ordered, tallies)),
    )


def protocol_of(grid: Grid) -> Protocol:
    """The protocol that the run recorded. A run that does not say, or says something else than its signature, is refused."""
    told = grid.options.get("protocol")
    if not isinstance(told, Mapping):
        raise UsageError(f"the run of {grid.signature} does not say how it was set up: run it again to report it")
    protocol = protocol_as_told(told)
    if grid.signature.replace("|truth:inverted", "") != protocol.signature:
        raise UsageError(f"the run says {grid.signature}, but was set up as {protocol.signature}")
    return protocol


def protocol_as_told(told: Mapping[str, Any]) -> Protocol:
    """A protocol from the JSON that a run keeps of it."""
    nms, thresholds = told["nms"], told["thresholds"]
    return Protocol(
        tolerance=told["tolerance"],
        thin=told["thin"],
        thresholds=tuple(thresholds) if isinstance(thresholds, list) else thresholds,
        nms=None if nms is None else Suppression(**nms),
        precision=told["precision"],
    )


def _line(grid: Grid, system: str, score: BoundaryScore) -> Line:
    return Line(
        system,
        {
            "ods": score.ods.f,
            "ois": score.ois.f,
            "ap": score.ap,
            "r50": score.r50,
            "threshold": score.ods.threshold,
        },
        interval=score.ods.interval,
        images=len(score.images),
        failed=sum(failure.system == system for failure in grid.failures),
    )


def tested_ods(
    tallies: Mapping[str, Mapping[str, BoundaryTally]], shared: list[str], protocol: Protocol
) -> Pairwise | None:
    """Paired bootstrap of ODS for all pairs of systems, on the images that all have."""
    if len(tallies) < 2 or len(shared) < 2:
        return None
    columns = [[images[name] for name in shared] for images in tallies.values()]

    def ods(weights: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.stack([resampled_scores(column, weights, protocol)["ods"] for column in columns], axis=1)

    observed = ods(np.ones((1, len(shared)), np.int64))[0]
    samples = np.concatenate([ods(weights) for weights in enough_weights(len(shared), len(tallies))])
    return pairwise_of_samples(samples, observed[:, None] - observed[None])


def _people(grid: Grid, protocol: Protocol, inverted: bool, each: Each) -> HumanScore:
    """People against each other, on the images whose truths can still be read and have two annotators or more."""
    truths = {cell.truths: None for cells in grid.cells.values() for cell in cells.values()}

    def one(paths: tuple[Any, ...]) -> BoundaryTally | None:
        try:
            drawn = read_boundary_truths(paths, inverted=inverted)
            return tally_humans(drawn, protocol) if len(drawn) > 1 else None
        except InputError:
            return None

    found = [tally for tally in each("people", one, list(truths)) if tally is not None]
    return collect_humans(found, protocol)


def image_scores_of(scores: Mapping[str, BoundaryScore]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for system, score in scores.items():
        for image, point in zip(score.images, score.per_image, strict=True):
            found.setdefault(image, {})[system] = point.f
    return found


def _figures(scores: Mapping[str, BoundaryScore], people: HumanScore) -> tuple[Figure, ...]:
    best = next(iter(scores))
    figures = [
        Figure(
            "precision-recall",
            "Precision over recall",
            f"Precision–recall curves of {len(scores)} systems. {best} has the best point, F = {scores[best].ods.f:.3f}. "
            "The leaderboard holds the same numbers.",
            lambda hover: charts_boundary.precision_recall(
                scores, human=people.point if people.images else None, hover=hover
            ),
        ),
        Figure(
            "f-over-threshold",
            "F over the threshold",
            "F at every threshold for each system; the mark is the best one, ODS.",
            lambda hover: charts_boundary.f_over_threshold(scores, hover=hover),
        ),
    ]
    if any(len(score.images) > 1 for score in scores.values()):
        figures.append(
            Figure(
                "images",
                "Image by image",
                "The best F of every image, a row for each system; the tall mark is the median.",
                lambda hover: charts_boundary.scatter_of_images(scores),
            )
        )
    return tuple(figures)


def _findings(
    lines: tuple[Line, ...],
    scores: Mapping[str, BoundaryScore],
    people: HumanScore,
    tested: Pairwise | None,
    order: list[str],
) -> list[str]:
    if not lines:
        return ["No image could be evaluated."]
    first = lines[0]
    low, high = first.interval
    within = f" (95 % interval {low:.3f} to {high:.3f})" if not math.isnan(low) else ""
    told = f"{first.system} reaches ODS {first.values['ods']:.3f}{within}"
    if len(lines) > 1:
        second = lines[1]
        ahead = lead(first, second, COLUMNS[0])
        if tested is None or first.values == second.values:
            told += f", {ahead}"
        else:
            p = float(tested.corrected[order.index(first.system), order.index(second.system)])
            told += f", {ahead}{told_chance(p, len(lines))}"
    findings = [told + "."]
    if people.images and not math.isnan(people.point.f):
        gap = people.point.f - first.values["ods"]
        findings.append(
            f"People, held against each other on the same images, reach F {people.point.f:.3f}: "
            + (f"{gap:.3f} above the best system." if gap > 0 else f"{-gap:.3f} below the best system.")
        )
    else:
        gain = first.values["ois"] - first.values["ods"]
        findings.append(f"Choosing the threshold for each image would give {first.system} {gain:.3f} more (OIS).")
    findings += _about_images(scores)
    return findings


def _about_images(scores: Mapping[str, BoundaryScore]) -> list[str]:
    found = {image: of for image, of in image_scores_of(scores).items() if len(of) == len(scores)}
    if len(found) < 2:
        return []
    hardest = min(found, key=lambda image: max(found[image].values()))
    told = f"The hardest image is {hardest}, where no system gets beyond F {max(found[hardest].values()):.2f}"
    if len(scores) > 1:
        split = max(found, key=lambda image: max(found[image].values()) - min(found[image].values()))
        least, most = min(found[split].values()), max(found[split].values())
        told += f"; systems differ most on {split}, from {least:.2f} to {most:.2f}"
    return [told + "."]


class Look:
    """Makes the pictures of one image, for all systems: how they match what :meth:`judged_by` keeps of the labels."""

    def __init__(
        self,
        protocol: Protocol,
        inverted: bool,
        scores: Mapping[str, BoundaryScore],
        tallies: Mapping[str, Mapping[str, BoundaryTally]],
    ) -> None:
        self.protocol, self.inverted, self.scores, self.tallies = protocol, inverted, scores, tallies
        self.images = len({image for images in tallies.values() for image in images})

    def __call__(self, image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        some = next(iter(cells.values()))
        truths = read_boundary_truths(some.truths, inverted=self.inverted)
        height, width = truths[0].shape
        shared: dict[str, Any] = {}
        near = tolerance_in_pixels(truths[0].shape, self.protocol.tolerance)
        shared["truth"] = layers.strength(layers.agreement(truths, near), len(truths))
        if (picture := picture_of(cells)) is not None:
            shared["photo"] = layers.photograph(read_image(picture))
        systems: list[dict[str, Any]] = []
        judged_by = self.judged_by(truths)
        room = slider.Room(images=self.images, systems=len(self.scores), taken=slider.letters(shared))
        for system in self.scores:
            try:
                systems.append(self._system(system, image, cells[system], judged_by, room))
            except KeyError:
                systems.append({"missing": "this system was not run on this image"})
            except InputError as error:
                systems.append({"missing": str(error)})
            room.take(slider.letters(systems[-1]))
        return {"size": [width, height], "shared": shared, "systems": systems}

    def judged_by(self, truths: list[EdgeMap]) -> list[EdgeMap]:
        """The labels that systems are matched with: all of them."""
        return truths

    def _system(self, system: str, image: str, cell: Cell, truths: list[EdgeMap], room: slider.Room) -> dict[str, Any]:
        counts = self.tallies[system].get(image)
        if counts is None:
            return {"missing": "this image failed"}
        stack = self.protocol.thresholds == "levels"
        prediction: Any = read_segmentations([cell.prediction]) if stack else read_soft(cell.prediction)
        made: dict[str, Any] = {} if stack else {"prediction": layers.soft_picture(prediction)}
        recall, precision = recall_precision(counts, self.protocol.precision)
        curve, ods = self.scores[system].curve, self.scores[system].ods
        best = int(np.argmin(np.abs(curve.threshold - ods.threshold)))
        match, kept = slider.fitted(
            overlays(prediction, truths, self.protocol),
            closeness=curve.f / (curve.f.max() or 1),
            best=best,
            room=room.share(slider.letters(made)),
        )
        return made | {
            "match": match,
            "steps": [round(float(curve.threshold[place]), 4) for place in kept],
            "of": curve.f.size,
            "start": kept.index(best),
            "numbers": {
                "precision": np.round(precision[kept], 3).tolist(),
                "recall": np.round(recall[kept], 3).tolist(),
                "F": np.round(f_measure(recall, precision)[kept], 3).tolist(),
            },
        }
