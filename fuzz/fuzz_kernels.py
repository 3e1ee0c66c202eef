"""Call everything that runs kernels on small and awkward maps, and keep what each call gave.

``NUMBA_DISABLE_JIT=1 python fuzz/fuzz_kernels.py OUT.npz`` runs the same source as plain Python, where an index beyond an array
raises instead of reading on. Compiled or not, the results must be the same; the tests see to it. (Real numbers up to rounding:
numba computes single with double precision in double, NumPy in single.)
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hyperacuity.kernels import bits

PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"
if PLAIN:  # machine instructions have no Python; before any other kernel takes them from there
    bits.count_bits = lambda word: np.uint64(int(word).bit_count())
    bits.lowest_bit = lambda word: np.uint64((int(word) & -int(word)).bit_length() - 1)

# ruff: noqa: E402
from hyperacuity import boundary, compare, disparity, edges, maps, ordering, regions
from hyperacuity.boundary.protocols import PROTOCOLS
from hyperacuity.data.formats.berkeley import boundaries_of
from hyperacuity.detect import stereo
from hyperacuity.detect.depth.ownership import integrate, probability_of_ownership
from hyperacuity.disparity import masks
from hyperacuity.errors import HyperacuityError
from hyperacuity.kernels.distances import squared_distances
from hyperacuity.kernels.pieces import label_pieces
from hyperacuity.kernels.suppression import suppress, suppress_structured
from hyperacuity.kernels.thinning import thin
from hyperacuity.kernels.watershed import basins
from hyperacuity.regions.pruning import piecewise_constant, prune, pruning_path

SHAPES = [(1, 1), (1, 9), (9, 1), (2, 2), (3, 3), (6, 7), (2, 67), (66, 1), (13, 11), (0, 0), (0, 5), (5, 0)]
"""Width 67 and height 66 reach into a second machine word."""

Maker = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
FILLINGS: dict[str, Maker] = {
    "none": lambda rng, shape: np.zeros(shape),
    "all": lambda rng, shape: np.ones(shape),
    "sparse": lambda rng, shape: (rng.random(shape) < 0.15).astype(float),
    "dense": lambda rng, shape: (rng.random(shape) < 0.7).astype(float),
    "few levels": lambda rng, shape: rng.integers(0, 4, shape) / 3,
    "any level": lambda rng, shape: rng.random(shape),
}


def calls(rng: np.random.Generator, shape: tuple[int, int], first: Maker, second: Maker) -> Iterator[tuple[str, Any]]:
    """Named calls of one pair of maps."""
    soft, other = first(rng, shape).astype(np.float32), second(rng, shape)
    drawn, truth = soft > 0.5, other > 0.5
    labels, true_labels = (np.rint(3 * values).astype(np.int32) for values in (soft, other))
    order = np.where(rng.random(shape) < 0.1, np.nan, np.rint(4 * soft)).astype(np.float32)
    true_order = np.where(rng.random(shape) < 0.1, np.nan, np.rint(4 * other)).astype(np.float32)
    shifts = np.where(rng.random(shape) < 0.1, np.nan, 4 * soft + 1).astype(np.float32)
    true_shifts = np.where(rng.random(shape) < 0.1, np.nan, np.rint(4 * other) + 1).astype(np.float32)
    left, right = (np.rint(255 * values).astype(np.uint8) for values in (soft, other))
    angle = rng.uniform(-4, 4, shape)

    yield "thin", lambda: thin(drawn)
    yield "boundaries", lambda: boundaries_of(labels)
    yield "suppress", lambda: [suppress(soft, angle, interpolation=how) for how in ("linear", "sectors")]
    yield "suppress structured", lambda: suppress_structured(soft)
    yield "distances", lambda: squared_distances(drawn)
    yield "pieces", lambda: label_pieces(labels)
    yield "basins", lambda: basins(soft)
    yield "match", lambda: boundary.match(drawn, truth, tolerance=0.3)
    for name, protocol in PROTOCOLS.items():
        few = dataclasses.replace(protocol, thresholds=5, tolerance=0.1)
        yield f"boundary {name}", lambda few=few: boundary.tally(soft, [truth, drawn], few)
    yield "edges", lambda: edges.tally(soft, [truth], edges.Protocol(thresholds=4))
    yield "regions", lambda: regions.tally([labels, true_labels], [true_labels, labels])
    yield "tree", lambda: _tree(soft, left)
    yield "ordering", lambda: ordering.tally(ordering.ordering(order), [ordering.ordering(true_order)])
    yield "sides", lambda: _sides(soft, truth)
    yield "ownership", lambda: _ownership(left)
    yield "disparity", lambda: _disparity(shifts, true_shifts, left)
    yield "views", lambda: _views(shifts, left, right)
    yield "stereo", lambda: [find(left, right, 3) for find in (stereo.sad, stereo.census)]
    table = np.rint(8 * rng.random((rng.integers(1, 9), 3)))
    yield "pareto", lambda: [compare.optimal(table), compare.groups(table), compare.dominance(table)]


def _tree(soft: np.ndarray, image: np.ndarray) -> Any:
    tree = regions.hierarchy(soft)
    energy = piecewise_constant(tree, image.astype(np.float64))
    path = pruning_path(tree, energy)
    levels = regions.ucm_levels(tree.ucm2(), regions.level_thresholds(3))
    return (
        tree,
        prune(tree, energy, 10.0),
        path,
        regions.tally(levels, [np.rint(soft).astype(np.int32)], regions.Protocol(levels=3)),
    )


def _sides(soft: np.ndarray, truth: np.ndarray) -> Any:
    said = ordering.ordering(np.where(soft > 0.3, 1, 0).astype(np.float32) - (soft < 0.1))
    return ordering.tally(said, [ordering.ordering(truth.astype(np.float32))], ordering.Protocol())


def _ownership(image: np.ndarray) -> Any:
    owned = probability_of_ownership(image, least_area=1, smooth=True, rounds=1)
    return owned, integrate(owned, image)


def _disparity(shifts: np.ndarray, truth: np.ndarray, image: np.ndarray) -> Any:
    known = maps.disparity_map(truth)
    parts = masks.regions(known, image=image)
    return disparity.tally(shifts, known, disparity.Protocol(), masks=parts), parts


def _views(shifts: np.ndarray, left: np.ndarray, right: np.ndarray) -> Any:
    drawn = [disparity.forward(left, shifts, at) for at in (-1.0, 0.5, 1.0)]
    return (
        drawn,
        disparity.inverse(right, shifts),
        disparity.tally_views(shifts, [left, right], disparity.ViewProtocol()),
    )


def parts(value: Any) -> list[np.ndarray]:
    """All arrays and numbers in a value, in order."""
    if dataclasses.is_dataclass(value):
        return [part for field in dataclasses.fields(value) for part in parts(getattr(value, field.name))]
    if isinstance(value, dict):
        return [part for key in value for part in parts(value[key])]
    if isinstance(value, list | tuple):
        return [part for one in value for part in parts(one)]
    return [] if value is None else [np.asarray(value)]


def results(seed: int, rounds: int) -> dict[str, np.ndarray]:
    """What every call gave, or the sentence that refused it, by where it was made."""
    found, fillings = {}, list(FILLINGS.items())
    for number in range(rounds):
        for at, shape in enumerate(SHAPES):
            rng = np.random.default_rng([seed, number, at])
            (one, first), (two, second) = (fillings[i] for i in rng.integers(0, len(fillings), 2))
            for name, call in calls(rng, shape, first, second):
                try:
                    given = parts(call())
                except HyperacuityError as error:
                    given = [np.array(str(error))]
                where = f"{number}, {shape[0]}×{shape[1]}, {one} and {two}, {name}"
                found.update({f"{where}, {i}": part for i, part in enumerate(given)})
    return found


def main() -> None:
    """Write the results to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="an NPZ file for the results")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    # Words and hashes wrap around on purpose; as Python, NumPy would mention it.
    warnings.simplefilter("ignore" if PLAIN else "error")
    np.savez(options.out, **results(options.seed, options.rounds))


if __name__ == "__main__":
    main()
