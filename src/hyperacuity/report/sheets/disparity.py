"""Disparity in a report: bad pixels and errors by region, and the maps in colours of depth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hyperacuity.compare.criteria import criteria
from hyperacuity.data import read_disparity, read_image
from hyperacuity.data.datasets.stereo import V2_SCALES, scale_of
from hyperacuity.data.formats.sniff import IMAGE_KINDS, kind_of
from hyperacuity.errors import InputError
from hyperacuity.maps import DisparityMap
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.disparity import depth_picture, error_picture
from hyperacuity.report.sheets.judged import Judged, judge, judged_sheet
from hyperacuity.report.sheets.sheet import NAN, Column, Each, Layer, Sheet, Viewer, picture_of
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid

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
    return judged_sheet(grid, judged, title="Disparity", viewer=Viewer(LAYERS, (), _look(judged, grid.signature)))


def _column(key: str, sense: str) -> Column:
    measure = key.rpartition(" ")[0]
    percent = measure.startswith("bad(") or measure == "density"
    return Column(key, key, better=sense, digits=2, unit="%" if percent else "px")


def _look(judged: Judged, signature: str) -> Any:
    scales = given_scales(signature)

    def look(image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        some = next(iter(cells.values()))
        truth = read_as_scored(some.truths[0], some, scales.get("truth-scale"))
        shared: dict[str, Any] = {"truth": layers.picture_uri(depth_picture(truth))}
        if (picture := picture_of(cells)) is not None:
            shared["photo"] = layers.photograph(read_image(picture))
        systems: list[dict[str, Any]] = []
        for line in judged.lines:
            try:
                cell = cells[line.system]
                estimate = read_as_scored(cell.prediction, cell, scales.get("scale"))
                main = judged.columns[0]
                systems.append(
                    {
                        "prediction": layers.picture_uri(depth_picture(estimate)),
                        "errors": layers.picture_uri(error_picture(truth, estimate, {})),
                        "numbers": {main.title: main.told(judged.image_scores.get(image, {}).get(line.system, NAN))},
                    }
                )
            except KeyError:
                systems.append({"missing": "this system was not run on this image"})
            except InputError as error:
                systems.append({"missing": str(error)})
        return {"size": [truth.shape[1], truth.shape[0]], "shared": shared, "systems": systems}

    return look


def given_scales(signature: str) -> dict[str, float]:
    """The scales of pictures that were given on the command line, which stand in the signature.

    >>> given_scales("disparity|delta:1|scale:4|truth-scale:16|v:1")
    {'scale': 4.0, 'truth-scale': 16.0}
    """
    parts = dict(part.split(":", 1) for part in signature.split("|") if ":" in part)
    return {name: float(parts[name]) for name in ("scale", "truth-scale") if name in parts}


def read_as_scored(path: Path, cell: Cell, given: float | None) -> DisparityMap:
    """A map as the verb read it: grey levels of a picture are divided by the scale given, or by that of the data set.

    Where there is neither, 8-bit grey levels are pixels, and 16-bit pictures have KITTI's scale.
    """
    if kind_of(path) not in IMAGE_KINDS:
        return read_disparity(path, scale=given if path == cell.prediction else None)
    scale = given if given is not None else _scale_of_data(cell)
    if scale is None and read_image(path).dtype == np.uint8:
        scale = 1.0
    return read_disparity(path, scale=scale)


def _scale_of_data(cell: Cell) -> float | None:
    """The scale that belongs to a scene of Middlebury v2; maps without pictures or masks beside them are of no data set."""
    info = next((extra for extra in cell.extras if extra.name == "info.txt"), None)
    if not any(extra.name != "info.txt" for extra in cell.extras):
        return None
    return scale_of(info) if info is not None else V2_SCALES.get(cell.truths[0].parent.name.lower())
