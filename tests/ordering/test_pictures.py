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
from hyperacuity.report.pictures.colours import UNKNOWN
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
    assert far[2] - far[0] > 50
    assert near[0] - near[2] > 50
    assert np.ptp(unknown) < 10, "grey has no hue"


def test_depth_is_coloured_by_rank_whatever_its_scale():
    even, uneven = (order_picture(np.array([values], np.float32)) for values in ([1, 2, 3], [-5, 0, 900]))
    assert (even == uneven).all()
    assert len({tuple(pixel) for pixel in even[0]}) == 3


@pytest.mark.parametrize(("system", "truth"), [(ROUGH, TRUTH), (TRUTH, ROUGH), (TRUTH, TRUTH)])
def test_pair_tables_add_up_to_the_counts(system, truth):
    shares, table = pair_tables(system, truth)
    counts = compare_regions(system, truth)
    upper = np.triu_indices(truth.regions, 1)
    assert np.nansum(shares[upper]) == pytest.approx(float(counts.consistent))
    assert np.isnan(shares[upper]).sum() == counts.missed
    assert (table[np.triu_indices(system.regions, 1)] == -1).sum() == counts.false
    true, ours = (  # of 28 pixels a side, which 4 and 7 regions divide; each pair is two cells
        np.round([count(picture, colour) * regions**2 / 28**2 / 2 for colour in COLOURS], 6).tolist()
        for picture, regions in zip(
            pair_table_pictures(system, truth, side=28), (truth.regions, system.regions), strict=True
        )
    )
    right = np.count_nonzero(shares[upper] == 1)
    assert true[0] == right
    assert true[3] == counts.missed
    mixed = np.count_nonzero(shares[upper] > 0) - right
    assert true[4] == truth.regions / 2, "grey is the diagonal alone"
    assert sum(true) + mixed == truth.regions**2 / 2
    assert [ours[0] + ours[1], ours[2]] == [system.regions * (system.regions - 1) / 2 - counts.false, counts.false]


COLOURS = (theme.HIT, theme.INCONSISTENT, theme.FALSE, theme.MISS, UNKNOWN)


def panels(sheet, many, shape=(12, 18), scale=24, gap=12, columns=3):
    """The panels of a sheet at their own size, from the geometry of its layout: three in a row, a caption below each."""
    height, width = (length * scale for length in shape)
    rows = -(-many // columns)
    caption = (len(sheet) - gap) // rows - height - gap
    found = []
    for n in range(many):
        y, x = gap + (n // columns) * (height + caption + gap), gap + (n % columns) * (width + gap)
        found.append(sheet[y : y + height : scale, x : x + width : scale])
    return found


def test_one_sheet_has_it_all_for_either_kind_of_truth():
    found = panels(picture_sheet(ROUGH, TRUTH), 9)
    assert (found[0] == order_picture(TRUTH.order)).all()
    assert (found[1] == order_picture(ROUGH.order)).all()
    assert (found[2] == matching_picture(match_image(ROUGH, [TRUTH], Protocol())[0])).all()
    nan = np.nan
    sides = Sides(np.tile(np.array([nan, nan, 1, -1, nan, nan], np.float32), (12, 3)), TRUTH.labels)
    found = panels(picture_sheet(ROUGH, sides), 5)
    assert (found[0] == order_picture(sides.sides)).all()
    assert (found[2] == matching_picture(match_image(ROUGH, [sides], Protocol())[0])).all()
    asked = compare_neighbours(ROUGH, sides, TRUTH.labels)
    assert (found[4] == ownership_picture(asked, TRUTH.labels)).all()


def test_charts_name_every_system_with_its_numbers():
    coarse = partition(ROUGH.order, (TRUTH.labels > 1).astype(int))
    sweep = collect_sweep({"1": {"a": tally(ROUGH, [TRUTH])}, "2": {"a": tally(coarse, [TRUTH])}})
    people = collect_sweep({"": {"a": tally(TRUTH, [TRUTH])}})
    for which in ("ldc", "gdc"):
        found = rows(prc_chart({"mine": sweep}, which, human=people))
        best = getattr(sweep, which).best
        mine, perfect = f"mine  [{best.fmax:.2f}, {best.fmin:.2f}]  {best.ori:.2f}", "people  [1.00, 1.00]  1.00"
        assert {row["system"] for row in found if "system" in row} == {mine, perfect}
        marks = {(row["system"], row["beta"]): row for row in found if "at" in row}
        assert [marks[mine, beta]["F"] for beta in "10"] == pytest.approx([best.fmax, best.fmin], abs=1e-4)
        for row in marks.values():
            assert row["F"] == pytest.approx(f_of(row["precision"], row["recall"]), abs=1e-4)
        lines = [row for row in found if isinstance(row.get("F"), str)]
        assert {row["F"] for row in lines} == {f"0.{n}" for n in range(1, 10)}
        for row in lines:
            assert f_of(row["precision"], row["recall"]) == pytest.approx(float(row["F"]))
    found = rows(figure_ground_chart({"mine": sweep}, human=people))
    assert [row["at"] for row in found if row.get("system") == "mine"] == ["1", "2"]
    assert [(row["recall"], row["accuracy"]) for row in found if row.get("system") == "people"] == [(1, 1)]
    found = rows(accuracy_chart({"mine": sweep}, human=people))
    names = dict(zip(("R-ACC", "B-ACC", "B-ACC-50", "B-ACC-25"), sweep.accuracy.values(), strict=True))
    assert {row["measure"]: row["accuracy"] for row in found if row["system"] == "mine"} == names
    assert {row["accuracy"] for row in found if row["system"] == "people"} == {1}


def test_chance_is_drawn_at_half_of_precision_and_recall():
    score = collect_sweep({"1": {"a": tally(ROUGH, [TRUTH])}})
    at = (float(score.ldc.outcomes.precision(1)[0]), float(score.ldc.outcomes.recall(1)[0]))
    plain, with_chance = (prc_chart({"mine": score}, chance=chance) for chance in (False, True))
    assert len(with_chance.to_dict()["layer"]) == len(plain.to_dict()["layer"]) + 1
    points = {(row["precision"], row["recall"]) for row in rows(with_chance) if set(row) == CHANCE}
    assert points == {(at[0] / 2, at[1] / 2)}
    assert not [row for row in rows(plain) if set(row) == CHANCE]


CHANCE = {"system", "index", "recall", "precision"}


def rows(chart):
    """All data of a chart."""
    return [row for values in chart.to_dict()["datasets"].values() for row in values]


def f_of(precision, recall):
    return 2 * precision * recall / (precision + recall)
