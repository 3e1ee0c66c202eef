"""Disparity in a report: bad pixels and errors by region, and the maps in colours of depth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.compare.criteria import criteria
from hyperacuity.data import read_disparity, read_image
from hyperacuity.data.sniff import IMAGE_KINDS, kind_of
from hyperacuity.data.stereo import scale_of
from hyperacuity.errors import InputError
from hyperacuity.maps import DisparityMap
from hyperacuity.report import layers
from hyperacuity.report.gather import Grid
from hyperacuity.report.pictures_disparity import depth_picture, error_picture
from hyperacuity.report.sheet import NAN, Column, Each, Layer, Sheet, Viewer
from hyperacuity.report.sheets.judged import Judged, judge, judged_sheet
from hyperacuity.run import Cell

LAYERS = (
    Layer("errors", "Errors", "White is right, dark is 4 px or more; vermilion: no estimate; grey: truth unknown"),
    Layer("prediction", "Estimate", "Warm is near, cool is far, grey is unknown; each map has its own range"),
    Layer("truth", "Truth", "Warm is near, cool is far, grey is unknown"),
    Layer("photo", "Photograph"),
)


def sheet(grid: Grid, each: Each) -> Sheet:
    """The disparity part of a report."""
    known = criteria(grid.signature, grid.options)
    regions = list(dict.fromkeys(name.rpartition(" ")[2] for name in known.names))
    keys = [*known.usual, *(f"{measure} {regions[0]}" for measure in ("epe", "rms", "density"))]
    columns = [_column(key, known.senses[known.names.index(key)]) for key in keys]
    judged = judge(grid, columns)
    return judged_sheet(grid, judged, title="Disparity", viewer=Viewer(LAYERS, (), _look(judged)))


def _column(key: str, sense: str) -> Column:
    measure = key.rpartition(" ")[0]
    percent = measure.startswith("bad(") or measure == "density"
    return Column(key, key, better=sense, digits=2, unit="%" if percent else "px")


def _look(judged: Judged) -> Any:
    def look(image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        some = next(iter(cells.values()))
        truth, in_pixels = _read(some.truths[0], some)
        shared: dict[str, Any] = {"truth": layers.picture_uri(depth_picture(truth))}
        if some.picture is not None:
            shared["photo"] = layers.photograph(read_image(some.picture))
        systems: list[dict[str, Any]] = []
        for line in judged.lines:
            try:
                estimate, comparable = _read(cells[line.system].prediction, some)
                made: dict[str, Any] = {"prediction": layers.picture_uri(depth_picture(estimate))}
                if in_pixels and comparable:
                    made["errors"] = layers.picture_uri(error_picture(truth, estimate, {}))
                main = judged.columns[0]
                made["numbers"] = {main.title: main.told(judged.image_scores.get(image, {}).get(line.system, NAN))}
                systems.append(made)
            except KeyError:
                systems.append({"missing": "this system was not run on this image"})
            except InputError as error:
                systems.append({"missing": str(error)})
        return {"size": [truth.shape[1], truth.shape[0]], "shared": shared, "systems": systems}

    return look


def _read(path: Path, cell: Cell) -> tuple[DisparityMap, bool]:
    """A map, and whether its values are pixels for certain: of an 8-bit picture, only with the scale of Middlebury v2.

    A map without any is shown all the same, since its colours are relative.
    """
    if kind_of(path) not in IMAGE_KINDS or read_image(path).dtype != np.uint8:
        return read_disparity(path), True
    info = next((extra for extra in cell.extras if extra.name == "info.txt"), None)
    if info is not None:
        return read_disparity(path, scale=scale_of(info)), True
    return read_disparity(path, scale=1), False
