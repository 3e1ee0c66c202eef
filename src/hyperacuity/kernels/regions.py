"""Agreement of segmentations, from contingency tables that are merged along a hierarchy, not counted again.

A table has a row per machine region and a column per annotator's region, those of all annotators side by side; an entry is
the number of pixels the two share. When two machine regions join, their rows add. So pixels are visited once, for the lowest
level; each further level costs one pass over a table of a few hundred rows. All counts are whole numbers, so a level reached by
joins has exactly the table that counting would give.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float64s, Int32s, Int64s, allocating_kernel, kernel


@kernel
def count_pairs(labels: Int32s, truth: Int32s, table: Int64s) -> None:
    """Add each pixel to its entry of ``table``; pixels with a negative label in either map are left out."""
    for y in range(labels.shape[0]):
        for x in range(labels.shape[1]):
            if labels[y, x] >= 0 and truth[y, x] >= 0:
                table[labels[y, x], truth[y, x]] += 1


@allocating_kernel
def agreement(
    table: Int64s, starts: Int64s, areas: Int64s, truth_areas: Int64s, joins: Int32s, ends: Int64s, best: Float64s
) -> Float64s:
    """Covering both ways, Rand index and variation of information at each level of a hierarchy.

    Parameters
    ----------
    table
        Contingency of the lowest level; merged in place.
    starts
        Annotator a has the columns ``starts[a]`` to ``starts[a + 1]``.
    areas, truth_areas
        Pixels of each machine region, and of each annotator's region.
    joins, ends
        Rows (stays, goes) that join, and how many of the joins have happened at each level.
    best
        Per column the best intersection over union so far; raised in place.

    Returns
    -------
    One row per level: Σ area × best overlap over annotators' regions, the same over machine regions, Rand index, and
    variation of information in bits, the last two averaged over annotators.
    """
    annotators = len(starts) - 1
    rows, columns = table.shape
    known = np.zeros((rows, annotators), np.int64)  # pixels of a machine region that annotator a has labelled
    for row in range(rows):
        for a in range(annotators):
            for column in range(starts[a], starts[a + 1]):
                known[row, a] += table[row, column]
    totals, most_known = np.zeros(annotators, np.int64), np.int64(0)
    for a in range(annotators):
        for row in range(rows):
            totals[a] += known[row, a]
        most_known = max(most_known, totals[a])
    # n·log₂ n of every count there can be: looked up, and the same on any path to a count.
    bits = np.zeros(most_known + 1)
    for n in range(2, len(bits)):
        bits[n] = n * np.log2(n)

    truth_known = np.zeros(columns, np.int64)  # less than truth_areas only where the prediction is void
    for row in range(rows):
        for column in range(columns):
            truth_known[column] += table[row, column]
    result = np.zeros((len(ends), 4))
    alive = np.ones(rows, np.bool_)
    overlap = np.empty(columns)
    squares, both_squares = np.empty(annotators, np.int64), np.empty(annotators, np.int64)
    entropy, both_entropy = np.empty(annotators), np.empty(annotators)
    done = 0
    for level in range(len(ends)):
        while done < ends[level]:
            stays, goes = joins[done, 0], joins[done, 1]
            for column in range(columns):
                table[stays, column] += table[goes, column]
            for a in range(annotators):
                known[stays, a] += known[goes, a]
            areas[stays] += areas[goes]
            alive[goes] = False
            done += 1
        overlap[:] = 0.0
        squares[:] = 0
        both_squares[:] = 0
        entropy[:] = 0.0
        both_entropy[:] = 0.0
        covering = 0.0
        for row in range(rows):
            if not alive[row]:
                continue
            most = 0.0
            for a in range(annotators):
                pixels = known[row, a]
                squares[a] += pixels * pixels
                entropy[a] += bits[pixels]
                for column in range(starts[a], starts[a + 1]):
                    shared = table[row, column]
                    if shared == 0:
                        continue
                    both_squares[a] += shared * shared
                    both_entropy[a] += bits[shared]
                    ratio = shared / (pixels + truth_areas[column] - shared)
                    overlap[column] = max(overlap[column], ratio)
                    most = max(most, ratio)
            covering += areas[row] * most
        for column in range(columns):
            best[column] = max(best[column], overlap[column])
            result[level, 0] += truth_areas[column] * overlap[column]
        result[level, 1] = covering
        for a in range(annotators):
            for column in range(starts[a], starts[a + 1]):
                squares[a] += truth_known[column] * truth_known[column]
                entropy[a] += bits[truth_known[column]]
            pairs = totals[a] * (totals[a] - 1) / 2
            unlike = squares[a] / 2 - both_squares[a]
            result[level, 2] += (1 - unlike / pairs if pairs > 0 else 1.0) / annotators
            if totals[a] > 0:
                result[level, 3] += max(entropy[a] - 2 * both_entropy[a], 0.0) / totals[a] / annotators
    return result
