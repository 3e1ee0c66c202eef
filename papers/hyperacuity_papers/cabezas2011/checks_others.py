"""Checks of what Cabezas & Trujillo (2011, section 1) say of other ways to evaluate: ranks, sparsity, significance, views."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hyperacuity.compare import average_rank, clusters, compare, pairwise
from hyperacuity.compare.criteria import join
from hyperacuity_papers.cabezas2011.checks_tables import scenario_of
from hyperacuity_papers.cabezas2011.study import FIELD, Cabezas2011
from hyperacuity_papers.common.claims import Finding, expect, incomparable


def free_size(study: Cabezas2011) -> Finding:
    dense = scenario_of(study, "dense")
    return incomparable(
        f"{dense.concat.optimal.sum()} of {len(dense.concat.systems)} systems are in A*: no size was chosen",
        "the paper gives no number",
    )


def roc(study: Cabezas2011) -> Finding:
    shares = {name: one.share for name, one in study.pair.standing.items()}
    best = max(shares, key=lambda name: shares[name])
    return incomparable(
        f"{len(shares)} curves on {study.pair.scene}; {best} is on the boundary at {100 * shares[best]:.0f} % of the sparsities",
        "the paper gives no number",
    )


def few_images(study: Cabezas2011) -> Finding:
    values = study.table.select(systems=list(FIELD), criteria=["nonocc"]).values[:, :, 0]
    tested = pairwise(values, test="wilcoxon")
    least = float(np.nanmin(tested.p[~np.eye(len(tested.p), dtype=bool)]))
    images = len(study.table.images)
    return expect(
        least > 0.05,
        f"least p of any pair of techniques on {images} pairs: {least:.3f}",
        "some pair of techniques does differ beyond chance",
    )


def same_rank(study: Cabezas2011) -> Finding:
    by_hand = clusters([1, 2, 3, 4], np.array([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]], np.bool_))
    values = study.table.select(systems=list(FIELD), criteria=["nonocc"]).values[:, :, 0]
    found = clusters(average_rank(values), pairwise(values, test="wilcoxon").better())
    images = len(study.table.images)
    return expect(
        by_hand.tolist() == [1, 1, 2, 2],
        f"a and b share rank 1, c and d rank 2; ranks that our {len(FIELD)} techniques have on {images} pairs: {found.max()}",
        "by hand 1, 1, 2, 2: a is significantly better than c and d, b than d",
    )


def image_weights(study: Cabezas2011) -> Finding:
    """Weights of pairs change an order by weighted errors; A* has none, since each pair is a component."""
    errors = study.table.select(criteria=["nonocc"]).values[:, :, 0]
    count = errors.shape[1]
    usual = np.argsort(errors.mean(axis=1), kind="stable")
    heavier = [np.average(errors, axis=1, weights=1 + 3 * (np.arange(count) == n)) for n in range(count)]
    moved = sum(bool((np.argsort(one, kind="stable") != usual).any()) for one in heavier)
    weighed = replace(study.table, values=study.table.values * (1.0 + np.arange(count))[:, np.newaxis])
    same = set(compare(weighed).groups()[0]) == set(compare(study.table).groups()[0])
    return expect(
        same and moved > 0,
        f"one pair that weighs four times as much changes the order by mean error for {moved} of {count} pairs, A* for none",
        "A* depends on the weights" if not same else "no weight changes the order",
    )


def prediction(study: Cabezas2011) -> Finding:
    psnr = study.views.select(systems=list(FIELD), criteria=["psnr forward", "psnr inverse"]).values.mean(axis=1)
    best = [list(FIELD)[int(i)] for i in psnr.argmax(axis=0)]
    return incomparable(
        f"best forward {best[0]}, {psnr[:, 0].max():.2f} dB; best inverse {best[1]}, {psnr[:, 1].max():.2f} dB",
        "the paper gives no number",
    )


def drawing(study: Cabezas2011) -> Finding:
    """Compare the orders by two ways of drawing the same maps: if errors were those of depth alone, they would agree."""
    psnr = study.views.select(systems=list(FIELD), criteria=["psnr forward", "psnr inverse"]).values.mean(axis=1)
    forward, inverse = (np.sign(values[:, np.newaxis] - values) for values in psnr.T)
    swapped, pairs = int((forward * inverse < 0).sum()) // 2, len(FIELD) * (len(FIELD) - 1) // 2
    return expect(
        swapped > 0,
        f"drawn forward instead of inversely, {swapped} of {pairs} pairs of techniques change order; on {study.pair.scene} even "
        f"the true map is drawn at {study.pair.drawn['truth']:.2f} dB only",
        "both ways of drawing order the techniques alike",
    )


def consistent_but_wrong(study: Cabezas2011) -> Finding:
    consistent, wrong = study.pair.flat
    return expect(
        consistent > 0.99 and wrong > 0.5,
        f"one disparity everywhere: {100 * consistent:.0f} % consistent, {100 * wrong:.0f} % of the visible pixels bad",
        "a flat map is not both consistent and wrong",
    )


def without_truth(study: Cabezas2011) -> Finding:
    names = list(FIELD)
    views = study.views.select(systems=names, criteria=["rmse forward", "rmse inverse"])
    mixed = join([study.table.select(systems=names), views])
    sizes = [int(compare(part).optimal.sum()) for part in (study.table.select(systems=names), views, mixed)]
    return expect(
        all(sizes) and sizes[2] >= max(sizes[:2]),
        f"A* of {len(names)} techniques has {sizes[0]} by truth, {sizes[1]} by views, {sizes[2]} by both",
        "more criteria left fewer systems optimal",
    )
