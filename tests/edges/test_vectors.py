"""Every measure on the worked examples of the specification: a column of five true pixels in a 5×5 image, four detections.

``vectors.json`` holds the values of the formulas, computed twice outside this project (distance transforms, and brute force
in fractions). Where a formula has no value (0/0) the file says null, and the rule for that case is tested by itself.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperacuity.edges import evaluate, measure

VECTORS: dict[str, Any] = json.loads(Path(__file__).with_name("vectors.json").read_text(encoding="utf-8"))
TRUTH = np.array(VECTORS["truth"], dtype=bool)

NAMES = {
    "Pm*": "pm",
    "Phi*": "phi",
    "chi2* (Q=frac, minus FPR) DEFAULT": "chi2",
    "chi2* printed(+FPR), fractions": "chi2(reading=printed)",
    "chi2* printed, raw counts": "chi2(reading=counts)",
    "1-MCC^2": "chi2",
    "F*alpha": "f_alpha",
    "FoM": "fom",
    "FoMe": "fom_e(no_fp=one)",
    "F(Pinho)": "f_pinho",
    "d4 squared DEFAULT": "d4",
    "d4 linear (printed)": "d4(fom_term=linear)",
    "SFoM": "sfom",
    "MFoM": "mfom",
    "Dp (R: d to Gt&Dc) DEFAULT": "dp",
    "Dp (R: d to Dc, printed)": "dp(target=detection)",
    "Yasnoff": "yasnoff",
    "H": "hausdorff",
    "H_5% quantile": "hausdorff(percent=5)",
    "H_5% mean-top": "hausdorff(percent=5,tail=mean_top)",
    "H_50% quantile": "hausdorff(percent=50)",
    "H_50% mean-top": "hausdorff(percent=50,tail=mean_top)",
    **{f"D^{k} outside(printed)": f"dk(k={k})" for k in (1, 2)},
    **{f"D^{k} inside": f"dk(k={k},norm=inside)" for k in (1, 2)},
    **{f"S^{k} union(printed)": f"sk(k={k})" for k in (1, 2)},
    **{f"S^{k} sum(KITT)": f"sk(k={k},denominator=sum)" for k in (1, 2)},
    **{f"Theta k={k},dTH={d}": f"theta(k={k},delta={d})" for k in (1, 2) for d in (1, 5)},
    **{f"Omega k={k},dTH={d}": f"omega(k={k},delta={d})" for k in (1, 2) for d in (1, 5)},
    **{f"Delta^{k} w=id": f"baddeley(k={k})" for k in (1, 2)},
    **{f"Delta^{k} w=min(.,1)": f"baddeley(k={k},cap=1)" for k in (1, 2)},
    "f2d6": "f2d6",
    "Gamma": "gamma",
    "Psi": "psi",
}
NOT_MEASURES = {"TP,FP,FN,TN", "S(d4)", "FoM(Dc,Gt)"}  # tested below, each by itself


def detection(case: str) -> np.ndarray:
    return np.array(VECTORS["cases"][case]["detection"], dtype=bool)


def test_no_value_of_the_file_is_left_out() -> None:
    for case in VECTORS["cases"].values():
        assert set(case["values"]) == NAMES.keys() | NOT_MEASURES


@pytest.mark.parametrize("case", VECTORS["cases"])
@pytest.mark.parametrize("label", NAMES)
def test_a_measure_has_the_value_of_the_worked_example(case: str, label: str) -> None:
    expected = VECTORS["cases"][case]["values"][label]
    found = measure(NAMES[label])(TRUTH, detection(case))
    if expected is None:  # 0/0: no false pixel for Θ, no missed one for Ω; no hit for F*
        assert found == (1.0 if label == "F*alpha" else 0.0)
    else:
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("case", VECTORS["cases"])
def test_the_parts_of_measures_have_the_values_of_the_worked_example(case: str) -> None:
    values, detected = VECTORS["cases"][case]["values"], detection(case)
    hits, false, missed, _ = values["TP,FP,FN,TN"]
    scores = evaluate(TRUTH, detected, "pm, d4, fom")
    assert scores["pm"] == pytest.approx(1 - hits / (hits + false + missed))
    assert (2 * scores["d4"]) ** 2 - scores["fom"] ** 2 == pytest.approx(values["S(d4)"])
    assert measure("fom")(detected, TRUTH) == pytest.approx(values["FoM(Dc,Gt)"], abs=1e-12)


TABLE = {  # E1 to E4 of the specification's table, to ten digits; exact fractions are those of E1
    "pm": (4 / 7, 1, 0.4, 2 / 7),
    "phi": (23 / 50, 1, 0.4, 0.1),
    "chi2": (3 / 4, 0.9375, 5 / 11, 5 / 14),
    "f_alpha": (2 / 5, 1, 0.25, 1 / 6),
    "fom": (53 / 650, 0.1, 0.4, 0.0582417582),
    "fom_e": (53 / 260, 0.1, 0, 0.2038461538),
    "f_pinho": (251 / 770, 0.55, 0.0815384615, 2 / 7),
    "d4": (math.sqrt(205609 / 422500) / 2, 0.8674675786, 0.3464101615, 0.2041184757),
    "sfom": (0.0689510490, 0.1, 0.2407692308, 0.1719780220),
    "mfom": (0.0815384615, 0.1, 0.4, 2 / 7),
    "dp": (53 / 1040, 0.5125, 0.0407692308, 0.0101923077),
    "dp(target=detection)": (439 / 11440, 0.0625, 0.0407692308, 0.0101923077),
    "yasnoff": (4 * math.sqrt(5), 8.9442719100, 0, 8.9442719100),
    "hausdorff": (2, 1, 2, 2),
    "hausdorff(percent=50)": (0, 1, 0, 0),
    "hausdorff(percent=50,tail=mean_top)": (1, 1, 1, 0.75),
    "dk(k=1)": (3 / 5, 1, 0, 3 / 7),
    "dk(k=2)": (math.sqrt(5) / 5, 0.4472135955, 0, 0.3194382825),
    "f2d6": (3 / 5, 1, 0.6, 3 / 7),
    "theta(k=1)": (3 / 2, 1, 0, 1.5),
    "theta(k=2)": (5 / 2, 1, 0, 2.5),
    "theta(k=2,delta=5)": (1 / 10, 0.04, 0, 0.1),
    "omega(k=1)": ((1 + math.sqrt(2)) / 2, 1, 1.5, 0),
    "omega(k=2)": (3 / 2, 1, 2.5, 0),
    "omega(k=2,delta=5)": (3 / 50, 0.04, 0.1, 0),
    "baddeley(k=1)": (0.36, 1, 0.3371821314, 0.2468629150),
    "baddeley(k=2)": (0.6590254737, 1, 0.6287420146, 0.5544832369),
    "baddeley(k=2,cap=1)": (2 / 5, 0.6324555320, 0.2828427125, 0.2828427125),
    "sk(k=1)": ((4 + math.sqrt(2)) / 7, 1, 0.6, 3 / 7),
    "sk(k=2)": (math.sqrt(8 / 7), 1, 1, 0.8451542547),
    "gamma": (4 * math.sqrt(5) / 25, 0.8944271910, 0, 0.1788854382),
    "psi": (4 * math.sqrt(8) / 25, 1.2649110641, 0.1788854382, 0.1788854382),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_measure_has_the_values_of_the_table(name: str) -> None:
    found = [measure(name)(TRUTH, detection(case)) for case in ("E1", "E2", "E3", "E4")]
    assert found == pytest.approx(TABLE[name], abs=1e-10)


def test_clipped_distances_count_no_more_than_the_limit() -> None:
    truth = [[1, 0, 0, 0, 0, 1]]
    assert measure("theta(k=2,delta=2,clip=true)")(truth, [[1, 1, 0, 0, 0, 1]]) == 1 / 4
    assert measure("theta(k=2,delta=2,clip=true)")([[1, 0, 0, 0, 0]], [[1, 1, 0, 0, 1]]) == (1 / 4 + 1) / 2
    assert measure("omega(k=1,delta=2,clip=true)")([[1, 1, 0, 0, 1]], [[1, 0, 0, 0, 0]]) == (1 / 2 + 1) / 2


def test_trimming_drops_whole_pixels() -> None:
    truth, detected = [[1, 0, 0, 0, 0, 0]], [[1, 0, 1, 1, 0, 1]]  # distances 0, 2, 3, 5
    found = [measure(f"hausdorff(percent={n},tail=trim)")(truth, detected) for n in (0, 1, 25, 26, 99)]
    assert found == [5, 3, 3, 2, 0]


def test_anti_correlation_is_told_apart_from_correlation_on_request() -> None:
    truth, opposite = [[1, 1, 0, 0]], [[0, 0, 1, 1]]
    assert measure("chi2")(truth, opposite) == 0
    assert measure("chi2(signed=true)")(truth, opposite) == 2
    assert measure("chi2(signed=true)")(truth, [[1, 0, 0, 0]]) == measure("chi2")(truth, [[1, 0, 0, 0]])
