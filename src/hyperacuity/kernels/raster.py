"""Polygons to spans, in whole numbers.

Corners are given in fixed point. A row of samples meets each contour at ``x₀ + ⌊(y − y₀)(x₁ − x₀)/(y₁ − y₀)⌋``, an integer
division, so the same corners give the same samples on every machine. A sample lies inside where the winding number of the
contours is not zero; upper ends of contour pieces count, lower ends do not, so that no corner is met twice.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Int16s, Int64s, allocating_kernel, kernel


@allocating_kernel
def spans(corners: Int64s, ends: Int64s, step: int, rows: int) -> Int64s:
    """Runs of samples inside an outline, one per line: row, first column, column after the last.

    Samples lie at ``(column + ½, row + ½)·step``; rows outside ``[0, rows)`` are left out, columns are not clipped.
    ``corners`` holds x and y of every contour, one contour after another; ``ends[i]`` is where contour ``i`` stops.
    """
    half = step // 2
    highest, lowest = corners[0, 1], corners[0, 1]
    for i in range(1, corners.shape[0]):
        highest, lowest = min(highest, corners[i, 1]), max(lowest, corners[i, 1])
    top = max(0, -(-(highest - half) // step))
    bottom = min(rows - 1, (lowest - half) // step)
    runs = np.empty((max(0, bottom - top + 1) * 8 + 8, 3), np.int64)
    count = 0
    crossings = np.empty(corners.shape[0], np.int64)
    senses = np.empty(corners.shape[0], np.int64)
    for row in range(top, bottom + 1):
        y = row * step + half
        met = 0
        start = 0
        for end in ends:
            last = end - 1
            for i in range(start, end):
                x0, y0, x1, y1 = corners[last, 0], corners[last, 1], corners[i, 0], corners[i, 1]
                last = i
                if (y0 <= y) == (y1 <= y):
                    continue
                x = x0 + (y - y0) * (x1 - x0) // (y1 - y0)
                sense = 1 if y1 > y0 else -1
                slot = met
                while slot > 0 and crossings[slot - 1] > x:
                    crossings[slot] = crossings[slot - 1]
                    senses[slot] = senses[slot - 1]
                    slot -= 1
                crossings[slot] = x
                senses[slot] = sense
                met += 1
            start = end
        winding = 0
        for i in range(met):
            if winding == 0:
                entry = crossings[i]
            winding += senses[i]
            if winding != 0:
                continue
            first = -(-(entry - half) // step)
            stop = -(-(crossings[i] - half) // step)
            if stop <= first:
                continue
            if count == runs.shape[0]:
                grown = np.empty((2 * count, 3), np.int64)
                for i in range(count):
                    for part in range(3):
                        grown[i, part] = runs[i, part]
                runs = grown
            runs[count, 0] = row
            runs[count, 1] = first
            runs[count, 2] = stop
            count += 1
    return runs[:count].copy()


@kernel
def paint(target: Int16s, runs: Int64s, shift: int, colour: int, first: int, last: int) -> None:
    """Give every sample of the runs, moved ``shift`` columns to the left, a colour.

    Only samples whose present colour lies in ``[first, last]`` are painted.
    """
    width = target.shape[1]
    for run in range(runs.shape[0]):
        row = runs[run, 0]
        for column in range(max(0, runs[run, 1] - shift), min(width, runs[run, 2] - shift)):
            if first <= target[row, column] <= last:
                target[row, column] = colour
