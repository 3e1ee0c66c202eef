"""Pairs of points with a judgment of which is nearer, of many images in one file.

=======  ================================================================================================================
form     what it looks like
=======  ================================================================================================================
CSV      a header with ``image``, ``x1``, ``y1``, ``x2``, ``y2``, ``nearer`` and, if wanted, ``weight``; a line per pair, counted
         from 0; ``nearer`` is ``1``, ``2`` or ``=``
JSON     ``{image: [{"point1": [y, x], "point2": [y, x], "closer_point": "point1"}]}``, as in DA-2K, counted from 0;
         ``closer_point`` may be ``equal``, and a pair may have a ``weight``
DIW      a line with the image, then ``yA,xA,yB,xB,relation,width,height``, counted from 1; ``>``: A is farther
NYU      a header; per image a line ``image, …, number of pairs`` and as many of ``yA,xA,yB,xB,relation``, counted from 1
=======  ================================================================================================================

The last two are files of Chen et al. (2016), as CSV: copies as ``.h5`` name no images, and pickles are not opened.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.datasets.pairing import stem_of
from hyperacuity.data.files import first_line, printable, read_bytes
from hyperacuity.data.formats.sniff import guess, kind_of_bytes
from hyperacuity.errors import InputError

_COLUMNS = ("image", "x1", "y1", "x2", "y2", "nearer")
_NEARER = {"1": 1, "2": -1, "=": 0, "point1": 1, "point2": -1, "equal": 0}
_RELATIONS = {">": -1, "<": 1, "=": 0}
"""In the files of Chen et al. the relation is one of depths: > says that the first point is farther."""


@dataclass
class JudgedPoints:
    """The pairs of one image, a row each: y and x of both points, from 0; 1 first nearer, −1 second, 0 equal; the weight.

    ``size`` is the width and height of the picture that was judged, where the file says it.
    """

    rows: list[tuple[float, ...]] = field(default_factory=list)
    size: tuple[int, int] | None = None

    def array(self) -> NDArray[np.float64]:
        """The rows as an array, n×6."""
        return np.array(self.rows, np.float64).reshape(-1, 6)


def read_point_pairs(path: Path | str) -> dict[str, JudgedPoints]:
    """The pairs of a file by image, named by the stems of their paths, in the order of the file."""
    path = Path(path)
    data = read_bytes(path)
    if kind := kind_of_bytes(data[:140]):
        why = ", which names no images: give the CSV file that it was made from" if kind == "MAT 7.3" else ""
        raise InputError(f"{path}: is a {kind} file{why}, expected pairs of points as CSV or JSON")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: {guess(data[:140])}, expected pairs of points as CSV or JSON") from error
    if path.suffix in (".pkl", ".pickle"):  # those of Python 2 are text
        raise InputError(f"{path}: is a Python pickle, which is never opened, expected pairs of points as CSV or JSON")
    if text.lstrip().startswith("{"):
        return _collected(_of_json(text, path), path)
    try:
        lines = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if any(map(str.strip, row))]
    except csv.Error as error:
        raise InputError(f"{path}: is not a CSV file ({first_line(error)})") from error
    if not lines:
        raise InputError(f"{path}: holds no line, expected pairs of points")
    return _collected(_of_lines(lines, path), path)


Pairs = Iterator[tuple[str, tuple[float, ...], tuple[int, int] | None]]
"""An image's path, a pair of points, and the size of the picture if the file says it."""


def _collected(pairs: Pairs, path: Path) -> dict[str, JudgedPoints]:
    images: dict[str, JudgedPoints] = {}
    paths: dict[str, str] = {}
    for image, row, size in pairs:
        name = stem_of(Path(image))
        if paths.setdefault(name, image) != image:
            raise InputError(f"{path}: {printable(paths[name])} and {printable(image)} have the same name, {name}")
        of = images.setdefault(name, JudgedPoints())
        of.rows.append(row)
        of.size = size or of.size
    if not images:
        raise InputError(f"{path}: holds no pair of points")
    return images


def _of_lines(lines: list[list[str]], path: Path) -> Pairs:
    """Whichever of the CSV forms it is."""
    header = [cell.lower() for cell in lines[0]]
    if set(_COLUMNS) <= set(header):
        return _of_table(header, lines[1:], path)
    if len(lines) > 1 and len(lines[0]) == 1 and len(lines[1]) == 7:
        return _of_diw(lines, path)
    if len(lines) > 2 and len(lines[1]) >= 3 and _is_count(lines[1][2]) and len(lines[2]) >= 5:
        return _of_nyu(lines[1:], path)
    start = printable(",".join(lines[0]))
    raise InputError(
        f"{path}: starts with {start}, expected the columns {', '.join(_COLUMNS)}, or the form of DIW or NYU"
    )


def _of_table(header: list[str], lines: list[list[str]], path: Path) -> Pairs:
    for number, line in enumerate(lines, 2):
        if len(line) != len(header):
            raise InputError(f"{path}, line {number}: has {len(line)} cells, expected {len(header)}")
        cells = dict(zip(header, line, strict=True))
        points = [cells[name] for name in ("y1", "x1", "y2", "x2")]
        where = f"{path}, line {number}"
        yield cells["image"], _row(points, _NEARER, cells["nearer"], cells.get("weight") or "1", where), None


def _of_diw(lines: list[list[str]], path: Path) -> Pairs:
    for number in range(0, len(lines), 2):
        where = f"{path}, line {number + 2}"
        if len(lines[number]) != 1 or number + 1 == len(lines) or len(lines[number + 1]) != 7:
            raise InputError(f"{where}: expected an image, then yA,xA,yB,xB,relation,width,height on the next line")
        *points, relation, width, height = lines[number + 1]
        if not (_is_count(width) and _is_count(height)):
            raise InputError(f"{where}: the size is {printable(width)}×{printable(height)}, expected whole numbers")
        yield lines[number][0], _row(points, _RELATIONS, relation, "1", where, first=1), (int(width), int(height))


def _of_nyu(lines: list[list[str]], path: Path) -> Pairs:
    at = 0
    while at < len(lines):
        where = f"{path}, line {at + 2}"
        if len(lines[at]) < 3 or not _is_count(lines[at][2]):
            raise InputError(f"{where}: expected an image and, in the third cell, how many pairs follow")
        image, count = lines[at][0], int(lines[at][2])
        if at + count >= len(lines):
            raise InputError(f"{where}: says that {count} pairs follow, but the file ends before")
        for number in range(at + 1, at + 1 + count):
            *points, relation = (*lines[number], *[""] * 5)[:5]
            yield image, _row(points, _RELATIONS, relation, "1", f"{path}, line {number + 2}", first=1), None
        at += count + 1


def _is_count(text: str) -> bool:
    """True for a whole number, as large as counts and sizes are."""
    return text.isascii() and text.isdigit() and len(text) < 10


def _of_json(text: str, path: Path) -> Pairs:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not a JSON file ({first_line(error)})") from error
    form = '{image: [{"point1": [y, x], "point2": [y, x], "closer_point": "point1"}]}'
    for image, pairs in held.items():
        for number, pair in enumerate(pairs if isinstance(pairs, list) else [None], 1):
            where = f"{path}, pair {number} of {printable(image)}"
            if not isinstance(pair, dict) or not {"point1", "point2", "closer_point"} <= pair.keys():
                raise InputError(f"{where}: expected {form}")
            points: list[Any] = [pair["point1"], pair["point2"]]
            if not all(isinstance(point, list) and len(point) == 2 for point in points):
                raise InputError(f"{where}: its points are {printable(str(points))}, expected [y, x] twice")
            numbers = [str(value) for point in points for value in point]
            nearer, weight = str(pair["closer_point"]), str(pair.get("weight", 1))
            yield image, _row(numbers, _NEARER, nearer, weight, where), None


def _row(
    points: Sequence[str], known: dict[str, int], relation: str, weight: str, where: str, *, first: int = 0
) -> tuple[float, ...]:
    """Checked: four whole numbers, counted from ``first``; a relation; a weight."""
    if relation not in known:
        raise InputError(f"{where}: the relation is {printable(repr(relation))}, expected {' or '.join(known)}")
    try:
        numbers, heavy = [float(cell) - first for cell in points], float(weight)
    except ValueError as error:
        raise InputError(f"{where}: {printable(first_line(error))}, expected numbers") from error
    if any(value < 0 or value != int(value) for value in numbers if abs(value) < 1e9) or max(numbers) >= 1e9:
        listed = printable(", ".join(points))
        raise InputError(f"{where}: the points are at {listed}, expected whole numbers from {first}")
    if not 0 <= heavy < float("inf"):
        raise InputError(f"{where}: the weight is {heavy:g}, expected a number from 0")
    return (*numbers, float(known[relation]), heavy)
