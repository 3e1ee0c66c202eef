"""How long depth order takes, and what people agree on.

    python benchmarks/ordering.py [--labels bsds-fg.tar.xz] [--json FILE]

*Speed*: 481×321 pixels, 200 regions against 60. CPU time of the whole process, best of several runs, warm. Peers in the same run:
the matching of contour pixels by scipy's minimum-weight bipartite matching, whose counts must be equal; and pairs of regions by
the definition, every pair looked at with numpy, whose fractions must be equal.

*People*: with ``--labels`` (Fowlkes, Martin & Malik 2007), the table of docs/tasks/ordering.md: two subjects against each other,
a constant order, and "lower in the image is nearer".
"""

from __future__ import annotations

import argparse
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from scipy.spatial import cKDTree

from hyperacuity.data import figure_ground
from hyperacuity.ordering import (
    Contours,
    Partition,
    Protocol,
    Sides,
    collect,
    combine,
    compare_regions,
    contours,
    match_contours,
    ordering,
    tally,
)
from hyperacuity.ordering.pairwise import match_regions
from measuring import cpu_ms

BAR_MS = 50
"""LDC and GDC together, from order maps to counts, must take no longer."""


def cells(count: int, seed: int, shape: tuple[int, int] = (321, 481)) -> np.ndarray:
    """An order map of as many convex regions, each nearest to a random point, in random order."""
    dice = np.random.default_rng(seed)
    points = dice.random((count, 2)) * shape
    places = np.indices(shape).reshape(2, -1).T
    return dice.permutation(count).astype(np.float32)[cKDTree(points).query(places)[1]].reshape(shape)


def matched_by_scipy(detected: Contours, truth: Contours, radius: float) -> int:
    """Number of pairs in scipy's optimal matching: every pixel may also stay alone, at a cost above any distance."""
    ours, true = np.argwhere(detected.pixels), np.argwhere(truth.pixels)
    near = cKDTree(ours).sparse_distance_matrix(cKDTree(true), radius, output_type="coo_matrix")
    # Explicit zeros would be dropped, so distances are counted from 1.
    n, m = len(ours), len(true)
    alone = 1e4
    rows = np.concatenate([near.row, np.arange(n), n + np.arange(m), n + near.col])
    columns = np.concatenate([near.col, m + np.arange(n), np.arange(m), m + near.row])
    costs = np.concatenate([near.data + 1, np.full(n, alone), np.full(m, alone), np.ones(near.nnz)])
    chosen = min_weight_full_bipartite_matching(coo_matrix((costs, (rows, columns)), shape=(n + m, n + m)).tocsr())[1]
    return int(np.count_nonzero(chosen[:n] < m))


def pairs_by_definition(system: Partition, truth: Partition) -> Fraction:
    """Consistent pairs, each pair of true regions in turn."""
    standing = match_regions(system, truth)
    total = Fraction(0)
    for i in range(truth.regions):
        for j in range(i + 1, truth.regions):
            one, other = system.depth[standing == i], system.depth[standing == j]
            if one.size and other.size:
                right = np.sign(one[:, None] - other[None, :]) == np.sign(truth.depth[i] - truth.depth[j])
                total += Fraction(int(right.sum()), right.size)
    return total


def measure_speed() -> dict[str, Any]:
    """Times, and agreement with the peers."""
    said, true = cells(200, 1), cells(60, 2)
    system, truth = ordering(said), ordering(true)
    assert isinstance(system, Partition)
    assert isinstance(truth, Partition)
    detected, real = contours(system), contours(truth)
    assert match_contours(detected, real).pairs.count == matched_by_scipy(detected, real, 3.0)
    assert compare_regions(system, truth).consistent == pairs_by_definition(system, truth)

    def everything() -> None:
        one, other = ordering(said), ordering(true)
        combine([match_contours(contours(one), contours(other))])
        compare_regions(one, other)

    many = ordering(np.random.default_rng(3).random((321, 481), np.float32))
    return {
        "regions": [system.regions, truth.regions],
        "contour pixels": [detected.count, real.count],
        "LDC and GDC ms": cpu_ms(everything, repeats=15),
        "contours ms": cpu_ms(lambda: contours(system), repeats=9),
        "matching ms": cpu_ms(lambda: match_contours(detected, real), repeats=9),
        "matching by scipy ms": cpu_ms(lambda: matched_by_scipy(detected, real, 3.0), repeats=2),
        "pairs ms": cpu_ms(lambda: compare_regions(system, truth), repeats=9),
        "pairs by definition ms": cpu_ms(lambda: pairs_by_definition(system, truth), repeats=2),
        "pairs of 154 401 regions ms": cpu_ms(lambda: compare_regions(many, truth), repeats=2),
    }


def measure_people(labels: Path) -> list[tuple[str, str, float, float, float]]:
    """Rows (who, ties, agreement of contour pixels, R-ACC, B-ACC), means over images and pooled."""
    people: dict[str, list[Sides]] = {}
    for label in figure_ground(labels):
        people.setdefault(label.image, []).append(Sides(label.order, label.segmentation))
    rows = []
    for tie in ("wrong", "half", "skip"):
        for aggregate in ("mean", "pooled"):
            protocol = Protocol(question_tie=tie, tie="ignore", truth_tie="exclude", aggregate=aggregate)
            tallies: dict[str, dict[str, Any]] = {"two people": {}, "lower is nearer": {}, "constant": {}}
            for image, (one, other) in people.items():
                height, width = one.sides.shape
                ramp = np.repeat(np.arange(height, dtype=np.float32), width).reshape(height, width)
                tallies["two people"][image] = tally(one, [other], protocol) + tally(other, [one], protocol)
                for name, order in (("lower is nearer", ramp), ("constant", np.ones_like(ramp))):
                    tallies[name][image] = tally(ordering(order), [one, other], protocol)
            for name, found in tallies.items():
                score = collect(found, resamples=0)
                agreement = score.ldc.best.fg if score.ldc and name == "two people" else float("nan")
                rows.append((name, f"{tie}, {aggregate}", agreement, score.accuracy["racc"], score.accuracy["bacc"]))
    return rows


def main() -> None:
    """Measure, print tables, and write the numbers where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--labels", type=Path, help="figure/ground labels, folder or archive")
    parser.add_argument("--json", type=Path, help="file to write the numbers to")
    options = parser.parse_args()
    numbers: dict[str, Any] = measure_speed()
    print("481×321, 200 × 60 regions, CPU ms")
    for name, value in numbers.items():
        print(f"  {name:28}{value if isinstance(value, list) else f'{value:9.2f}'}")
    print(f"  matching: {numbers['matching by scipy ms'] / numbers['matching ms']:.0f} × as fast as scipy's")
    print(f"  pairs: {numbers['pairs by definition ms'] / numbers['pairs ms']:.0f} × as fast as by the definition")
    met = numbers["LDC and GDC ms"] <= BAR_MS
    print(f"bar: LDC and GDC in at most {BAR_MS} ms: {'met' if met else 'NOT met'}")
    if options.labels:
        numbers["people"] = measure_people(options.labels)
        print(f"\n{'':18}{'ties, sum':16}{'pixels':>8}{'R-ACC':>8}{'B-ACC':>8}")
        for name, how, *values in numbers["people"]:
            print(f"{name:18}{how:16}" + "".join(f"{value:8.3f}" for value in values))
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
