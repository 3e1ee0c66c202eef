"""Pictures show what is counted, in the colours that mean the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import ImageColor

from hyperacuity.ordering import (
    Protocol,
    Sides,
    collect_sweep,
    compare_neighbours,
    compare_regions,
    match_image,
    ordering,
    partition,
    tally,
)
from hyperacuity.ordering.pairwise import pair_tables
from hyperacuity.report import theme
from hyperacuity.report.charts.ordering import accuracy_chart, figure_ground_chart, prc_chart
from hyperacuity.report.pictures.ordering import (
    matching_picture,
    order_picture,
    ownership_picture,
    pair_table_pictures,
    picture_sheet,
)

TRUTH = ordering(np.kron([[3, 1, 2], [1, 1, 4]], np.ones((6, 6))))
ROUGH = ordering(np.roll(np.kron([[3, 1, 2], [2, 1, 4]], np.ones((6, 6))), 1, axis=1))


def count(picture, colour):
    return int((picture == ImageColor.getrgb(colour)).all(axis=-1).sum())


def test_a_perfect_match_is_all_green():
    found = match_image(TRUTH, [TRUTH], Protocol())[0]
    assert count(matching_picture(found), theme.HIT) == found.truth.count


def test_each_verdict_has_its_colour():
    turned = match_image(ordering(-TRUTH.order), [TRUTH], Protocol())[0]
    assert count(matching_picture(turned), theme.INCONSISTENT) == turned.truth.count
    blind = match_image(ordering(np.ones((12, 18))), [TRUTH], Protocol())[0]
    assert count(matching_picture(blind), theme.MISS) == blind.truth.count
    seeing = match_image(TRUTH, [ordering(np.ones((12, 18)))], Protocol())[0]
    assert count(matching_picture(seeing), theme.FALSE) == seeing.detected.count


def test_owners_are_drawn_on_their_side():
    step = ordering([[2, 2, 1, 1]] * 3)
    for said, colour in (
        (step, theme.HIT),
        (ordering(-step.order), theme.FALSE),
        (ordering(np.ones((3, 4))), theme.INCONSISTENT),
    ):
        picture = ownership_picture(compare_neighbours(said, step, step.labels), step.labels)
        assert count(picture, colour) == 3
        assert (picture[:, 1] == ImageColor.getrgb(colour)).all()


def test_near_is_warm_and_far_is_cool():
    far, near, unknown = order_picture(np.array([[0, 1, np.nan]], np.float32))[0].astype(int)
    assert far[2] > far[0]
    assert near[0] > near[2]
    assert len(set(unknown)) <= 3


@pytest.mark.parametrize(("system", "truth"), [(ROUGH, TRUTH), (TRUTH, ROUGH), (TRUTH, TRUTH)])
def test_pair_tables_add_up_to_the_counts(system, truth):
    shares, table = pair_tables(system, truth)
    counts = compare_regions(system, truth)
    upper = np.triu_indices(truth.regions, 1)
    assert np.nansum(shares[upper]) == pytest.approx(float(counts.consistent))
    assert np.isnan(shares[upper]).sum() == counts.missed
    assert (table[np.triu_indices(system.regions, 1)] == -1).sum() == counts.false
    true, ours = pair_table_pictures(system, truth, side=40)
    assert true.shape == ours.shape == (40, 40, 3)


def test_one_sheet_has_it_all_for_either_kind_of_truth():
    sheet = picture_sheet(ROUGH, TRUTH)
    assert sheet.shape[2] == 3
    nan = np.nan
    sides = Sides(np.tile(np.array([nan, nan, 1, -1, nan, nan], np.float32), (12, 3)), TRUTH.labels)
    assert picture_sheet(ROUGH, sides).shape[0] < sheet.shape[0]


def test_charts_name_every_system_with_its_numbers():
    coarse = partition(ROUGH.order, (TRUTH.labels > 1).astype(int))
    sweep = collect_sweep({"1": {"a": tally(ROUGH, [TRUTH])}, "2": {"a": tally(coarse, [TRUTH])}})
    people = collect_sweep({"": {"a": tally(TRUTH, [TRUTH])}})
    for which in ("ldc", "gdc"):
        text = prc_chart({"mine": sweep}, which, human=people).to_json()
        best = getattr(sweep, which).best
        assert f"mine  [{best.fmax:.2f}, {best.fmin:.2f}]  {best.ori:.2f}" in text
        assert "people  [1.00, 1.00]  1.00" in text
    assert "mine" in figure_ground_chart({"mine": sweep}, human=people).to_json()
    assert "B-ACC-25" in accuracy_chart({"mine": sweep}, human=people).to_json()
