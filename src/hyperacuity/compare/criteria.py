"""From the tallies of any task to a table: which numbers a task is judged by, and in which sense.

Scores of a data set are functions of how often each image counts, so that the same function gives the score on the data set,
on each image alone (a data set of one) and on every resample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.compare.table import Scores, Table, VectorMode
from hyperacuity.errors import InputError, UsageError
from hyperacuity.resampling import resample
from hyperacuity.tally import Tally, stack

Weights = NDArray[np.int64]


@dataclass(frozen=True)
class Criteria:
    """What a task is judged by.

    ``rescore(tallies, weights)`` gives the scores of one system, resamples × criteria. ``usual`` are the criteria to compare
    by unless told otherwise, and ``vector`` is whether each image is a component of its own.
    """

    tally_type: type[Tally]
    names: tuple[str, ...]
    senses: tuple[str, ...]
    rescore: Callable[[Sequence[Any], Weights], Scores]
    usual: tuple[str, ...]
    vector: VectorMode = "mean"


def criteria(signature: str, options: Mapping[str, Any]) -> Criteria:
    """The criteria of the task that a signature names; ``options`` says how its job was set up (``protocol`` and others)."""
    task = signature.partition("|")[0]
    makers = {
        "boundary": _boundary,
        "disparity": _disparity,
        "edges": _edges,
        "ordering": _ordering,
        "regions": _regions,
        "views": _views,
    }
    if task not in makers:
        raise UsageError(f"runs of {task} cannot be compared; expected one of {', '.join(makers)}")
    try:
        return makers[task](dict(options.get("protocol", {})))
    except TypeError as error:
        raise InputError(f"the run of {signature} was written by another version of this package") from error


def table_of(signature: str, tallies: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any]) -> Table:
    """The scores of systems on the images they share. ``tallies`` is system → image → tally."""
    judged = criteria(signature, options)
    systems = {name: images for name, images in tallies.items() if images}
    if not systems:
        raise UsageError(f"the runs of {signature} hold no tally: there is nothing to compare")
    first, *others = systems.values()
    shared = [image for image in first if all(image in images for images in others)]
    if not shared:
        raise UsageError(f"the systems {', '.join(systems)} have no image in common: there is nothing to compare")
    columns = [[images[image] for image in shared] for images in systems.values()]

    def rescore(weights: Weights) -> Scores:
        return np.stack([judged.rescore(column, weights) for column in columns], axis=1)

    alone = rescore(np.eye(len(shared), dtype=np.int64))
    return Table(
        tuple(systems), tuple(shared), judged.names, judged.senses, alone.transpose(1, 0, 2).copy(), signature, rescore
    )


def join(tables: Sequence[Table]) -> Table:
    """Criteria of several protocols side by side, for the systems and images that all tables have.

    DisparityTally against a truth and errors of predicted views can so stand in one vector. Names must differ.
    """
    first, *others = tables
    if not others:
        return first
    systems = tuple(name for name in first.systems if all(name in other.systems for other in others))
    images = tuple(name for name in first.images if all(name in other.images for other in others))
    if not systems or not images:
        raise UsageError(f"{' and '.join(table.signature for table in tables)} share no system and image")
    parts = [table.select(systems=systems, images=images) for table in tables]

    def rescore(weights: Weights) -> Scores:
        return np.concatenate([part.resampled(weights) for part in parts], axis=2)

    return Table(
        systems,
        images,
        tuple(name for part in parts for name in part.criteria),
        tuple(sense for part in parts for sense in part.senses),
        np.concatenate([part.values for part in parts], axis=2),
        " + ".join(part.signature for part in parts),
        rescore,
    )


def _weighted_mean(values: Scores, weights: Weights) -> Scores:
    """Means over images of images × criteria, NaN left out; resamples × criteria."""
    known = ~np.isnan(values)
    sums = resample(weights, np.where(known, values, 0.0))
    counts = resample(weights, known)
    mean: Scores = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return mean


def _disparity(options: dict[str, Any]) -> Criteria:
    from hyperacuity.disparity import DisparityTally, Protocol, measured, sense

    listed: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    protocol = Protocol(**listed)
    bad = f"bad({1 if 1 in protocol.deltas else protocol.deltas[0]:g})"

    def rescore(tallies: Sequence[DisparityTally], weights: Weights) -> Scores:
        return _weighted_mean(np.array([measured(one, protocol).ravel() for one in tallies]), weights)

    return Criteria(
        DisparityTally,
        tuple(f"{measure} {region}" for region in protocol.regions for measure in protocol.measures),
        tuple(sense(measure) for _ in protocol.regions for measure in protocol.measures),
        rescore,
        tuple(f"{bad} {region}" for region in protocol.regions),
        "concat",
    )


def _views(options: dict[str, Any]) -> Criteria:
    from hyperacuity.disparity import ViewTally, measured_views
    from hyperacuity.disparity.view_benchmark import MEASURES, SENSES, WAYS

    def rescore(tallies: Sequence[ViewTally], weights: Weights) -> Scores:
        return _weighted_mean(np.array([measured_views(one).ravel() for one in tallies]), weights)

    return Criteria(
        ViewTally,
        tuple(f"{measure} {way}" for way in WAYS for measure in MEASURES),
        tuple(SENSES[measure] for _ in WAYS for measure in MEASURES),
        rescore,
        tuple(f"rmse {way}" for way in WAYS),
        "concat",
    )


def _boundary(options: dict[str, Any]) -> Criteria:
    from hyperacuity.boundary import BoundaryTally, Protocol
    from hyperacuity.boundary.scores import average_precision, recall_precision, resampled_scores

    protocol = Protocol(precision=options.get("precision", "any"))

    def rescore(tallies: Sequence[BoundaryTally], weights: Weights) -> Scores:
        found = resampled_scores(tallies, weights, protocol)
        fields = [resample(weights, stack(tallies, name)) for name in BoundaryTally.__dataclass_fields__]
        curves = (recall_precision(BoundaryTally(*counts), protocol.precision) for counts in zip(*fields, strict=True))
        area = [average_precision(*curve) for curve in curves]
        return np.column_stack([found["ods"], found["ois"], area])

    return Criteria(BoundaryTally, ("ods", "ois", "ap"), ("max",) * 3, rescore, ("ods", "ois", "ap"))


def _edges(options: dict[str, Any]) -> Criteria:
    from hyperacuity.edges import EdgeTally, Protocol

    names = tuple(options.get("names", Protocol().names))

    def rescore(tallies: Sequence[EdgeTally], weights: Weights) -> Scores:
        sums, counts = resample(weights, stack(tallies, "minimum")), resample(weights, stack(tallies, "images"))
        mean: Scores = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        return mean

    return Criteria(EdgeTally, names, ("min",) * len(names), rescore, names)


def _regions(options: dict[str, Any]) -> Criteria:
    from hyperacuity.regions import RegionTally

    def rescore(tallies: Sequence[RegionTally], weights: Weights) -> Scores:
        images = np.maximum(weights.sum(axis=1), 1)[:, None]
        areas = np.maximum(resample(weights, stack(tallies, "truth_area")), 1)[:, None]
        covering = resample(weights, stack(tallies, "covered")) / areas
        rand, variation = (resample(weights, stack(tallies, name)) / images for name in ("rand", "variation"))
        return np.column_stack([covering.max(axis=1), rand.max(axis=1), variation.min(axis=1)])

    names = ("covering", "pri", "vi")
    return Criteria(RegionTally, names, ("max", "max", "min"), rescore, names)


def _ordering(options: dict[str, Any]) -> Criteria:
    from hyperacuity.ordering import OrderingTally, Protocol, resampled_scores

    protocol = Protocol(**options)
    names = ("ldc-ori", "gdc-ori", "racc", "bacc", "bacc50", "bacc25")

    def rescore(tallies: Sequence[OrderingTally], weights: Weights) -> Scores:
        found = resampled_scores(tallies, weights, protocol)
        return np.column_stack([found[name] for name in names])

    return Criteria(OrderingTally, names, ("max",) * len(names), rescore, ("racc", "bacc", "ldc-ori"))
