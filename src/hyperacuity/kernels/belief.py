"""Loopy belief propagation on the grid of pixels: neighbours pass on what each disparity would cost the rest of the picture.

Neighbours with disparities d and e pay min(slope · |d − e|, most). Messages start from those of a coarser grid, whose pixels
stand for 2 × 2 of the finer one (Felzenszwalb & Huttenlocher 2006). On a picture of one row or column, which is a tree, the
beliefs are exact after as many rounds as it has pixels.
"""

from __future__ import annotations

import numpy as np

from hyperacuity.kernels import Float32s, Scalar, allocating_kernel, kernel

Volume = Float32s


def beliefs(volume: Volume, slope: float, most: float, levels: int, rounds: int) -> Volume:
    """The cost of each disparity at each pixel plus the messages of its four neighbours, after ``rounds`` on each grid."""
    pyramid = [volume]
    for _ in range(levels - 1):
        if pyramid[-1].shape[0] < 2 and pyramid[-1].shape[1] < 2:
            break
        pyramid.append(_coarser(pyramid[-1]))
    height, width, disparities = pyramid[-1].shape
    messages = np.zeros((4, height, width, disparities), np.float32)
    for n in range(len(pyramid) - 1, -1, -1):
        costs = pyramid[n]
        if n < len(pyramid) - 1:
            messages = _finer(messages, costs.shape[0], costs.shape[1])
        for t in range(rounds):
            _pass(costs, messages, np.float32(slope), np.float32(most), t % 2)
    return _gathered(volume, messages)


@allocating_kernel
def _coarser(volume: Volume) -> Volume:
    height, width, disparities = volume.shape
    result = np.zeros(((height + 1) // 2, (width + 1) // 2, disparities), np.float32)
    for y in range(height):
        for x in range(width):
            for d in range(disparities):
                result[y // 2, x // 2, d] += volume[y, x, d]
    return result


@allocating_kernel
def _finer(messages: Float32s, height: int, width: int) -> Float32s:
    result = np.empty((4, height, width, messages.shape[3]), np.float32)
    for k in range(4):
        for y in range(height):
            for x in range(width):
                for d in range(messages.shape[3]):
                    result[k, y, x, d] = messages[k, y // 2, x // 2, d]
    return result


@kernel
def _gather(messages: Float32s, y: int, x: int, without: Scalar, total: Float32s) -> None:
    """Add the messages to pixel (y, x), except from direction ``without``: 0 up, 1 down, 2 left, 3 right."""
    for k in range(4):
        if k != without:
            for d in range(len(total)):
                total[d] += messages[k, y, x, d]


@allocating_kernel
def _gathered(volume: Volume, messages: Float32s) -> Volume:
    """Costs plus the messages of all neighbours."""
    result = volume.copy()
    nobody = np.int64(-1)
    for y in range(result.shape[0]):
        for x in range(result.shape[1]):
            _gather(messages, y, x, nobody, result[y, x])
    return result


@allocating_kernel
def _pass(costs: Volume, messages: Float32s, slope: np.float32, most: np.float32, colour: int) -> None:
    """Send messages from the pixels of one colour of the chessboard. ``messages[k, y, x]`` came from direction k."""
    height, width, disparities = costs.shape
    message = np.empty(disparities, np.float32)
    for y in range(height):
        for x in range((y + colour) % 2, width, 2):
            for k in range(4):
                v = y - 1 if k == 0 else y + 1 if k == 1 else y
                u = x - 1 if k == 2 else x + 1 if k == 3 else x
                if not (0 <= v < height and 0 <= u < width):
                    continue
                for d in range(disparities):
                    message[d] = costs[y, x, d]
                _gather(messages, y, x, k, message)
                _lower_envelope(message, slope, most)
                for d in range(disparities):
                    messages[k + 1 - 2 * (k % 2), v, u, d] = message[d]  # what goes up comes from below


@kernel
def _lower_envelope(values: Float32s, slope: np.float32, most: np.float32) -> None:
    """Replace f(d) by min over e of f(e) + min(slope · |d − e|, most), less the least."""
    count = len(values)
    least = values[0]
    for d in range(1, count):
        least = min(least, values[d])
    for d in range(1, count):
        values[d] = min(values[d], values[d - 1] + slope)
    for d in range(count - 2, -1, -1):
        values[d] = min(values[d], values[d + 1] + slope)
    for d in range(count):
        values[d] = min(values[d] - least, most)
