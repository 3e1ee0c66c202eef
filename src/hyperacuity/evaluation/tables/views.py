"""Errors of predicted views as people and programs read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from hyperacuity.disparity.view_benchmark import WAYS, ViewScore
from hyperacuity.evaluation.export import Column
from hyperacuity.evaluation.tables import closing, counts, new_table, paired
from hyperacuity.evaluation.tables.disparity import by_image

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

SAME = "The same as peak signal-to-noise ratio"
COLUMNS = (
    Column("rmse forward", "RMSE forward", "min", 2, "The right picture, drawn from the left one; grey levels"),
    Column("psnr forward", "PSNR forward", "max", 2, SAME, "dB"),
    Column("visible forward", "drawn", "", 1, "Share of the right picture that is drawn at all", "%"),
    Column("rmse inverse", "RMSE inverse", "min", 2, "The left picture, fetched from the right one; grey levels"),
    Column("psnr inverse", "PSNR inverse", "max", 2, SAME, "dB"),
    Column("visible inverse", "compared", "", 1, "Share of the left picture that both views show", "%"),
)


def summary(result: Result) -> dict[str, Any]:
    """The result for JSON: values by image, way and measure, and their means."""
    return {"signature": str(result.signature), "systems": by_image(result.scores), **paired(result)}


def show(result: Result, console: Console) -> None:
    """One line per system and way."""
    scores: dict[str, ViewScore] = result.scores
    table = new_table("system", "view", right=("RMSE", "PSNR dB", "seen %"))
    for name, score in scores.items():
        for n, (way, (_, rmse, psnr, seen)) in enumerate(zip(WAYS, score.mean, strict=True)):
            table.add_row("" if n else escape(name), way, f"{rmse:.2f}", f"{psnr:.2f}", f"{seen:.1f}")
    console.print()
    console.print(table)
    scenes = {name: len(score.images) for name, score in scores.items()}
    closing(result, console, counts(result, scenes, "mean over scenes"))
