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

import numpy as np

from hyperacuity import tasks
from hyperacuity.data.scenes import Scene, make_scene
from hyperacuity.errors import UsageError
from hyperacuity.machine import processors


def warm_all(names: Sequence[str] = (), workers: int | None = None) -> list[str]:
    """Take steps by their names, side by side in processes of their own unless there is one worker; returns them.

    By default all. Benchmarks of one room, whose kernels are much the same, are taken by one process. ``UsageError`` for a step
    that there is not.
    """
    known = steps()
    chosen = list(names or known)
    for name in chosen:
        if name not in known:
            raise UsageError(f"there is nothing to warm up called {name!r}; there are {', '.join(known)}")
    together: dict[str, list[str]] = {}
    for name in chosen:
        together.setdefault(known[name], []).append(name)
    count = min(len(together), workers or processors())
    if count == 1:
        for name in chosen:
            warm_up(name)
        return chosen
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        list(pool.map(_warm_group, together.values()))
    return chosen


def steps() -> dict[str, str]:
    """Steps that can be taken, each with the name of those that share most of their kernels with it.

    What takes long goes first, but for the sweep, which many need.
    """
    first = {name: name for name in ("sweep", "contours")}
    scored = [one for one in map(tasks.task, tasks.names()) if one.examples is not None]
    rooms = {one.name: one.tally.__module__.rpartition(".")[0] for one in scored}
    return first | rooms | {name: name for name in SYSTEMS}


def _warm_group(names: Sequence[str]) -> None:
    for name in names:
        warm_up(name)


def warm_up(name: str) -> None:
    """Compile what a step needs, or load it compiled."""
    if name not in SYSTEMS:
        _score(name, _scene())
        return
    compile_step = SYSTEMS[name]
    if signature(compile_step).parameters:
        compile_step(_scene())
    else:
        compile_step()


@cache
def _scene() -> Scene:
    return make_scene(1, size=(96, 64), leaves=6)


def _score(name: str, scene: Scene) -> None:
    """Score a benchmark's examples."""
    from hyperacuity.evaluation.front import evaluate

    examples = tasks.task(name).examples
    for prediction, truths, options in examples(scene) if examples else ():
        result = evaluate(name, {"it": [prediction]}, [truths], workers=1, progress=False, **options)
        _ = result.score(), result.people if result.human else None


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
    from hyperacuity.detect.stereo import BUILT_IN, matcher

    for name in BUILT_IN:
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


SYSTEMS: dict[str, Callable[..., None]] = {
    "sweep": _sweep,
    "contours": _contours,
    "depth": _depth,
    "stereo": _stereo,
    "filters": _filters,
    "compare": _compare,
}
"""Kinds of systems, comparisons, and what benchmarks of boundaries share. Steps without an argument need no scene."""
