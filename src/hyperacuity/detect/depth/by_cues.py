"""``depth-cues``: regions in depth order from cues whose worth was learned from figure/ground labels.

The cues are those of :mod:`hyperacuity.detect.depth.cues`. What they are worth is in ``depth_cues.json`` beside this module,
with how it was obtained; :func:`hyperacuity.detect.depth.cue_model.learn_cues` learns it anew.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from numpy.typing import ArrayLike

from hyperacuity.detect.depth.by_ownership import LEVEL, region_tree
from hyperacuity.detect.depth.cue_model import CueModel, load_cue_model
from hyperacuity.detect.depth.cues import group_of, pair_cues
from hyperacuity.detect.depth.embedding import depth_of_regions
from hyperacuity.maps import OrderMap

SHIPPED = Path(__file__).with_name("depth_cues.json")


@cache
def shipped_cues() -> CueModel:
    """The model that the package brings along."""
    return load_cue_model(SHIPPED)


def depth_cues(image: ArrayLike, labels: ArrayLike | None = None, *, cues: str = "all", model: str = "") -> OrderMap:
    """Regions in depth order by convexity, T-junctions, size, position, colour, texture and ownership; larger = nearer.

    Parameters
    ----------
    image
        H×W or H×W×3, uint8, uint16 or floats in [0, 1].
    labels
        Its regions; without them those of :func:`~hyperacuity.detect.region_tree` at the level that fits people's best. Void
        pixels come out as NaN.
    cues
        ``"all"``, or ``"tjc"`` for T-junctions and convexity alone.
    model
        A file with other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> y, x = np.mgrid[-20:21, -30:31]
    >>> disc = np.hypot(y, x) < 12
    >>> order = depth_cues(np.where(disc, 0.2, 0.8), disc, cues="tjc")
    >>> bool(order[20, 30] > order[0, 0])
    True
    """
    weights = (load_cue_model(Path(model)) if model else shipped_cues()).choose(cues)
    regions = region_tree(image).at(LEVEL) if labels is None else labels
    found = pair_cues(image, regions, groups={group_of(name) for name in weights.names})
    return depth_of_regions(found.beside, weights.advantages(found)).order
