"""A world of its own: layered paper scenes in which everything the benchmarks ask for is known exactly.

:func:`make_scene` makes one from a seed, with nothing to download. How the world is made is told in ``docs/scenes.md``.
"""

from __future__ import annotations

from hyperacuity.data.scenes.annotators import Annotation
from hyperacuity.data.scenes.scene import VERSION, Scene, make_scene

__all__ = ["VERSION", "Annotation", "Scene", "make_scene"]
