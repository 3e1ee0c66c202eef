"""Disparity in a report: bad pixels and errors by region, and the maps in colours of depth."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from hyperacuity.compare.criteria import criteria
from hyperacuity.data import DataWarning, read_disparity, read_image
from hyperacuity.errors import InputError
from hyperacuity.report import layers
from hyperacuity.report.gather import Grid
from hyperacuity.report.pictures_disparity import depth_picture
from hyperacuity.report.sheet import Column, Each, Layer, Sheet, Viewer
from hyperacuity.report.sheets.judged import Judged, judge, judged_sheet
from hyperacuity.run import Cell

LAYERS = (
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
        truth = _shown(some.truths[0])
        shared: dict[str, Any] = {"truth": layers.picture_uri(truth)}
        if some.picture is not None:
            shared["photo"] = layers.photograph(read_image(some.picture))
        systems: list[dict[str, Any]] = []
        for line in judged.lines:
            try:
                systems.append({"prediction": layers.picture_uri(_shown(cells[line.system].prediction))})
            except KeyError:
                systems.append({"missing": "this system was not run on this image"})
            except InputError as error:
                systems.append({"missing": str(error)})
        return {"size": [truth.shape[1], truth.shape[0]], "shared": shared, "systems": systems}

    return look


def _shown(path: Any) -> Any:
    with (
        warnings.catch_warnings()
    ):  # colours are relative, so the scale of a picture's grey levels does not matter here
        warnings.simplefilter("ignore", DataWarning)
        return depth_picture(read_disparity(path))
