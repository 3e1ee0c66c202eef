"""Files and data sets in, maps out: the one place that knows formats, byte orders and other people's conventions."""

from hyperacuity.data.images import read_image, write_png
from hyperacuity.data.limits import DataWarning
from hyperacuity.data.pairing import Pair, Pairing, pair_folders
from hyperacuity.data.readers import (
    read_boundary_truths,
    read_disparity,
    read_edges,
    read_labels,
    read_mask,
    read_order,
    read_segmentations,
    read_soft,
)

__all__ = [
    "DataWarning",
    "Pair",
    "Pairing",
    "pair_folders",
    "read_boundary_truths",
    "read_disparity",
    "read_edges",
    "read_image",
    "read_labels",
    "read_mask",
    "read_order",
    "read_segmentations",
    "read_soft",
    "write_png",
]
