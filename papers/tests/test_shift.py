"""The shift study shows what the paper says of each measure (section 2 and Fig. 2)."""

from __future__ import annotations

import numpy as np
import pytest

from hyperacuity.edges import measure
from hyperacuity.errors import UsageError
from hyperacuity_papers.abdulrahman2017.displacement import lines, normalise, shift

STUDY = shift()
ROW = {str(m): n for n, m in enumerate(STUDY.measures)}


def false(name: str) -> np.ndarray:
    return STUDY.false[ROW[str(measure(name))]]


def missed(name: str) -> np.ndarray:
    return STUDY.missed[ROW[str(measure(name))]]


def test_without_a_shift_all_is_perfect() -> None:
    assert not STUDY.false[:, 0].any()
    assert not STUDY.missed[:, 0].any()


@pytest.mark.parametrize("name", ["pm", "phi", "chi2", "f_alpha"])
def test_measures_from_counts_do_not_see_how_far_an_error_lies(name: str) -> None:
    assert np.ptp(false(name)[1:]) < 1e-12
    assert np.ptp(missed(name)[1:]) < 1e-12
    assert false(name)[1] > 0


def test_fom_sees_the_distance_of_false_pixels_only_and_penalises_them_less() -> None:
    assert np.ptp(missed("fom")[1:]) < 1e-12
    assert (np.diff(false("fom")) > 0).all()
    assert (false("fom")[1:] < missed("fom")[1:]).all()


def test_f_behaves_inversely_to_fom() -> None:
    assert np.ptp(false("f_pinho")[1:]) < 1e-12
    assert (np.diff(missed("f_pinho")) > 0).all()
    np.testing.assert_allclose(missed("f_pinho"), false("fom"))  # their formulas are mirror images here


def test_d4_jumps_at_one_pixel_whatever_the_distance() -> None:
    for curve in (false("d4"), missed("d4")):
        assert curve[1] > 0.6 * curve[-1]


def test_dp_is_more_sensitive_to_missed_pixels() -> None:
    assert (missed("dp")[1:] > 5 * false("dp")[1:]).all()


@pytest.mark.parametrize("name", ["fom_e", "yasnoff", "dk", "theta", "gamma"])
def test_over_segmentation_measures_stay_at_zero_when_pixels_are_missed(name: str) -> None:
    assert not missed(name).any()
    assert (np.diff(false(name)) > 0).all()


def test_omega_is_their_mirror_image() -> None:
    assert not false("omega").any()
    np.testing.assert_allclose(missed("omega"), false("theta"))


@pytest.mark.parametrize("name", ["hausdorff", "hausdorff(percent=5)", "baddeley", "f2d6", "sk(k=1)", "sk(k=2)"])
def test_symmetric_distances_rise_alike_for_false_and_missed_pixels(name: str) -> None:
    np.testing.assert_allclose(false(name), missed(name))
    assert (np.diff(false(name)) > 0).all()


def test_psi_is_more_sensitive_to_the_distance_of_false_pixels() -> None:
    assert (np.diff(false("psi")) > 0).all()
    assert (np.diff(missed("psi")) > 0).all()
    assert (false("psi")[1:] > missed("psi")[1:]).all()


def test_the_study_draws_the_lines_of_the_specification() -> None:
    one, two = lines(16)
    assert one.shape == (64, 64)
    assert np.flatnonzero(one.any(axis=0)).tolist() == [20]
    assert np.flatnonzero(two.any(axis=0)).tolist() == [20, 36]
    assert one.sum() == 48
    with pytest.raises(UsageError, match="does not fit an image of side 64"):
        lines(60)


@pytest.mark.parametrize(("distance", "length"), [(43, 48), (0, 1), (16, 64)])
def test_a_second_line_may_stand_in_the_last_column_and_fill_the_image(distance, length):
    one, two = lines(distance, length=length)
    assert (one.sum(), (one | two).sum()) == (length, length * (2 if distance else 1))


@pytest.mark.parametrize(("distance", "length"), [(44, 48), (-1, 48), (16, 0), (16, 65)])
def test_a_line_beyond_the_image_or_without_pixels_is_refused(distance, length):
    with pytest.raises(UsageError, match="does not fit"):
        lines(distance, length=length)


def test_curves_are_normalised_by_equation_5() -> None:
    f1, f2 = np.array([0.0, 2, 4]), np.array([1.0, 3, 5])
    assert [c.tolist() for c in normalise(f1, f2, norm="literal")] == [[0, 2, 4], [1, 3, 5]]
    assert [c.tolist() for c in normalise(f1, f2)] == [[0, 0.4, 0.8], [0.2, 0.6, 1]]
    assert [c.tolist() for c in normalise(f1 + 1, f2 + 1, norm="literal")] == [[0, 0.4, 0.8], [0.2, 0.6, 1]]
    assert [c.tolist() for c in normalise(f1 / 5, f2 / 5)] == [[0, 0.4, 0.8], [0.2, 0.6, 1]]
    assert normalise(np.zeros(2), np.zeros(1))[0].tolist() == [0, 0]
    assert normalise(np.full(2, 7.0), np.full(1, 7.0))[0].tolist() == [1, 1]


def test_normalised_curves_stay_within_zero_and_one() -> None:
    for curves in STUDY.normalised():
        assert curves.min() >= 0
        assert curves.max() <= 1
