"""What ``benchmarks/all.py`` measures: every task on made scenes, with peers that compute the same, or part of it.

Inputs are seeded scenes (:mod:`hyperacuity.data.scenes`), so that anyone can repeat it without a data set. A peer is a public
library, or the definition written with one; where results can be equal, they must be. Peers that are not installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from measuring import Case, Work

SIZE = (481, 321)


@cache
def scene(size: tuple[int, int] = SIZE) -> Any:
    from hyperacuity.data.scenes import make_scene

    return make_scene(1, size=size, annotators=5)


@cache
def contour_map() -> tuple[np.ndarray, np.ndarray]:
    """A contour map of the scene as hierarchies give it, at image size and at double size."""
    from hyperacuity.detect import canny
    from hyperacuity.regions import hierarchy

    seen = canny(scene().image, sigma=2.0)
    tree = hierarchy(seen.soft, direction=seen.direction)
    return tree.ucm(), tree.ucm2()


def title(peer: str) -> str:
    """What a matcher of :mod:`boundary_peers` is called in the table."""
    from boundary_peers import TITLES

    return TITLES[peer].partition(" ")[2]


def boundary(quick: bool) -> Iterator[Case]:
    """A contour map, a suppressed map, a thick one; and one of 3 Mpx with tolerance 19 px."""
    from boundary_growth import tiled
    from boundary_inputs import SIGMA
    from boundary_peers import PEERS
    from hyperacuity.boundary import Protocol, tally
    from hyperacuity.detect import canny
    from hyperacuity.kernels.suppression import suppress_structured
    from hyperacuity.kernels.thinning import thin

    truths = [one.boundaries for one in scene().annotators]
    contours = contour_map()[0]
    every = Protocol()
    some = replace(every, thresholds=tuple(every.levels[4::9]))

    def peer(name: str) -> Work:
        def count() -> list[int]:
            maps = [thin(contours >= np.float32(level)) for level in some.levels]
            return [sum(PEERS[name](one, truth, some.tolerance) for truth in truths) for one in maps]

        return count

    names = ["scipy-lean"] if quick else ["scipy", "scipy-lean"]
    if find_spec("pyEdgeEval"):
        names.insert(0, "berkeley")
    yield Case(
        "contour map, 11 thresholds, 5 annotators",
        lambda: tally(contours, truths, some),
        {title(name): peer(name) for name in names},
        lambda ours, found: bool((ours.truth_matched >= found).all() and ours.truth_matched.sum() < sum(found) * 1.01),
    )
    yield Case("contour map, 99 thresholds, 5 annotators", lambda: tally(contours, truths, every))
    thick = canny(scene().image, sigma=SIGMA).soft
    suppressed = suppress_structured(thick)
    yield Case("suppressed map, 99 thresholds, 5 annotators", lambda: tally(suppressed, truths, every))
    yield Case("thick map, thinned, 99 thresholds, 5 annotators", lambda: tally(thick, truths, every))
    large, drawn = (tiled(one, (2048, 1536)) for one in (contours, truths[0]))
    yield Case("3 Mpx, 19 px tolerance, 99 thresholds", lambda: tally(large, [drawn], every))


def edges(quick: bool) -> Iterator[Case]:
    """All measures at all thresholds, against one call for each."""
    from edges import made_maps
    from hyperacuity.edges import PAPER, edges_at, evaluate, measures, sweep

    thin, truth = made_maps()

    @cache
    def maps() -> list[
        np.ndarray
    ]:  # when a peer asks: the sweep, which knows the thresholds, must not be compiled before
        return [edges_at(thin, threshold) for threshold in sweep(truth, thin).thresholds]

    peers: dict[str, Work] = {
        "one call per threshold": lambda: np.array([[*evaluate(truth, one).values()] for one in maps()]).T
    }
    if not quick:
        peers["one call per measure and threshold"] = lambda: np.array(
            [[measure(truth, one) for one in maps()] for measure in measures(PAPER)]
        )
    yield Case(
        f"{len(PAPER)} measures, 101 thresholds",
        lambda: sweep(truth, thin),
        peers,
        lambda ours, found: np.allclose(ours.scores, found, rtol=1e-9, atol=1e-12, equal_nan=True),
    )


def semantic(quick: bool) -> Iterator[Case]:
    """Two classes of a picture; the peer counts pairs only, from the same truths, at nine thresholds."""
    from boundary_peers import hopcroft_karp
    from hyperacuity.kernels.thinning import thin
    from hyperacuity.semantic import Protocol, semantic_truth, tally
    from semantic import SMALL, image_of

    labels, maps = image_of(1, SMALL, 2, 2)
    soft, truth = maps / np.float32(255), semantic_truth(labels)
    every = Protocol(tolerance=0.02)
    some = replace(every, thresholds=tuple(np.linspace(0.1, 0.9, 9).tolist()))
    drawn = truth.edges(some)

    def peer() -> list[list[int]]:
        return [
            [hopcroft_karp(thin(soft[c] >= np.float32(t)), drawn[c], some.tolerance) for t in some.levels]
            for c in (0, 1)
        ]

    yield Case(
        "2 classes, 9 thresholds",
        lambda: tally(soft, [truth], some),
        {title("hopcroft-karp"): peer},
        lambda ours, found: np.array_equal(ours.matched, found),
    )
    yield Case("2 classes, 99 thresholds", lambda: tally(soft, [truth], every))


def regions(quick: bool) -> Iterator[Case]:
    """99 levels of a contour map, and two segmentations compared."""
    from scipy import ndimage

    from hyperacuity.regions import Protocol, compare, tally, ucm_levels

    cells, protocol = contour_map()[1], Protocol()
    truths = [one.labels for one in scene().annotators]

    def level_by_level() -> None:
        for threshold in protocol.thresholds:
            labels = ndimage.label(cells <= threshold, structure=np.ones((3, 3)))[0]
            compare([labels[1::2, 1::2]], truths)

    yield Case(
        "99 levels of a contour map, 5 annotators",
        lambda: tally(ucm_levels(cells, protocol.thresholds), truths, protocol),
        {"level by level, scipy's labels": level_by_level},
    )
    one, other = truths[0], truths[-1]
    if find_spec("skimage"):
        from skimage.metrics import adapted_rand_error, variation_of_information

        def by_scikit_image() -> tuple[Any, Any]:
            return variation_of_information(other, one), adapted_rand_error(other, one)

        yield Case(
            "two segmentations", lambda: compare([one], [other]), {"scikit-image, two measures": by_scikit_image}
        )


def ordering(quick: bool) -> Iterator[Case]:
    """Contours and pairs of regions of two order maps."""
    from hyperacuity.ordering import combine, compare_regions, contours, match_contours
    from hyperacuity.ordering import ordering as of_map
    from ordering import cells, matched_by_scipy, pairs_by_definition

    said, true = cells(200, 1), cells(60, 2)
    system, truth = of_map(said), of_map(true)
    detected, real = contours(system), contours(truth)

    def everything() -> None:
        one, other = of_map(said), of_map(true)
        combine([match_contours(contours(one), contours(other))])
        compare_regions(one, other)

    yield Case("200 regions against 60, LDC and GDC", everything)
    yield Case(
        "contours of both, matched",
        lambda: match_contours(detected, real),
        {"scipy, outliers for all": lambda: matched_by_scipy(detected, real, 3.0)},
        lambda ours, found: ours.pairs.count == found,
    )
    yield Case(
        "pairs of regions",
        lambda: compare_regions(system, truth),
        {"numpy, pair by pair": lambda: pairs_by_definition(system, truth)},
        lambda ours, found: ours.consistent == found,
    )


def occlusion(quick: bool) -> Iterator[Case]:
    """Owned boundaries at 99 thresholds."""
    from hyperacuity.detect import canny
    from hyperacuity.ordering import occlusion_map, ordering, tally_occlusion

    seen = canny(scene().image, sigma=2.0)
    given = occlusion_map(seen.soft, np.degrees(seen.direction))
    truth = ordering(scene().order)
    yield Case("suppressed map, 99 thresholds", lambda: tally_occlusion(given, [truth]))


def whdr(quick: bool) -> Iterator[Case]:
    """Ten thousand pairs of points."""
    from hyperacuity.ordering import tally_pairs

    order = scene().order
    dice = np.random.default_rng(0)
    places = dice.integers(0, [*order.shape, *order.shape], (10_000, 4))
    first, second = (order[places[:, at], places[:, at + 1]] for at in (0, 2))
    rows = np.column_stack([places, np.sign(first - second)]).astype(int)
    rows = rows[(places[:, :2] != places[:, 2:]).any(axis=1)]
    noisy = order + dice.normal(0, 0.5, order.shape).astype(np.float32)

    def numpy_signs() -> int:
        one, other = (noisy[rows[:, at], rows[:, at + 1]] for at in (0, 2))
        return int(np.count_nonzero(np.sign(one - other) != rows[:, 4]))

    yield Case("10 000 pairs of points", lambda: tally_pairs(noisy, [rows]), {"numpy, signs only": numpy_signs})


def dbe(quick: bool) -> Iterator[Case]:
    """Edges of a depth map, and both distance maps."""
    from scipy import ndimage

    from hyperacuity.ordering import depth_edges, tally_depth_edges

    order = scene().order
    truth = scene().boundaries

    def both_distances() -> list[np.ndarray]:
        return [ndimage.distance_transform_edt(~one) for one in (depth_edges(order), truth)]

    yield Case(
        "one depth map", lambda: tally_depth_edges(order, [truth]), {"scipy, the two distance maps": both_distances}
    )


def disparity(quick: bool) -> Iterator[Case]:
    """All measures in four regions of a map of one or six megapixels."""
    from disparity import made_pair
    from hyperacuity.disparity import Protocol, regions, tally

    pair = made_pair(1000, 1000) if quick else made_pair(2000, 3000)
    truth, estimate = pair["truth"], pair["estimate"]
    protocol = Protocol(regions=("nonocc", "all", "disc", "untextured"))
    masks = regions(truth, image=pair["left"])

    def numpy_rates() -> list[tuple[float, ...]]:
        found = []
        for mask in filter(np.any, masks.values()):
            error = np.abs(estimate - truth)[mask]
            known = error[np.isfinite(error)]
            bad = [float(np.mean(~(error <= limit))) for limit in (0.5, 1, 2, 4)]
            found.append((*bad, float(known.mean()), float(np.sqrt((known**2).mean()))))
        return found

    yield Case(
        f"{'1' if quick else '6'} Mpx, all measures in four regions",
        lambda: tally(estimate, truth, protocol, masks=masks),
        {"numpy, six measures": numpy_rates},
    )


def views(quick: bool) -> Iterator[Case]:
    """Predicted views of one megapixel."""
    from disparity import made_pair
    from hyperacuity.disparity import ViewProtocol, tally_views

    pair = made_pair(1000, 1000)
    pictures = [pair["left"], pair["right"]]
    yield Case("1 Mpx, both views", lambda: tally_views(pair["estimate"], pictures, ViewProtocol()))


def masks(quick: bool) -> Iterator[Case]:
    """The largest object of a scene against itself, two pixels fatter."""
    from scipy import ndimage

    from hyperacuity.masks import contour, count_masks

    labels = scene().objects
    truth = labels == np.bincount(labels.ravel()).argmax()
    found = ndimage.binary_dilation(truth, iterations=2)
    peers: dict[str, Work] = {}
    if find_spec("skimage"):
        from skimage.morphology import dilation, disk

        def davis() -> tuple[int, int]:
            one, other = contour(found), contour(truth)
            near = [dilation(each, disk(5)) for each in (one, other)]
            return int((one & near[1]).sum()), int((other & near[0]).sum())

        peers["scikit-image, DAVIS' F only"] = davis
    yield Case(
        "two masks, all measures",
        lambda: count_masks(found, truth, 5, 5),
        peers,
        lambda ours, near: (ours.detected_near, ours.truth_near) == near,
    )


def audit(quick: bool) -> Iterator[Case]:
    """One map under all truths of an audit."""
    from hyperacuity.audit.benchmark import tally_audit

    truths = [one.boundaries for one in scene().annotators]
    contours = contour_map()[0]
    yield Case("contour map, 99 thresholds, all truths", lambda: tally_audit(contours, truths, image="scene"))


def strength(quick: bool) -> Iterator[Case]:
    """Five annotators, each with each."""
    from boundary_peers import scipy_lean
    from hyperacuity.audit.strength import strengths
    from hyperacuity.boundary import TOLERANCE

    truths = [one.boundaries for one in scene().annotators]

    def pairs() -> int:
        return sum(scipy_lean(one, other, TOLERANCE) for n, one in enumerate(truths) for other in truths[n + 1 :])

    yield Case("5 annotators, each with each", lambda: strengths(truths), {title("scipy-lean"): pairs})


def detect(quick: bool) -> Iterator[Case]:
    """Filters, thinning and distances, which other libraries have too."""
    from scipy import ndimage

    from detect import made_image
    from hyperacuity.detect.gradient import sobel
    from hyperacuity.kernels.distances import squared_distances
    from hyperacuity.kernels.thinning import thin

    grey8 = made_image()[..., 1]
    grey = grey8.astype(np.float32) / 255
    peers: dict[str, Work] = {"scipy, strength only": lambda: np.hypot(*(ndimage.sobel(grey, axis=n) for n in (0, 1)))}
    yield Case("Sobel, strength, direction and thin map", lambda: sobel(grey8), peers)
    drawn = sobel(grey8).soft > 0.2
    peers = {"scipy": lambda: ndimage.distance_transform_edt(~drawn)}
    if find_spec("cv2"):
        import cv2

        cv2.setNumThreads(1)
        background = (~drawn).astype(np.uint8)
        peers["OpenCV"] = lambda: cv2.distanceTransform(background, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    yield Case(
        "exact distance map",
        lambda: squared_distances(drawn),
        peers,
        lambda ours, found: np.allclose(np.sqrt(ours), found, atol=1e-3),
    )
    if find_spec("skimage"):
        import skimage.morphology

        yield Case(
            "thinning (Guo and Hall)", lambda: thin(drawn), {"scikit-image": lambda: skimage.morphology.thin(drawn)}
        )


def compare(quick: bool) -> Iterator[Case]:
    """The optimal set of many vectors."""
    from hyperacuity.compare.pareto import optimal

    count = 100_000 if quick else 1_000_000
    table = np.random.default_rng(0).random((count, 3))
    peers: dict[str, Work] = {}
    if find_spec("moocore"):
        import moocore

        peers["moocore"] = lambda: moocore.is_nondominated(table, keep_weakly=True)
    yield Case(f"{count:,} × 3 Pareto set".replace(",", " "), lambda: optimal(table), peers, np.array_equal)


CASES: dict[str, Callable[[bool], Iterator[Case]]] = {
    one.__name__: one
    for one in (
        boundary,
        edges,
        semantic,
        regions,
        ordering,
        occlusion,
        whdr,
        dbe,
        disparity,
        views,
        masks,
        audit,
        strength,
        detect,
        compare,
    )
}
"""In the order of the table: the tasks as their registry has them, then what stands beside them."""
