"""Files and data sets in, maps out: the only package that knows formats, byte orders and other people's conventions.

:mod:`~hyperacuity.data.readers` and :mod:`~hyperacuity.data.writers` read and write each kind of map in any format;
:mod:`~hyperacuity.data.formats` has one small module per format. :mod:`~hyperacuity.data.datasets` knows where data sets lie and
pairs predictions with truths by name; :mod:`~hyperacuity.data.scenes` makes a data set.
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.data.datasets.bsds import FigureGround, figure_ground
    from hyperacuity.data.datasets.layouts import find_data, load_dataset
    from hyperacuity.data.datasets.pairing import PairedFiles, Pairing, pair_folders, pair_truths
    from hyperacuity.data.datasets.samples import Dataset, Sample
    from hyperacuity.data.files import DataWarning
    from hyperacuity.data.formats.directions import read_directions
    from hyperacuity.data.formats.images import read_image, write_png
    from hyperacuity.data.formats.matlab import read_ibims_edges, write_mat, write_segs, write_truths
    from hyperacuity.data.formats.point_pairs import JudgedPoints, read_point_pairs
    from hyperacuity.data.formats.tables import NamedTable, read_table, write_table
    from hyperacuity.data.readers import (
        holds_ucm,
        read_boundary_truths,
        read_disparity,
        read_edges,
        read_labels,
        read_mask,
        read_order,
        read_segmentations,
        read_soft,
        read_ucm,
    )
    from hyperacuity.data.writers import write_disparity, write_edges, write_labels, write_order, write_soft
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "DataWarning",
    "Dataset",
    "FigureGround",
    "JudgedPoints",
    "NamedTable",
    "PairedFiles",
    "Pairing",
    "Sample",
    "figure_ground",
    "find_data",
    "holds_ucm",
    "load_dataset",
    "pair_folders",
    "pair_truths",
    "read_boundary_truths",
    "read_directions",
    "read_disparity",
    "read_edges",
    "read_ibims_edges",
    "read_image",
    "read_labels",
    "read_mask",
    "read_order",
    "read_point_pairs",
    "read_segmentations",
    "read_soft",
    "read_table",
    "read_ucm",
    "write_disparity",
    "write_edges",
    "write_labels",
    "write_mat",
    "write_order",
    "write_png",
    "write_segs",
    "write_soft",
    "write_table",
    "write_truths",
]
