"""Semantic boundaries: how long they take, beside pyEdgeEval on the same maps, and how far the scores are apart.

    python benchmarks/semantic.py [--peer DIR] [--images N] [--classes N] [--few N] [--sbd DIR] [--json FILE]

Maps are made of scenes, seeded (:func:`image_of`), in 8 bits. Both programs get the same arrays and thresholds, in one process
and one thread; times are CPU time. pyEdgeEval (0.2.8) may be installed here, or lie in another environment's site-packages, which
``--peer`` names. Where it would take too long, the peer gets fewer thresholds, at which scores are then compared, and its time
for 99 is extrapolated. Estimates for SBD and Cityscapes are from whole images in files, through the front door. ``--sbd`` names
the folder of SBD's own example (``indir``, ``datadir``): then both programs score its two maps too.

The peer's own area leaves recall 1 out and takes the precision of the lower threshold where a recall repeats; so areas are
compared twice, as it prints them (``auc``) and by our rule from its counts (``ap``).
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from hyperacuity.data import write_labels, write_png
from hyperacuity.data.scenes import make_scene
from hyperacuity.kinds.class_maps import SemanticKind
from hyperacuity.semantic import Protocol, area, collect, masks2edges, protocol, semantic_truth, tally
from hyperacuity.semantic.tallies import SemanticImage
from measuring import timed

SMALL, WIDE = (500, 375), (2048, 1024)
SBD_VAL, CITYSCAPES_VAL = 2857, 500
CORES = 2
PERSON = 14
REGIONS = 8
"""Of how many regions of a scene a class is: boundaries are then about as long as SBD's."""


def image_of(seed: int, size: tuple[int, int], classes: int, shown: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Labels (0: no class) and a map of each class in 8 bits, of a scene that shows so many of the classes.

    A class has a few of the scene's regions. Its map has all boundaries of the scene, those of the class strong and the others
    weak, each stretch as strong as smooth noise says, and blurred: a detector that sees contours and doubts what they are of.
    """
    scene = make_scene(seed, size=size)
    rng = np.random.default_rng(seed)
    regions = int(scene.labels.max()) + 1
    of_region = np.zeros(regions + 1, np.int32)
    order = 1 + rng.permutation(regions)
    for n, c in enumerate(1 + rng.choice(classes, shown, replace=False)):
        of_region[order[n :: max(shown, regions // REGIONS)][:REGIONS]] = c
    labels = of_region[scene.labels + 1]
    edges = masks2edges(labels, range(1, classes + 1), radius=1, thin=True)
    contours = masks2edges(scene.labels + 1, range(1, regions + 1), radius=1).any(axis=0)
    maps = np.zeros(edges.shape, np.uint8)
    for c, own in enumerate(edges):
        sure, doubt = (_smooth(rng, labels.shape) for _ in range(2))
        weak = 0.6 if own.any() else 0.25
        drawn = np.maximum(own * (0.35 + 0.65 * sure), weak * contours * doubt**2)
        maps[c] = np.round(255 * np.clip(1.6 * gaussian_filter(drawn.astype(np.float32), 0.7), 0, 1))
    return labels, maps


def _smooth(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Smooth noise from 0 to 1."""
    noise = gaussian_filter(rng.random(shape, np.float32), 12)
    stretched: NDArray[np.float32] = (noise - noise.min()) / (noise.max() - noise.min())
    return stretched


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns."""
    found = timed(work, 1)
    return found.best, found.result


def peer_counts(soft: NDArray[np.float32], truth: NDArray[np.bool_], inside: NDArray[np.bool_], how: Protocol) -> Any:
    """What pyEdgeEval counts of one class of one image."""
    from pyEdgeEval.common.multi_label.evaluate_boundaries import evaluate_boundaries_threshold

    return evaluate_boundaries_threshold(
        thresholds=how.levels,
        pred=soft.astype(np.float64),
        gt=truth.astype(np.uint8),
        gt_seg=inside,
        max_dist=how.tolerance,
        apply_thinning=how.thin,
        kill_internal=how.internal == "drop",
        skip_if_nonexistent=how.absent == "skip",
    )


def peer_scores(counts: Mapping[str, Any], how: Protocol) -> dict[str, float]:
    """What pyEdgeEval makes of the counts of a class by image."""
    from pyEdgeEval.common.multi_label.calculate_metrics import calculate_metrics

    samples = [{"name": name} for name in counts]
    with redirect_stdout(io.StringIO()):  # a bar
        *_, overall = calculate_metrics(lambda one: counts[one["name"]], how.levels.tolist(), samples, nproc=1)
    matched, truth, _, detected = (sum(one[n] for one in counts.values()) for n in range(4))
    recall, precision = (
        part / np.where(whole == 0, 1, whole) for part, whole in ((matched, truth), (matched, detected))
    )
    own_rule = area(recall, precision, repeated=how.repeated)
    return {"ods": overall["ODS_f1"], "ois": overall["OIS_f1"], "ap": own_rule, "auc": overall["AUC"]}


def beside_peer(
    size: tuple[int, int], seeds: range, classes: int, how: Protocol, few: tuple[float, ...] = ()
) -> dict[str, Any]:
    """Both programs on the same images: times per map, and the greatest differences of any class.

    With ``few``, the peer has these thresholds only. Scores are then compared at these, and its time is extrapolated.
    """
    same = replace(how, thresholds=few) if few else how
    ours: dict[str, Any] = {}
    theirs: dict[int, dict[str, Any]] = {c: {} for c in range(classes)}
    here = there = 0.0
    for seed in seeds:
        labels, maps = image_of(seed, size, classes, classes)
        soft, truth = maps / np.float32(255), semantic_truth(labels)
        took, counted = cpu(lambda s=soft, t=truth: tally(s, [t], how))
        here += took
        ours[str(seed)] = tally(soft, [truth], same) if few else counted
        edges = truth.edges(how)
        for c in range(classes):
            drawn = edges.get(c, np.zeros(labels.shape, np.bool_))
            took, theirs[c][str(seed)] = cpu(
                lambda s=soft[c], d=drawn, inside=labels == c + 1: peer_counts(s, d, inside, same)
            )
            there += took * how.levels.size / same.levels.size
    score = collect(ours, resamples=0)
    apart = dict.fromkeys(("ods", "ois", "ap", "auc"), 0.0)
    rows = {}
    for c, name in enumerate(how.names(classes)):
        peer, own = peer_scores(theirs[c], same), score.classes[name]
        mine = {"ods": own.ods.f, "ois": own.ois.f, "ap": own.ap, "auc": own.ap}
        rows[name] = {"here": mine, "peer": peer}
        apart = {key: max(apart[key], abs(mine[key] - peer[key])) for key in apart}
    maps_seen = len(seeds) * classes
    return {
        "maps": maps_seen,
        "peer_thresholds": same.levels.size,
        "true_pixels": int(np.mean([one.truth.mean() for one in ours.values()])),
        "here_s": here / maps_seen,
        "peer_s": there / maps_seen,
        "ratio": there / here,
        "apart": apart,
        "classes": rows,
    }


def on_example(folder: Path) -> dict[str, Any]:
    """Both programs on the two maps that come with SBD's benchmark, under its rules."""
    how, here, there = protocol("sbd"), 0.0, 0.0
    inputs = SemanticKind().find({"example": folder / "indir"}, folder / "datadir")
    for cell in inputs:
        given = inputs.kind.read(cell, how)
        tally(given.prediction, given.truths, how)  # compiles
        here += cpu(lambda g=given: tally(g.prediction, g.truths, how))[0]
        part = SemanticImage(given.prediction, given.truths, how).part(PERSON)
        inside = given.truths[0].labels == PERSON
        there += cpu(lambda p=part, i=inside: peer_counts(p.soft, p.truth, i, how))[0]
    return {"here_s": here / len(inputs), "peer_s": there / len(inputs), "ratio": there / here}


def whole_images(name: str, size: tuple[int, int], classes: int, shown: int, images: int, count: int) -> dict[str, Any]:
    """CPU time of whole images in files under a named protocol, and what a data set of ``count`` images would take."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for seed in range(images):
            labels, maps = image_of(100 + seed, size, classes, shown)
            (folder / "labels").mkdir(exist_ok=True)
            write_labels(folder / "labels" / f"{seed}.png", labels)
            for c, plane in enumerate(maps, 1):
                (folder / "maps" / f"class_{c:03d}").mkdir(parents=True, exist_ok=True)
                write_png(folder / "maps" / f"class_{c:03d}" / f"{seed}.png", plane)
        command = [sys.executable, __file__, "--one", name, str(folder), str(count)]
        said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    per_image = said["cpu"] / images
    estimate = per_image * count / CORES + said["collect"]
    return {"cpu_per_image_s": per_image, "collect_s": said["collect"], "peak_mb": said["mb"], "estimate_s": estimate}


def peak_mb() -> float:
    """The most memory that this process has had, in MB. (What getrusage says may be the parent's, from before the start.)"""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def one_run(name: str, folder: Path, count: int) -> None:
    """In a process of its own: evaluate a folder, and tell CPU time (without compiling) and the peak of memory until then.

    Scores with their intervals are then collected over ``count`` images, the same ones again and again.
    """
    import hyperacuity as ha

    how: Any = {"protocol": protocol(name), "progress": False, "workers": 1}
    warm = np.zeros((len(how["protocol"].classes), 40, 60), np.float32)
    warm[:, 20] = 0.5
    tally(warm, [semantic_truth(np.tile(np.repeat([[1], [2]], 20, 0), (1, 60)))], how["protocol"])
    took, result = cpu(lambda: ha.evaluate("semantic", folder / "maps", folder, **how))
    if result.failures:
        raise SystemExit(result.failures[0].reason)
    peak = peak_mb()
    few = list(result.tallies(result.systems[0]).values())
    many = {str(n): few[n % len(few)] for n in range(count)}
    print(json.dumps({"cpu": took, "mb": peak, "collect": cpu(lambda: collect(many))[0]}))


def main() -> None:
    """Measure, print, and keep if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=Path, help="site-packages that hold pyEdgeEval, if it is not installed here")
    parser.add_argument("--images", type=int, default=3)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--few", type=int, default=9)
    parser.add_argument("--sbd", type=Path, help="the folder of SBD's example")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        return one_run(given.one[0], Path(given.one[1]), int(given.one[2]))
    if given.peer:
        sys.path.append(str(given.peer))
    found: dict[str, Any] = {}
    for name, task, size, classes, shown, images, count in (
        ("SBD val, sbd", "sbd", SMALL, 20, 2, 4, SBD_VAL),
        ("SBD val, sbd-thin", "sbd-thin", SMALL, 20, 2, 4, SBD_VAL),
        ("SBD val, sbd-raw", "sbd-raw", SMALL, 20, 2, 4, SBD_VAL),
        ("Cityscapes val, cityscapes-thin", "cityscapes-thin", WIDE, 19, 12, 2, CITYSCAPES_VAL),
        ("Cityscapes val, cityscapes-raw", "cityscapes-raw", WIDE, 19, 12, 2, CITYSCAPES_VAL),
    ):
        found[name] = one = whole_images(task, size, classes, shown, images, count)
        print(
            f"{name}: {one['cpu_per_image_s']:.2f} s of CPU per image, {one['peak_mb']:.0f} MB; "
            f"{count} images on {CORES} cores: {one['estimate_s'] / 60:.1f} minutes",
            flush=True,
        )
    if importlib.util.find_spec("pyEdgeEval") is None:
        print("pyEdgeEval is not installed here; name an environment that has it by --peer")
    else:
        thin, raw = Protocol(tolerance=0.02), Protocol(tolerance=0.02, thin=False, truth="raw", radius=2.0)
        few = tuple(np.linspace(0.1, 0.9, given.few).tolist())
        wide = replace(thin, tolerance=0.0035)
        cases: dict[str, tuple[Any, ...]] = {
            "500×375, thin": (SMALL, range(given.images), given.classes, thin),
            "500×375, dropped inside": (SMALL, range(1), 2, protocol("sbd", classes=())),
            "500×375, raw": (SMALL, range(1), 2, raw, few),
            "2048×1024, thin": (WIDE, range(1), 2, wide, few),
            "2048×1024, raw": (WIDE, range(1), 1, replace(raw, tolerance=0.0035), few),
        }
        beside_peer(SMALL, range(1), 1, Protocol(tolerance=0.02, thresholds=2))  # compiles
        for name, case in cases.items():
            found[name] = one = beside_peer(*case)
            print(
                f"{name}, {one['true_pixels']} true pixels: here {one['here_s']:.3f} s per map, pyEdgeEval {one['peer_s']:.1f} s "
                f"({one['peer_thresholds']} thresholds measured): {one['ratio']:.0f} times; "
                f"apart by {', '.join(f'{key} {value:.5f}' for key, value in one['apart'].items())}",
                flush=True,
            )
        if given.sbd:
            found["SBD's example"] = one = on_example(given.sbd)
            print(
                f"SBD's example: here {one['here_s']:.4f} s, pyEdgeEval {one['peer_s']:.1f} s: {one['ratio']:.0f} times"
            )
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
