"""One small image for every benchmark, and a benchmark whose counting can be watched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
import pytest

from hyperacuity import tasks
from hyperacuity.data.scenes import make_scene
from hyperacuity.maps import soft_map
from hyperacuity.ordering import contours, occlusion_map, ordering
from hyperacuity.tally import BaseProtocol, Counts, Tally
from hyperacuity.tasks import Criteria, Task

small_scene = cache(partial(make_scene, size=(80, 64), leaves=4))
"""Made once; tests only read it."""


def inputs(task: str, seed: int = 0) -> tuple[Any, Any, dict[str, Any]]:
    """A prediction, truths and extras of a benchmark, made of a scene."""
    scene = small_scene(seed)
    people = [one.boundaries for one in scene.annotators]
    blurred = scene.boundaries * np.linspace(0.2, 1, 80, dtype=np.float32)
    if task in ("boundary", "edges", "audit"):
        return blurred, people, {}
    if task == "semantic":
        return np.stack([blurred, blurred[::-1]]), scene.labels % 3, {}
    if task == "strength":
        return None, people, {}
    if task == "regions":
        return scene.annotators[0].labels, [one.labels for one in scene.annotators], {}
    if task == "occlusion":
        directed = contours(ordering(scene.order))
        return occlusion_map(blurred, directed.angle + 60 * (seed % 2)), [directed, directed.angle], {}
    if task == "whdr":
        return scene.order, [[[5, 5, 40, 60, 1, 2], [60, 70, 10, 10, -1, 1], [3, 3, 3, 4, 0, 1]]], {}
    if task == "dbe":
        return scene.disparity, [scene.boundaries], {}
    if task == "masks":
        return scene.annotators[0].labels, scene.annotators[1].labels, {}
    if task == "ordering":
        return -scene.order if seed % 2 else scene.order, [scene.order], {}
    left = np.roll(np.tile(np.arange(48, dtype=np.uint8) * 5, (40, 1)), seed, axis=1)  # no two images alike
    disparity = np.float32(seed / 8) + np.where(np.arange(48) > 24, np.float32(4), np.float32(2)) * np.ones(
        (40, 1), np.float32
    )
    if task == "views":
        return disparity, [left, np.roll(left, -2, axis=1)], {}
    assert task == "disparity", f"there is no example for {task}"
    return disparity + np.float32(0.75), disparity, {"masks": dict.fromkeys(("nonocc", "all", "disc"), disparity > 3)}


@dataclass(frozen=True)
class Watched(BaseProtocol):
    task: ClassVar[str] = "watched"
    level: int = 0

    def parts(self) -> dict[str, object]:
        return {"level": self.level}


@dataclass(frozen=True, eq=False)
class WatchedTally(Tally):
    pixels: Counts


@pytest.fixture
def watched(monkeypatch):
    """A benchmark that counts pixels above zero, and calls what its test sets before it does."""

    class Watch:
        calls: ClassVar[list[Any]] = []

        def before(self, prediction: Any) -> None:
            self.calls.append(prediction)

    watch = Watch()
    watch.calls.clear()

    def tally(prediction, truths, protocol):
        watch.before(prediction)
        return WatchedTally(np.array(int((soft_map(prediction, name="prediction") > 0).sum())), protocol=protocol)

    def collect(tallies, *, resamples=1000, seed=0):
        return {name: int(one.pixels) for name, one in tallies.items()}

    def criteria(protocol):
        def rescore(tallies, weights):
            return weights @ np.array([[float(one.pixels)] for one in tallies])

        return Criteria(("pixels",), ("max",), rescore, ("pixels",))

    monkeypatch.setattr(tasks, "_joined", {})
    tasks.register(Task("watched", "Watched", Watched, WatchedTally, tally, collect, criteria))
    return watch
