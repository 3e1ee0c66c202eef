"""A made world: layered paper scenes in which everything the benchmarks ask for is known exactly.

:func:`make_scene` makes one from a seed, with nothing to download; :func:`write_scenes` writes a folder of them. How the
world is made is described in ``docs/scenes.md``.
"""

from __future__ import annotations

from hyperacuity.data.scenes.annotators import Annotation
from hyperacuity.data.scenes.files import name_of, write_scene, write_scenes
from hyperacuity.data.scenes.scene import VERSION, Scene, make_scene

__all__ = ["VERSION", "Annotation", "Scene", "make_scene", "name_of", "write_scene", "write_scenes"]
