"""Maps of a photograph that all systems share: computed once, cached, and used by figures and by the next study."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect.depth import ownership
from hyperacuity.detect.net import sight
from hyperacuity.detect.net.network import Look
from hyperacuity.maps import OrderMap
from hyperacuity.regions import Hierarchy
from hyperacuity.run.keeping import Arrays, Kept

MODULES = ("hyperacuity.detect.registry",)
"""Modules whose code sights depend on."""

TREE = "tree "


@dataclass(frozen=True, eq=False)
class Sights:
    """Probability of ownership, the hierarchy of regions that systems share, and what the network says, where it can be run."""

    ownership: OrderMap
    tree: Hierarchy
    look: Look | None

    def arrays(self) -> Arrays:
        """Return the arrays of a file."""
        tree = {f"{TREE}{one.name}": getattr(self.tree, one.name) for one in fields(Hierarchy)}
        seen = {} if self.look is None else {"boundaries": self.look.boundaries, "field": self.look.field}
        return {"ownership": self.ownership, **tree, **seen}

    @classmethod
    def of_arrays(cls, arrays: Arrays) -> Sights:
        """The inverse of :meth:`arrays`."""
        tree = Hierarchy(**{one.name: arrays[f"{TREE}{one.name}"] for one in fields(Hierarchy)})
        look = Look(arrays["boundaries"], arrays["field"]) if "field" in arrays else None
        return cls(arrays["ownership"], tree, look)


def kept_sights(folder: Path | None) -> Kept | None:
    """Open the cache of sights, if a folder is given."""
    return None if folder is None else Kept(folder, MODULES)


def read_sights(kept: Kept | None, image: NDArray[Any]) -> Sights | None:
    """Read the cached sights of an image; None if there are none."""
    arrays = None if kept is None else kept.found(_depends(image))
    return None if arrays is None else Sights.of_arrays(arrays)


def keep_sights(kept: Kept | None, image: NDArray[Any], seen: Sights) -> None:
    """Keep what was seen in an image."""
    if kept is not None:
        kept(_depends(image), seen.arrays)


def remember_sights(kept: Kept | None, image: NDArray[Any]) -> None:
    """Hand the cached sights of an image to systems that are about to look at it."""
    if (seen := read_sights(kept, image)) is not None:
        ownership.cache_ownership(image, seen.ownership)
        if seen.look is not None:
            sight.cache_look(image, seen.look)


def _depends(image: NDArray[Any]) -> list[str | NDArray[Any]]:
    return ["with the network" if find_spec("onnxruntime") else "without", np.asarray(image)]
