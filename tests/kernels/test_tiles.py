"""Sets of pixels in tiles: what lies within a tolerance, by the tiles and by the distance."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperacuity.kernels.counting import disc, grid_of, insert_all, positions
from hyperacuity.kernels.pairs import reach


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.5, 7.9, 8.0, 9.0, 17.5]), st.integers(1, 30), st.integers(1, 30))
@settings(deadline=None, max_examples=60)
def test_a_disc_covers_what_is_within_the_tolerance(seed, tolerance, height, width):
    rng = np.random.default_rng(seed)
    members = np.flatnonzero(rng.random((height, width)) < 0.4)
    pixel = int(rng.integers(height * width))
    within = reach(tolerance)
    grid = grid_of((height, width), within)
    around = disc(within, grid)
    tiles = np.zeros(grid.tiles, np.uint64)
    insert_all(tiles, positions(members, width, grid))
    (at,) = positions(np.array([pixel]), width, grid).tolist()
    found = np.bitwise_count(tiles[at // 64 + around.offset] & around.mask[at % 64]).sum()
    dy, dx = members // width - pixel // width, members % width - pixel % width
    assert found == np.count_nonzero(dy * dy + dx * dx <= tolerance**2)


def test_the_nearest_tiles_come_first():
    within = reach(20.0)
    grid = grid_of((100, 100), within)
    rows, columns = np.divmod(disc(within, grid).offset + grid.tiles // 2, grid.stride)
    middle = np.divmod(grid.tiles // 2, grid.stride)
    far = (rows - middle[0]) ** 2 + (columns - middle[1]) ** 2
    assert far[0] == 0
    assert (np.diff(far) >= 0).all()
