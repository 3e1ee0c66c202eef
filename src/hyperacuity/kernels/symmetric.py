"""Eigenvalues and eigenvectors of a small symmetric matrix, the same to the last bit on every machine.

Libraries of linear algebra choose their code by the kind of processor, and so the order in which they add. Here sums run in the
order written. The method is the classical one: reflections (Householder's) make the matrix tridiagonal, then rotations (the QL
algorithm, its shifts by Wilkinson) make it diagonal. Both only turn the space, so no error grows beyond rounding; each eigenvalue
takes one or two rounds of rotations. What turns the matrix, applied to the unit vectors, turns these into the eigenvectors, which
stand in rows, since whole rows are what is reflected and rotated. For some hundreds of rows at most: work grows with their cube.

References
----------
Golub & Van Loan (2013), Matrix computations, section 8.3. Dubrulle, Martin & Wilkinson (1968), The implicit QL algorithm.
"""

from __future__ import annotations

import math

import numpy as np

from hyperacuity.kernels import Float64s, Scalar, allocating_kernel, kernel

ROUNDS = 60
"""Rounds of rotations for one eigenvalue at most; it takes one or two."""


def symmetric_eigen(matrix: Float64s) -> tuple[Float64s, Float64s]:
    """Eigenvalues in rising order, and the eigenvectors of length 1 in rows; of a matrix without rows, none.

    Only the matrix's symmetric part counts.

    >>> values, vectors = symmetric_eigen(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(12), np.abs(vectors).round(4)
    (array([1., 3.]), array([[0.7071, 0.7071],
           [0.7071, 0.7071]]))
    """
    given = np.asarray(matrix, np.float64)
    work, vectors = (given + given.T) / 2, np.eye(len(given))
    values, beside = np.zeros((2, len(given)))
    _reflect(work, vectors, values, beside)
    if not _rotate(values, beside, vectors):
        raise ArithmeticError(f"the eigenvalues of a matrix of {len(given)} rows do not settle")
    order = np.argsort(values, kind="stable")
    return values[order], vectors[order]


@allocating_kernel
def product(left: Float64s, right: Float64s) -> Float64s:
    """The product of two matrices, its sums in the order of the rows of the second."""
    result = np.zeros((left.shape[0], right.shape[1]))
    for i in range(left.shape[0]):
        for k in range(right.shape[0]):
            _add(result[i], left[i, k], right[k])
    return result


@allocating_kernel
def _reflect(matrix: Float64s, vectors: Float64s, diagonal: Float64s, beside: Float64s) -> None:
    """Make a symmetric matrix tridiagonal, and turn the rows of ``vectors`` with it; ``beside[k]`` links rows k and k + 1.

    The k-th reflection, I − 2vvᵀ with ‖v‖ = 1, leaves of column k below the diagonal the first number only.
    """
    size = len(matrix)
    normal, image = np.zeros((2, size))
    for k in range(size - 1):
        square = 0.0
        for i in range(k + 1, size):
            normal[i] = matrix[k, i]
            square += normal[i] * normal[i]
        length = math.sqrt(square)
        beside[k] = -length if normal[k + 1] > 0 else length
        square -= normal[k + 1] * normal[k + 1]
        normal[k + 1] -= beside[k]
        square += normal[k + 1] * normal[k + 1]
        if k == size - 2 or square == 0:  # nothing is left to do
            beside[k] = matrix[k, k + 1]
            continue
        scale = 1 / math.sqrt(square)
        for i in range(k + 1, size):
            normal[i] *= scale
        _reflect_rest(matrix, normal, image, k + 1)
        _reflect_rows(vectors, normal, image, k + 1)
    for k in range(size):
        diagonal[k] = matrix[k, k]


@kernel
def _reflect_rest(matrix: Float64s, normal: Float64s, image: Float64s, first: Scalar) -> None:
    """Reflect a symmetric matrix from a row on, from both sides: A − 2vwᵀ − 2wvᵀ with w = Av − (vᵀAv)v."""
    image[first:] = 0
    for i in range(first, len(matrix)):
        _add(image[first:], normal[i], matrix[i, first:])
    along = 0.0
    for i in range(first, len(matrix)):
        along += normal[i] * image[i]
    _add(image[first:], -along, normal[first:])
    for i in range(first, len(matrix)):
        _add(matrix[i, first:], -2 * normal[i], image[first:])
        _add(matrix[i, first:], -2 * image[i], normal[first:])


@kernel
def _reflect_rows(vectors: Float64s, normal: Float64s, total: Float64s, first: Scalar) -> None:
    """Reflect the columns of a matrix from a row on; ``total`` is scratch."""
    total[:] = 0
    for i in range(first, len(vectors)):
        _add(total, normal[i], vectors[i])
    for i in range(first, len(vectors)):
        _add(vectors[i], -2 * normal[i], total)


@kernel
def _add(total: Float64s, weight: Scalar, row: Float64s) -> None:
    for j in range(total.size):
        total[j] += weight * row[j]


@kernel
def _rotate(diagonal: Float64s, beside: Float64s, vectors: Float64s) -> Scalar:
    """Make a tridiagonal matrix diagonal, and turn the rows of ``vectors`` with it; false after too many rounds."""
    for k in range(diagonal.size):
        for left in range(ROUNDS, -1, -1):
            last = _end_of_block(diagonal, beside, k)
            if last == k:
                break
            if left == 0:
                return False
            _rotate_once(diagonal, beside, vectors, k, last)
    return True


@kernel
def _end_of_block(diagonal: Float64s, beside: Float64s, k: Scalar) -> Scalar:
    """The last row that is linked with row k, by links that are not lost beside the diagonal."""
    while k < diagonal.size - 1:
        nearby = abs(diagonal[k]) + abs(diagonal[k + 1])
        if nearby + abs(beside[k]) == nearby:
            break
        k += 1
    return k


@kernel
def _rotate_once(diagonal: Float64s, beside: Float64s, vectors: Float64s, first: Scalar, last: Scalar) -> None:
    """A round of rotations from the end of a block to its first row, whose link with the next one it all but removes."""
    # Wilkinson's shift: the eigenvalue of the first two rows that is nearer to the first.
    ratio = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first])
    root = math.sqrt(ratio * ratio + 1)
    shift = diagonal[first] - beside[first] / (ratio + (root if ratio >= 0 else -root))
    sine, cosine, moved = 1.0, 1.0, 0.0
    bulge = diagonal[last] - shift
    for i in range(last - 1, first - 1, -1):
        off, link = sine * beside[i], cosine * beside[i]
        length = math.sqrt(off * off + bulge * bulge)
        beside[i + 1] = length
        if length == 0:  # the block has come apart
            diagonal[i + 1] -= moved
            beside[last] = 0
            return
        sine, cosine = off / length, bulge / length
        base = diagonal[i + 1] - moved
        spread = (diagonal[i] - base) * sine + 2 * cosine * link
        moved = sine * spread
        diagonal[i + 1] = base + moved
        bulge = cosine * spread - link
        _turn(vectors[i], vectors[i + 1], sine, cosine)
    diagonal[first] -= moved
    beside[first] = bulge
    beside[last] = 0


@kernel
def _turn(one: Float64s, other: Float64s, sine: Scalar, cosine: Scalar) -> None:
    """Rotate two rows into each other."""
    for j in range(one.size):
        mine, its = one[j], other[j]
        other[j] = sine * mine + cosine * its
        one[j] = cosine * mine - sine * its
