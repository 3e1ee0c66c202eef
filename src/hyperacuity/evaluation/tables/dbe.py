"""Depth boundary errors as people and programs read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import closing, count, interval, new_table, number, paired
from hyperacuity.ordering import DepthEdgeScore
from hyperacuity.ordering.dbe.benchmark import MEASURES

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

COLUMNS = (
    Column("accuracy", "accuracy", "min", 2, "Mean distance of the predicted edges that are near a true one", "px"),
    Column("completeness", "completeness", "min", 2, "Mean distance of all edges, either way, cut off", "px"),
)


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON."""
    scores: Mapping[str, DepthEdgeScore] = result.scores
    return {
        "signature": str(result.signature),
        "images": len(result.images),
        "systems": {name: _system(score) for name, score in scores.items()},
        **paired(result),
    }


def _system(score: DepthEdgeScore) -> dict[str, Any]:
    return {
        "images": len(score.images),
        **_named(score.mean.tolist()),
        "intervals": _named(score.interval.tolist()),
        "per_image": {image: _named(values) for image, values in zip(score.images, score.values.tolist(), strict=True)},
    }


def _named(values: Any) -> dict[str, Any]:
    return dict(zip(MEASURES, values, strict=True))


def show(result: Result, console: Console) -> None:
    """The result as a table, the best system first."""
    scores: Mapping[str, DepthEdgeScore] = result.scores
    table = new_table("system", right=("images", "accuracy px", "95 % interval", "completeness px", "95 % interval"))
    for name, score in sorted(scores.items(), key=lambda item: float(item[1].mean[0])):
        images = count(result, name, len(score.images))
        numbers = [
            part
            for value, ends in zip(score.mean.tolist(), score.interval.tolist(), strict=True)
            for part in (number(value, 3), interval(ends))
        ]
        table.add_row(escape(name), images, *numbers)
    console.print(table)
    reach = result.protocol.reach  # type: ignore[attr-defined]  # it is a protocol of depth edges
    closing(result, console, f"mean over images, in pixels; lower is better, {reach:g} is the worst")
