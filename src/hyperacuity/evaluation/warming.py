"""Compile kernels before they are needed: each task and each kind of system once, on one small scene.

Kernels are compiled on first use and kept on disk (:mod:`hyperacuity.kernels`). What is done here is nothing but such a first use
of everything, so that no command and no worker of a cluster waits later. Steps have few kernels in common, so that
processes can take them side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from inspect import signature
from multiprocessing import get_context
from typing import Any

import numpy as np

from hyperacuity.compiled import processors
from hyperacuity.data.scenes import Scene, make_scene
from hyperacuity.errors import UsageError


def warm_all(steps: Sequence[str], workers: int | None = None) -> list[str]:
    """Take steps, side by side in processes of their own unless there is one worker; returns them.

    ``UsageError`` for one that there is not.
    """
    for step in steps:
        _known(step)
    count = min(len(steps), workers or processors())
    if count == 1:
        for step in steps:
            warm_up(step)
        return list(steps)
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        list(pool.map(warm_up, steps))
    return list(steps)


def warm_up(step: str) -> None:
    """Compile what a step needs, or find it compiled. ``UsageError`` for a step that there is not."""
    compile_step = _known(step)
    if signature(compile_step).parameters:
        compile_step(_scene())
    else:
        compile_step()


def _known(step: str) -> Callable[..., None]:
    if step not in STEPS:
        raise UsageError(f"there is nothing to warm up called {step!r}; there are {', '.join(STEPS)}")
    return STEPS[step]


@cache
def _scene() -> Scene:
    return make_scene(1, size=(96, 64), leaves=6)


def _soft(scene: Scene) -> Any:
    """A soft map that is neither thin nor empty."""
    spread = np.exp(-np.hypot(*np.gradient(scene.image.mean(axis=2))) / 9)
    return (1 - spread).astype(np.float32)


def _people(scene: Scene) -> list[Any]:
    return [person.boundaries for person in scene.annotators]


def _score(task: str, prediction: Any, truth: Any, **options: Any) -> Any:
    from hyperacuity.evaluation.front import evaluate

    return evaluate(task, {"it": [prediction]}, [truth], workers=1, progress=False, **options)


def _boundary(scene: Scene) -> None:
    soft = _soft(scene)
    str(_score("boundary", soft, _people(scene), human=True))
    _score("boundary", soft, _people(scene), nms="structured", thin=False).score()


def _edges(scene: Scene) -> None:
    _score("edges", _soft(scene), scene.boundaries).score()


def _regions(scene: Scene) -> None:
    _score(
        "regions", [person.labels for person in scene.annotators], [person.labels for person in scene.annotators]
    ).score()


def _masks(scene: Scene) -> None:
    _score("masks", scene.parts, scene.labels, by="instance").score()


def _semantic(scene: Scene) -> None:
    soft = np.stack([_soft(scene), _soft(scene)[::-1]])
    _score("semantic", soft, scene.labels % 2 + 1, classes=("one", "two")).score()


def _ordering(scene: Scene) -> None:
    from hyperacuity.ordering import contours, occlusion_map, ordering

    truth = ordering(scene.order)
    _score("ordering", scene.order, scene.order).score()
    found = contours(truth)
    _score("occlusion", occlusion_map(found.pixels, found.angle), truth, nms="none").score()
    _score("dbe", scene.order, scene.boundaries).score()


def _disparity(scene: Scene) -> None:
    _score("disparity", scene.disparity, scene.disparity).score()
    _score("views", scene.disparity, [scene.image, scene.right]).score()


def _audit(scene: Scene) -> None:
    _score("audit", _soft(scene), _people(scene)).score()
    _score("strength", None, _people(scene)).score()


def _sweep() -> None:
    from hyperacuity.boundary import tally

    soft = np.tile(np.linspace(0, 1, 20, dtype=np.float32), (9, 1))
    tally(soft, [soft > 0.5, soft > 0.9])


def _filters() -> None:
    from hyperacuity.detect import detector

    picture = np.random.default_rng(1).integers(0, 256, (64, 96, 3), np.uint8)
    for name in ("sobel", "masks", "canny", "sf1", "sf5", "agk", "hk"):
        detector(name)(picture)


def _contours(scene: Scene) -> None:
    from hyperacuity.detect import detector

    for name in ("pb", "gpb", "gpb-ucm"):
        detector(name)(scene.image)


def _stereo(scene: Scene) -> None:
    from hyperacuity.detect.stereo import OWN, matcher

    for name in OWN:
        matcher(name)(scene.image, scene.right, 8)


def _depth(scene: Scene) -> None:
    from hyperacuity.detect import orderer

    for name in ("ownership", "depth-order", "depth-cues", "ae", "ucm-tj"):  # the network has no kernels of ours
        orderer(name)(scene.image)


def _compare() -> None:
    from hyperacuity.compare.pareto import SMALL, groups, optimal

    table = np.random.default_rng(1).random((SMALL + 1, 3))
    for systems in (table[:3], table):  # many are sorted, of a few all pairs are looked at
        optimal(systems)
        groups(systems)


STEPS: dict[str, Callable[..., None]] = {
    "sweep": _sweep,
    "contours": _contours,
    "boundary": _boundary,
    "edges": _edges,
    "depth": _depth,
    "stereo": _stereo,
    "audit": _audit,
    "ordering": _ordering,
    "disparity": _disparity,
    "regions": _regions,
    "semantic": _semantic,
    "masks": _masks,
    "filters": _filters,
    "compare": _compare,
}
"""What can be warmed up: benchmarks by their names, kinds of systems, comparisons, and what benchmarks of boundaries share.

What takes long goes first, but for the sweep: of two processes, one compiles it while the other compiles what draws the scene,
and boundaries, which need both, find both. Steps without an argument need no scene, and so none of the kernels that draw one.
"""
