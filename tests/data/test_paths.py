"""Paths may be strings, as people write them in notebooks."""

from __future__ import annotations

import numpy as np

from hyperacuity.data import (
    read_boundary_truths,
    read_disparity,
    read_image,
    read_soft,
    write_disparity,
    write_edges,
    write_soft,
)


def test_readers_and_writers_take_strings(tmp_path):
    soft = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    path = str(tmp_path / "map.npy")
    np.save(path, soft)
    np.testing.assert_array_equal(read_soft(path), soft)
    write_soft(str(tmp_path / "map.png"), soft)
    np.testing.assert_array_equal(read_image(str(tmp_path / "map.png")), np.rint(255 * soft))
    write_edges(str(tmp_path / "edges.png"), np.eye(8, dtype=bool))
    np.testing.assert_array_equal(read_boundary_truths([str(tmp_path / "edges.png")]), [np.eye(8)])
    write_disparity(str(tmp_path / "map.pfm"), soft + 1)
    np.testing.assert_array_equal(read_disparity(str(tmp_path / "map.pfm")), soft + 1)
