"""Predicted views in a report: the right picture drawn from the left one by each map, and where it differs from the real one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.data import read_image
from hyperacuity.disparity import forward
from hyperacuity.errors import InputError
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.disparity import difference_picture
from hyperacuity.report.sheets.disparity import given_scales, read_as_scored
from hyperacuity.report.sheets.judged import Judged, judge, judged_sheet
from hyperacuity.report.sheets.sheet import NAN, Column, Each, Layer, Sheet, Viewer, picture_of
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid

COLUMNS = (
    Column(
        "rmse forward",
        "RMSE forward",
        better="min",
        digits=2,
        note="The right picture, drawn from the left one; grey levels",
    ),
    Column("psnr forward", "PSNR forward", digits=2, unit="dB", note="The same as peak signal-to-noise ratio"),
    Column(
        "visible forward",
        "drawn",
        better="",
        digits=1,
        unit="%",
        note="Share of the right picture that is drawn at all",
    ),
    Column(
        "rmse inverse",
        "RMSE inverse",
        better="min",
        digits=2,
        note="The left picture, fetched from the right one; grey levels",
    ),
    Column("psnr inverse", "PSNR inverse", digits=2, unit="dB", note="The same as peak signal-to-noise ratio"),
    Column(
        "visible inverse",
        "compared",
        better="",
        digits=1,
        unit="%",
        note="Share of the left picture that both views show",
    ),
)

LAYERS = (
    Layer(
        "errors",
        "Difference",
        "From the real right picture: white is none, dark is 64 grey levels or more, grey is not drawn",
    ),
    Layer("prediction", "Drawn", "The right picture, drawn from the left one by the map; grey is not drawn"),
    Layer("truth", "Right picture", "The real one"),
    Layer("photo", "Left picture"),
)

RIGHT = {"right", "imr", "im6", "im1", "scene1.row3.col4", "image_3", "image_1", "colored_1"}
"""Names of the right picture, or of the folder of right pictures, in the layouts of data sets."""


def sheet(grid: Grid, each: Each) -> Sheet:
    """The part of a report that is about predicted views."""
    judged = judge(grid, COLUMNS)
    return judged_sheet(grid, judged, title="Predicted views", viewer=Viewer(LAYERS, (), _look(judged, grid.signature)))


def _look(judged: Judged, signature: str) -> Any:
    scale = given_scales(signature).get("scale")

    def look(image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        some = next(iter(cells.values()))
        picture, other = picture_of(cells), _right(some)
        if picture is None or other is None:
            raise InputError(f"the pictures of {image} are not with the data")
        left, right = read_image(picture), read_image(other)
        shared = {"photo": layers.photograph(left), "truth": layers.photograph(right)}
        systems: list[dict[str, Any]] = []
        for line in judged.lines:
            try:
                cell = cells[line.system]
                drawn, where = forward(left, read_as_scored(cell.prediction, cell, scale))
                main = judged.columns[0]
                systems.append(
                    {
                        "prediction": layers.photograph(_on_grey(drawn, where, left.dtype)),
                        "errors": layers.photograph(difference_picture(right, drawn, where)),
                        "numbers": {main.title: main.told(judged.image_scores.get(image, {}).get(line.system, NAN))},
                    }
                )
            except KeyError:
                systems.append({"missing": "this system was not run on this image"})
            except InputError as error:
                systems.append({"missing": str(error)})
        return {"size": [left.shape[1], left.shape[0]], "shared": shared, "systems": systems}

    return look


def _right(cell: Cell) -> Path | None:
    return next((path for path in cell.extras if {path.stem.lower(), path.parent.name.lower()} & RIGHT), None)


def _on_grey(drawn: Any, where: Any, kind: Any) -> Any:
    """A drawn picture in the type of the photographs, a middle grey where nothing was drawn."""
    middle = np.iinfo(kind).max * 2 // 3
    filled = np.where(where if drawn.ndim == 2 else where[..., None], drawn, middle)
    plain = filled[..., 0] if filled.ndim == 3 and filled.shape[2] == 1 else filled
    return np.clip(np.round(plain), 0, np.iinfo(kind).max).astype(kind)
