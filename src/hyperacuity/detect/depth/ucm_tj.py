"""``ucm-tj``: regions of a hierarchy, ordered by T-junctions and convexity (UCM + TJC of Palou & Salembier)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hyperacuity.detect.depth.junctions import convexity_relations, junction_candidates
from hyperacuity.detect.depth.orderers import regions_to_order
from hyperacuity.detect.depth.relations import Relations, join_relations, layers_of
from hyperacuity.detect.detection import REGIONS_PER_PIXEL, takes_memory
from hyperacuity.errors import UsageError
from hyperacuity.maps import OrderMap
from hyperacuity.ordering.figure_ground import Neighbours, neighbours
from hyperacuity.regions import Hierarchy

LEVEL = 0.2
"""The level of the regions: of 0.1, 0.2, 0.3 and 0.4 where contours are best (F(1) of local depth consistency)
on ten of the images that are learned from."""

CUES = ("both", "junctions", "convexity")


@takes_memory(REGIONS_PER_PIXEL)
def ucm_tj(
    image: ArrayLike,
    labels: ArrayLike | None = None,
    tree: Hierarchy | None = None,
    *,
    cues: str = "both",
    level: float = LEVEL,
    least: float = 0.0,
) -> OrderMap:
    """Regions in layers by T-junctions and convexity, nothing learned (Palou & Salembier 2013); larger = nearer.

    Each cue says with a confidence which of two neighbours is in front (:mod:`~hyperacuity.detect.depth.junctions`). Cues that
    say the same are joined; circles are cut at their least confident relation; a region's layer is the longest chain behind
    it (:mod:`~hyperacuity.detect.depth.relations`). Neighbours that no cue orders may tie.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    labels
        Its regions; void pixels come out as NaN. Without them the regions are those of a hierarchy.
    tree
        The hierarchy; without one, :func:`~hyperacuity.detect.region_tree`.
    cues
        ``"both"``, ``"junctions"`` or ``"convexity"`` alone.
    level
        Where the hierarchy is cut.
    least
        Relations of no more confidence than this are not used.

    Examples
    --------
    >>> labels = np.zeros((60, 80), int); labels[25:35, 5:75] = 1; labels[10:50, 30:50] = 2     # a card on a bar on the ground
    >>> order = ucm_tj(labels / 2, labels)
    >>> float(order[0, 0]), float(order[30, 10]), float(order[30, 40])
    (0.0, 1.0, 2.0)
    """
    if cues not in CUES:
        raise UsageError(f"cues is {cues!r}, expected one of {', '.join(CUES)}")
    borders = neighbours(regions_to_order(image, labels, tree, level))
    layer = layers_of(depth_relations(image, borders, cues=cues, least=least), int(borders.labels.max()) + 1)
    return np.append(layer, np.nan)[borders.labels].astype(np.float32)


def depth_relations(image: ArrayLike, borders: Neighbours, *, cues: str = "both", least: float = 0.0) -> Relations:
    """Relations of a segmentation's regions by the cues, each once."""
    result = []
    if cues != "convexity":
        result.append(junction_candidates(image, borders.labels).relations(least=least))
    if cues != "junctions":
        result.append(convexity_relations(image, borders, least=least))
    return join_relations(result)
