"""Disparity errors as people and programs read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.disparity import DisparityScore, Protocol, unit
from hyperacuity.disparity.benchmark import criteria
from hyperacuity.disparity.view_benchmark import ViewScore
from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import closing, counts, interval, new_table, number, paired

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON: values by image, region and measure, their means, and 95 % intervals of these."""
    measures = result.protocol.measures  # type: ignore[attr-defined]  # it is a disparity protocol
    units = {name: unit(name) for name in measures}
    systems = by_image(result.scores)
    return {"signature": str(result.signature), "systems": systems, "units": units, **paired(result)}


def by_image(scores: Mapping[str, DisparityScore | ViewScore]) -> dict[str, Any]:
    """Each system's values by image, their means, and the intervals of these."""
    return {
        name: {
            "images": {image: score.named(of) for image, of in zip(score.images, score.values, strict=True)},
            "mean": score.named(score.mean),
            "interval": score.named(score.interval),
        }
        for name, score in scores.items()
    }


def columns(protocol: Protocol) -> tuple[Column, ...]:
    """Bad pixels in every region, then further measures in the first."""
    judged = criteria(protocol)
    keys = [*judged.usual, *(f"{measure} {protocol.regions[0]}" for measure in ("epe", "rms", "density"))]
    senses = dict(zip(judged.names, judged.senses, strict=True))
    return tuple(_column(key, senses[key]) for key in keys)


REGIONS = {
    "nonocc": "where both pictures show the surface",
    "all": "wherever the truth is known",
    "disc": "near depth discontinuities",
    "untextured": "where the picture has no texture",
}
MEANINGS = {
    "epe": "Mean error in pixels",
    "rms": "Root of the mean squared error",
    "density": "Share of pixels that have an estimate",
}


def _column(key: str, better: str) -> Column:
    """A column such as ``bad(1) nonocc``, with what it means."""
    measure, _, region = key.rpartition(" ")
    bad = f"Share of pixels that are off by more than {measure[4:-1]} px" if measure.startswith("bad(") else measure
    where = REGIONS.get(region, f"in the region {region}")
    return Column(key, key, better, 2, f"{MEANINGS.get(measure, bad)}, {where}", unit(measure))


def show(result: Result, console: Console) -> None:
    """One line per system and region; the interval is that of the first measure."""
    scores: dict[str, DisparityScore] = result.scores
    first = next(iter(scores.values()))
    main, *others = (f"{measure} {unit(measure)}" for measure in first.measures)
    table = new_table("system", "region", right=(main, "95 % interval", *others))
    for name, score in scores.items():
        for n, (region, row, ends) in enumerate(zip(score.regions, score.mean, score.interval, strict=True)):
            main, *others = (number(value, 2) for value in row)
            table.add_row("" if n else escape(name), region, main, interval(ends[0], 2), *others)
    console.print(table)
    scenes = {name: len(score.images) for name, score in scores.items()}
    closing(result, console, counts(result, scenes, "mean over scenes"))
