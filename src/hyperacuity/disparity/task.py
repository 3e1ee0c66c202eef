"""Disparity errors as a task, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperacuity.columns import Column, Columns, Lines
from hyperacuity.disparity.benchmark import DisparityScore, DisparityTally, Protocol, collect, criteria, tally, unit
from hyperacuity.disparity.view_benchmark import ViewScore
from hyperacuity.tasks import Task

REGIONS = {
    "nonocc": "where both pictures show the surface",
    "all": "all pixels with a known truth",
    "disc": "near depth discontinuities",
    "untextured": "where the picture has no texture",
}
MEANINGS = {
    "epe": "Mean error in pixels",
    "rms": "Root of the mean squared error",
    "density": "Share of pixels that have an estimate",
}


def columns(protocol: Protocol) -> Columns:
    """Bad pixels in every region, then further measures in the first; a terminal has all measures in all regions."""
    judged = criteria(protocol)
    first, *others = protocol.measures
    further = (f"{measure} {protocol.regions[0]}" for measure in ("epe", "rms", "density"))
    shown = list(dict.fromkeys([*judged.usual, *further]))
    senses = dict(zip(judged.names, judged.senses, strict=True))
    every = {key: _column(key, senses[key], interval=key.startswith(f"{first} ")) for key in (*shown, *judged.names)}
    return Columns(
        tuple(every[key] for key in shown),
        tuple(column for key, column in every.items() if key not in shown),
        Lines(
            "region",
            tuple(f"{measure} {unit(measure)}" for measure in (first, *others)),
            {region: tuple(f"{measure} {region}" for measure in (first, *others)) for region in protocol.regions},
        ),
        as_dict=by_image,
        constants={"units": {name: unit(name) for name in protocol.measures}},
        counted="mean over scenes",
    )


def _column(key: str, better: str, *, interval: bool) -> Column:
    """A column such as ``bad(1) nonocc``, with its meaning."""
    measure, _, region = key.rpartition(" ")
    bad = f"Share of pixels that are off by more than {measure[4:-1]} px" if measure.startswith("bad(") else measure
    where = REGIONS.get(region, f"in the region {region}")
    note = f"{MEANINGS.get(measure, bad)}, {where}"

    def of(cells: Mapping[str, Any]) -> Any:
        return cells[region][measure]

    return Column(
        key,
        key,
        better,
        2,
        note,
        unit(measure),
        value=lambda score: of(score.named(score.mean)),
        interval=(lambda score: of(score.named(score.interval))) if interval else False,
        screen_digits=2,
    )


def by_image(score: DisparityScore | ViewScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A system's values by image, their means, and the intervals of these."""
    return {
        "images": {image: score.named(of) for image, of in zip(score.images, score.values, strict=True)},
        "mean": score.named(score.mean),
        "interval": score.named(score.interval),
    }


TASK: Task[Protocol, DisparityTally, DisparityScore] = Task(
    "disparity",
    "Disparity",
    Protocol,
    DisparityTally,
    tally,
    collect,
    criteria,
    kind="disparity",
    references=("scharstein2002", "cabezas2011"),
    examples=lambda scene: [(scene.disparity, scene.disparity, {})],
    columns=columns,
)
