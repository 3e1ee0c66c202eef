"""Predicted views as a task, and the columns of its tables."""

from __future__ import annotations

from hyperacuity.columns import Column, Columns, Lines
from hyperacuity.disparity.task import by_image
from hyperacuity.disparity.view_benchmark import (
    WAYS,
    ViewProtocol,
    ViewScore,
    ViewTally,
    collect_views,
    criteria,
    tally_views,
)
from hyperacuity.tasks import Task

SAME = "The same as peak signal-to-noise ratio"


def _column(key: str, title: str, better: str, digits: int, note: str, unit: str = "") -> Column:
    measure, _, way = key.partition(" ")

    def value(score: ViewScore) -> float:
        _, rmse, psnr, visible = score.mean[WAYS.index(way)]
        return float({"rmse": rmse, "psnr": psnr, "visible": visible}[measure])

    return Column(key, title, better, digits, note, unit, value, screen_digits=digits)


COLUMNS = Columns(
    (
        _column("rmse forward", "RMSE forward", "min", 2, "The right picture, drawn from the left one; grey levels"),
        _column("psnr forward", "PSNR forward", "max", 2, SAME, "dB"),
        _column("visible forward", "drawn", "", 1, "Share of the right picture that is drawn at all", "%"),
        _column("rmse inverse", "RMSE inverse", "min", 2, "The left picture, fetched from the right one; grey levels"),
        _column("psnr inverse", "PSNR inverse", "max", 2, SAME, "dB"),
        _column("visible inverse", "compared", "", 1, "Share of the left picture that both views show", "%"),
    ),
    screen=Lines(
        "view", ("RMSE", "PSNR dB", "seen %"), {way: (f"rmse {way}", f"psnr {way}", f"visible {way}") for way in WAYS}
    ),
    as_dict=by_image,
    counted="mean over scenes",
)


TASK: Task[ViewProtocol, ViewTally, ViewScore] = Task(
    "views",
    "Predicted views",
    ViewProtocol,
    ViewTally,
    tally_views,
    collect_views,
    criteria,
    kind="views",
    references=("szeliski1999", "cabezas2011"),
    examples=lambda scene: [(scene.disparity, [scene.image, scene.right], {})],
    columns=COLUMNS,
)
