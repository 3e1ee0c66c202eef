"""How the cost of the boundary benchmark grows, what its first call costs, and what a whole test set costs.

Each point is measured in a process of its own, because a process never gives its greatest memory back. The maps are made
before and handed over as files, so that making them is not counted.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SIZES = ((448, 336), (896, 672), (1440, 1080), (2048, 1536), (4000, 3000))
LARGEST_SCENE = 2048
TOLERANCES_PX = (4, 8, 12, 19, 28, 37)
ANNOTATORS = (1, 2, 5, 10, 20)
THRESHOLDS = (9, 33, 99, 333, 999)
CLASSES = (1, 2, 5, 10, 20)
MAPS = 12
"""Contour maps in the dense tiling."""

Row = dict[str, Any]


def growth(*, full: bool = False) -> Iterator[Row]:
    """A row per point: what was varied, the kind of map, CPU seconds and peak memory of one tally; 12 Mpx if ``full``."""
    sizes = SIZES if full else SIZES[:-1]
    for size in sizes:
        soft, truths = _scene(size, annotators=1)
        yield {"varied": "size", "map": "one scene, finer", **_point(soft, truths)}
    for annotators in (1, 2):
        for size in sizes:
            point = _point(*dense(size, annotators))
            yield {"varied": "size", "map": f"twelve maps, {annotators} annotator{'s' * (annotators > 1)}", **point}
    soft, truths = dense(SIZES[2], 2)
    for pixels in TOLERANCES_PX:
        share = pixels / float(np.hypot(*soft.shape))
        for annotators in (1, 2):
            name = f"twelve maps, {annotators} annotator{'s' * (annotators > 1)}"
            yield {"varied": "tolerance", "map": name, **_point(soft, truths[:annotators], tolerance=share)}
    soft, truths = _scene((481, 321), annotators=max(ANNOTATORS))
    for count in ANNOTATORS:
        # Annotators go from the most to the least patient: take them evenly.
        chosen = [truths[i * len(truths) // count] for i in range(count)]
        yield {"varied": "annotators", "map": "scene, suppressed", **_point(soft, chosen)}
    thick = _scene((481, 321), annotators=1, suppressed=False)[0]
    for count in THRESHOLDS:
        yield {"varied": "thresholds", "map": "scene, suppressed", **_point(soft, truths[::10], thresholds=count)}
        yield {"varied": "thresholds", "map": "scene, thick, thinned", **_point(thick, truths[::10], thresholds=count)}
    for count in CLASSES:
        yield {"varied": "classes", "map": "semantic, 500×375", **_classes(count)}


def exponents(rows: list[Row]) -> list[Row]:
    """The slope of CPU time over what was varied, both logarithmic, by least squares, and the range it was fitted to."""
    found = []
    for varied, name in dict.fromkeys((row["varied"], row["map"]) for row in rows):
        points = [row for row in rows if (row["varied"], row["map"]) == (varied, name)]
        x, y = (np.array([row[key] for row in points]) for key in (AXES[varied], "cpu_s"))
        if x.size > 2:
            slope, _ = np.polyfit(np.log(x), np.log(y), 1)
            last = np.log(y[-1] / y[-2]) / np.log(x[-1] / x[-2])
            ends = {"from": float(x[0]), "to": float(x[-1]), "exponent": float(slope), "at_the_end": float(last)}
            found.append({"varied": varied, "map": name, **ends})
    return found


AXES = {
    "size": "megapixels",
    "tolerance": "tolerance_px",
    "annotators": "annotators",
    "thresholds": "thresholds",
    "classes": "classes",
}
"""What each curve runs over."""


def dense(size: tuple[int, int], annotators: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Twelve contour maps side by side, again and again until a size is filled, and as many annotators' boundaries.

    The maps are those of :func:`boundary_inputs.pictures`; made scenes get the contours of a hierarchy.
    """
    from boundary_inputs import SIGMA, pictures
    from hyperacuity.detect import canny
    from hyperacuity.regions import hierarchy

    tiles = []
    for picture in pictures(MAPS):
        contours = hierarchy(canny(picture.image, sigma=SIGMA).soft).ucm() if picture.ucm is None else picture.ucm
        chosen = [picture.truths[n % len(picture.truths)] for n in range(annotators)]
        upright = contours.shape[0] > contours.shape[1]
        tiles.append([one.T if upright else one for one in (contours, *chosen)])
    height, width = tiles[0][0].shape
    rows, columns = -(-size[1] // height), -(-size[0] // width)
    maps = []
    for n in range(annotators + 1):
        strips = [[tiles[(y * columns + x) % MAPS][n] for x in range(columns)] for y in range(rows)]
        maps.append(np.ascontiguousarray(np.block(strips)[: size[1], : size[0]]))
    return maps[0], maps[1:]


def first_call() -> Row:
    """CPU seconds of a fresh machine's first call: nothing compiled, imports and all."""
    soft, truths = _scene((481, 321), annotators=2)
    with tempfile.TemporaryDirectory() as cache:
        cold = _point(soft, truths, repeats=1, environment={"NUMBA_CACHE_DIR": cache})
        warm = _point(soft, truths, repeats=1, environment={"NUMBA_CACHE_DIR": cache})
    return {"cold_cpu_s": cold["process_cpu_s"], "warm_cpu_s": warm["process_cpu_s"]}


def whole_test_set(workers: int = 2) -> Row | None:
    """The command on the whole BSDS500 test set, reading files included; None where the data are missing."""
    from boundary_inputs import bsds500

    folder = bsds500()
    if folder is None:
        return None
    command = [sys.executable, "-c", "from hyperacuity.cli import main; main()", "boundary"]
    command += [str(folder / "ucm2" / "test"), str(folder / "groundTruth" / "test")]
    command += ["--workers", str(workers), "--json"]
    # The process between is small. A child's peak memory starts with that of whoever started it.
    done = subprocess.run([sys.executable, __file__, "--watch", *command], capture_output=True, text=True, check=True)
    scores, cost = map(json.loads, done.stdout.splitlines())
    (score,) = scores["systems"].values()
    return {**cost, "ods": score["ods"]["f"], "ois": score["ois"]["f"], "ap": score["ap"]}


def _scene(size: tuple[int, int], annotators: int, *, suppressed: bool = True) -> tuple[np.ndarray, list[np.ndarray]]:
    """A gradient map of a made scene and its annotators' boundaries; larger than scenes are made, four mirrored."""
    from boundary_inputs import SIGMA
    from hyperacuity.data.scenes import make_scene
    from hyperacuity.detect import canny
    from hyperacuity.kernels.suppression import suppress_structured

    mirrored = max(size) > LARGEST_SCENE
    scene = make_scene(1, size=(size[0] // 2, size[1] // 2) if mirrored else size, annotators=annotators)
    soft = canny(scene.image, sigma=SIGMA).soft
    if suppressed:
        soft = suppress_structured(soft)
    maps = [soft, *(one.boundaries for one in scene.annotators)]
    if mirrored:
        maps = [np.pad(one, [(0, n) for n in one.shape], mode="symmetric") for one in maps]
    return maps[0], maps[1:]


def tiled(one: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Copies of a map side by side, mirrored, to fill a size."""
    wanted = size[::-1]
    padded = np.pad(one, [(0, max(0, w - n)) for w, n in zip(wanted, one.shape, strict=True)], mode="symmetric")
    return np.ascontiguousarray(padded[: wanted[0], : wanted[1]])


def _point(
    soft: np.ndarray,
    truths: list[np.ndarray],
    tolerance: float = 0.0075,
    thresholds: int = 99,
    repeats: int = 3,
    environment: dict[str, str] | None = None,
) -> Row:
    """Measure one tally in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/soft.npy", soft)
        np.save(f"{folder}/truths.npy", np.packbits(truths, axis=-1))
        command = [sys.executable, __file__, "--child", folder, str(tolerance), str(thresholds), str(repeats)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, **(environment or {})}
        )
    facts = {
        "megapixels": soft.size / 1e6,
        "tolerance": tolerance,
        "tolerance_px": tolerance * float(np.hypot(*soft.shape)),
        "annotators": len(truths),
        "thresholds": thresholds,
        "truth_pixels": int(np.count_nonzero(truths)),
    }
    return facts | json.loads(done.stdout)


def _classes(count: int) -> Row:
    """Measure one tally of so many classes, all of which the picture shows; in this process, so its memory is not known."""
    from hyperacuity.semantic import Protocol, semantic_truth, tally
    from measuring import cpu_seconds
    from semantic import SMALL, image_of

    labels, maps = image_of(1, SMALL, count, count)
    soft, truth = maps / np.float32(255), semantic_truth(labels)
    protocol = Protocol(tolerance=0.02)
    tally(soft[:1], [semantic_truth(np.minimum(labels, 1))], protocol)
    seconds = cpu_seconds(lambda: tally(soft, [truth], protocol), repeats=3)
    size = {"megapixels": labels.size / 1e6, "tolerance_px": 0.02 * float(np.hypot(*labels.shape))}
    return {**size, "annotators": 1, "thresholds": 99, "classes": count, "cpu_s": seconds}


def _child(folder: Path, tolerance: float, thresholds: int, repeats: int) -> Row:
    from hyperacuity.boundary import Protocol, tally

    soft = np.load(folder / "soft.npy")
    packed = np.load(folder / "truths.npy")
    truths = [np.ascontiguousarray(np.unpackbits(one, axis=-1, count=soft.shape[1]).view(np.bool_)) for one in packed]
    protocol = Protocol(tolerance=tolerance, thresholds=thresholds)
    corner = np.s_[:64, :64]
    tally(soft[corner].copy(), [one[corner].copy() for one in truths], protocol)  # compiled, or loaded from the cache
    before = _memory("VmRSS")
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        counts = tally(soft, truths, protocol)
        times.append(time.thread_time() - start)
        if times[-1] > 5:
            break
    return {
        "cpu_s": min(times),
        "peak_mb": _memory("VmHWM"),
        "before_mb": before,
        "detected_pixels": int(counts.detected[0]),
        "process_cpu_s": time.process_time(),
    }


def _memory(field: str) -> float:
    """Megabytes of this process now (``VmRSS``) or at most (``VmHWM``); where there is no /proc, at most in either case."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        kilobytes = next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
    except OSError:
        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return kilobytes / 1e3


def _watch(command: list[str]) -> Row:
    start = time.perf_counter()
    subprocess.run(command, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall_s": time.perf_counter() - start,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / 1e3,
    }


if __name__ == "__main__":
    if sys.argv[1] == "--watch":
        print(json.dumps(_watch(sys.argv[2:])))
    else:
        print(json.dumps(_child(Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))))
