"""Labels for the overview: how far two people's edges agree, where they differ, and a third map of both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from hyperacuity import __version__
from hyperacuity.audit.strength import strengths
from hyperacuity.boundary import match
from hyperacuity.data.formats.images import encode_png
from hyperacuity.kernels.thinning import thin
from hyperacuity.maps import EdgeMap
from hyperacuity.studio.actions import WorkVersion
from hyperacuity.studio.label.files import Finished
from hyperacuity.studio.outputs import Outputs
from hyperacuity.studio.overview.agreement import Confusion, cohen_kappa, confusion_of_edges, f_between
from hyperacuity.studio.overview.work import Difference, Measures, SideBySide, Work

EIGHT = np.ones((3, 3), np.bool_)

NEAR = 3
"""Pixels within twice this many of each other belong to one difference."""

SPECK = 5
"""A difference of fewer pixels than this is none: the first version stands."""

ORANGE, BLUE = (230, 159, 0, 255), (86, 180, 233, 255)


class LabelWork(Work[Finished]):
    """Edge maps."""

    name: ClassVar[str] = "label"
    title: ClassVar[str] = "Label edges"
    photograph: ClassVar[str] = "/image/{item}/photo"
    measures: ClassVar[Measures] = {"F": f_between, "κ": cohen_kappa}
    about: ClassVar[str] = (
        "F measures one person's edges against another's, matched one to one within 0.75 % of the image's diagonal; "
        "κ is agreement beyond chance over pixels, matched in the same way."
    )

    def _confusion(self, one: Finished, other: Finished) -> Confusion:
        return confusion_of_edges(one.edges, other.edges, match(one.edges, other.edges))

    def note(self, item: str, versions: Sequence[WorkVersion]) -> str:
        """Shares of the boundaries that everybody drew, and that one person alone drew."""
        shares = strengths([one.edges for one in self._load(item, *versions)]).boundaries
        if np.isnan(shares.consensus):
            return ""
        return f"{shares.consensus:.0%} drawn by everyone, {shares.orphan:.0%} by one person alone"

    def side_by_side(self, item: str, a: WorkVersion, b: WorkVersion) -> SideBySide:
        """Two finished maps, and the pieces in which they differ."""
        one, other = (version.edges for version in self._load(item, a, b))
        pieces, count = difference_pieces(one, other)
        boxes = ndimage.find_objects(pieces, max_label=count)
        differences = []
        for number, (rows, columns) in enumerate(boxes, start=1):
            here = pieces[rows, columns] == number
            mine, theirs = (int((here & edges[rows, columns]).sum()) for edges in (one, other))
            box = (rows.start, columns.start, rows.stop - rows.start, columns.stop - columns.start)
            words = (f"only here: {size} edge pixels" if size else "no edge here" for size in (mine, theirs))
            differences.append(Difference(box, *words))
        return SideBySide((_painted(one, ORANGE), _painted(other, BLUE)), differences)

    def settle(
        self, item: str, a: WorkVersion, b: WorkVersion, choices: Sequence[str], facts: Mapping[str, Any]
    ) -> Outputs:
        """The map of both, thinned, and where it comes from."""
        one, other = (version.edges for version in self._load(item, a, b))
        edges = thin(settled_edges(one, other, choices))
        name, folder = self.items[item].name, self._out / "adjudicated"
        provenance = {"made_by": f"hyperacuity {__version__}", "image": name, **facts, "edges": int(edges.sum())}
        return {
            folder / "edges" / f"{name}.png": encode_png(edges.astype(np.uint8) * np.uint8(255)),
            folder / "provenance" / f"{name}.json": (
                json.dumps(provenance, indent=2, ensure_ascii=False) + "\n"
            ).encode(),
        }


def difference_pieces(one: EdgeMap, other: EdgeMap) -> tuple[NDArray[np.int32], int]:
    """Pieces in which two maps differ: 1, 2, … at pixels that only one of them has, even within the tolerance, and how many.

    Unmatched pixels near each other, whoever drew them, are one piece; specks are none. Equal maps have no pieces.

    Examples
    --------
    >>> one = np.zeros((20, 20), bool); one[4] = True
    >>> other = one.copy(); other[15, 3:12] = True
    >>> pieces, count = difference_pieces(one, other)
    >>> count, np.argwhere(pieces == 1)[[0, -1]].tolist()
    (1, [[15, 3], [15, 11]])
    """
    matched = match(one, other)
    lone = np.zeros(one.shape, np.bool_)
    lone |= one & (matched.partner_of_detected < 0)
    lone |= other & (matched.partner_of_truth < 0)
    wide = ndimage.binary_dilation(lone, EIGHT, iterations=NEAR)
    labels, count = ndimage.label(wide, EIGHT)
    sizes = np.bincount(labels[lone], minlength=count + 1)
    numbers = np.cumsum(sizes >= SPECK) * (sizes >= SPECK)
    return np.where(lone, numbers[labels], 0).astype(np.int32), int(numbers.max(initial=0))


def settled_edges(one: EdgeMap, other: EdgeMap, choices: Sequence[str]) -> EdgeMap:
    """The first map, but in pieces where the second was chosen with what the second has, and in marked ones with nothing.

    >>> one = np.zeros((20, 20), bool); one[4] = True
    >>> other = one.copy(); other[15, 3:12] = True
    >>> [int(settled_edges(one, other, [choice]).sum()) for choice in ("a", "b", "mark")]
    [20, 29, 20]
    """
    pieces, _ = difference_pieces(one, other)
    chosen = np.array(["a", *choices])[pieces]
    settled: EdgeMap = np.where(chosen == "b", other, one & (chosen == "a"))
    return settled


def _painted(edges: EdgeMap, colour: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    picture = np.zeros((*edges.shape, 4), np.uint8)
    picture[edges] = colour
    return picture
