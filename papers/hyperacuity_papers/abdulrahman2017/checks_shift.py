"""Checks of what Abdulrahman et al. (2017) say of measures in Section 2, most of it Figure 2: lines of errors moved away."""

from __future__ import annotations

import numpy as np

from hyperacuity.edges import evaluate, hausdorff
from hyperacuity.edges.names import measure
from hyperacuity_papers.abdulrahman2017.displacement import lines
from hyperacuity_papers.abdulrahman2017.edge_readings import worked_vectors
from hyperacuity_papers.abdulrahman2017.study import Abdulrahman2017
from hyperacuity_papers.common.claims import Finding, expect

FALSE_ONLY = ("fom_e", "yasnoff", "dk(k=2)", "theta(k=2)", "gamma")
ALIKE = ("hausdorff", "hausdorff(percent=5)", "baddeley(k=2)", "f2d6", "sk(k=1)", "sk(k=2)")


def _curves(study: Abdulrahman2017, name: str, *, scaled: bool = False) -> tuple[list[float], list[float]]:
    """Scores of a line of false and of missed pixels at 0 to 16 pixels."""
    n = [str(m) for m in study.shift.measures].index(str(measure(name)))
    false, missed = study.shift.normalised() if scaled else (study.shift.false, study.shift.missed)
    return false[n].tolist(), missed[n].tolist()


def _symbols(names: tuple[str, ...]) -> str:
    return ", ".join(measure(name).symbol for name in names)


def background(_: Abdulrahman2017) -> Finding:
    truth, found = worked_vectors()["E1"]
    small = evaluate(truth, found, "f_alpha, phi, chi2")
    large = evaluate(np.pad(truth, 20), np.pad(found, 20), "f_alpha, phi, chi2")
    text = ", ".join(f"{measure(name).symbol} {small[name]:.3f} → {large[name]:.3f}" for name in small)
    moved = [name for name in small if abs(small[name] - large[name]) > 1e-12]
    return expect(moved == ["phi", "chi2"], text, "with more background around it, other scores change")


def jump(study: Abdulrahman2017) -> Finding:
    names = ("pm", "phi", "chi2", "f_alpha")
    same = [name for name in names if all(np.ptp(curve[1:]) < 1e-12 and curve[1] > 0 for curve in _curves(study, name))]
    return expect(
        len(same) == 4, f"flat from 1 to 16 px: {_symbols(tuple(same))}", "not all four are flat from one pixel on"
    )


def perfect(study: Abdulrahman2017) -> Finding:
    at_zero = [curve[0] for m in study.shift.measures for curve in _curves(study, str(m))]
    count = sum(score == 0 for score in at_zero)
    return expect(
        count == len(at_zero),
        f"{count} of {len(at_zero)} curves start at 0",
        "a perfect map does not score 0 everywhere",
    )


def false_only(study: Abdulrahman2017) -> Finding:
    blind = tuple(name for name in FALSE_ONLY if max(_curves(study, name)[1]) == 0 < _curves(study, name)[0][-1])
    return expect(blind == FALSE_ONLY, f"0 for missed pixels at any distance: {_symbols(blind)}", "not all of them are")


def missed_only(study: Abdulrahman2017) -> Finding:
    false, missed = _curves(study, "omega(k=2)")
    return expect(
        max(false) == 0 < missed[-1], f"Ω false {max(false):g}, missed {missed[-1]:g} at 16 px", "Ω sees false pixels"
    )


def fom_missed(study: Abdulrahman2017) -> Finding:
    _, missed = _curves(study, "fom")
    return expect(
        np.ptp(missed[1:]) < 1e-12, f"{missed[1]:.3f} at 1 px, {missed[-1]:.3f} at 16 px", "it varies with the distance"
    )


def fom_mild(study: Abdulrahman2017) -> Finding:
    false, missed = _curves(study, "fom")
    text = f"at 4 px false {false[4]:.3f}, missed {missed[4]:.3f}"
    return expect(
        all(f < m for f, m in zip(false[1:], missed[1:], strict=True)), text, "false pixels cost as much somewhere"
    )


def inverse(study: Abdulrahman2017) -> Finding:
    (fom_false, fom_missed), (f_false, f_missed) = _curves(study, "fom"), _curves(study, "f_pinho")
    gap = max(np.abs(np.subtract(fom_false, f_missed)).max(), np.abs(np.subtract(fom_missed, f_false)).max())
    return expect(
        gap < 1e-12, f"F of missed pixels is FoM of false ones to within {gap:.0e}", "the curves are not exchanged"
    )


def d4_flat(study: Abdulrahman2017) -> Finding:
    false, missed = _curves(study, "d4")
    text = f"missed {missed[1]:.3f} at 1 px, {missed[-1]:.3f} at 16; false {false[1]:.3f}, {false[-1]:.3f}"
    return expect(np.ptp(missed[1:]) < 1e-12 < np.ptp(false[1:]), text, "d4 varies with the distance of missed pixels")


def sfom_mfom(study: Abdulrahman2017) -> Finding:
    sfom, mfom = _curves(study, "sfom"), _curves(study, "mfom")
    text = f"from 1 to 16 px SFoM {sfom[0][1]:.3f} → {sfom[0][-1]:.3f}, MFoM {mfom[0][1]:.3f} → {mfom[0][-1]:.3f}"
    rises = all(np.all(np.diff(curve) > 0) for curve in sfom)
    return expect(rises and all(np.ptp(curve[1:]) < 1e-12 for curve in mfom), text, "not so for both kinds of error")


def dp_missed(study: Abdulrahman2017) -> Finding:
    false, missed = _curves(study, "dp")
    text = f"at 16 px false {false[-1]:.3f}, missed {missed[-1]:.3f}"
    return expect(
        all(f < m for f, m in zip(false[1:], missed[1:], strict=True)), text, "false pixels cost more somewhere"
    )


def dp_without_hits(_: Abdulrahman2017) -> Finding:
    truth, found = worked_vectors()["E2"]
    scores = evaluate(truth, found, "dp(no_tp=zero), dp")
    zero, one = scores.values()
    return expect(
        zero < one, f"E2: {zero:.4f} so, {one:.4f} where they cost 1 each (default)", "the option changes nothing"
    )


def one_pixel(_: Abdulrahman2017) -> Finding:
    truth, _far = lines(16)
    found = truth.copy()
    found[32, 36] = True
    worst, tamed = hausdorff(truth, found), hausdorff(truth, found, percent=5)
    mean = evaluate(truth, found, "f2d6")["f2d6"]
    text = f"one pixel of 49, 16 px off: H {worst:g}, H5% {tamed:g}, f2d6 {mean:.2f}"
    return expect(
        worst == 16 and tamed == 0 and mean < 1, text, "one pixel does not decide H, or decides the others too"
    )


def combined(study: Abdulrahman2017) -> Finding:
    names = ("f2d6", "sk(k=1)", "sk(k=2)", "psi", "baddeley(k=2)")
    rising = tuple(n for n in names if all(np.all(np.diff(curve) > 0) for curve in _curves(study, n)))
    return expect(
        rising == names, f"rise with the distance of both: {_symbols(rising)}", "not all of them rise with both"
    )


def alike(study: Abdulrahman2017) -> Finding:
    gaps = {name: float(np.abs(np.subtract(*_curves(study, name, scaled=True))).max()) for name in ALIKE}
    return expect(
        max(gaps.values()) < 1e-9, f"largest difference {max(gaps.values()):.0e}", "false and missed lines differ"
    )


def psi_false(study: Abdulrahman2017) -> Finding:
    false, missed = _curves(study, "psi")
    text = f"at 16 px false {false[-1]:.3f}, missed {missed[-1]:.3f}"
    return expect(
        all(f > m for f, m in zip(false[1:], missed[1:], strict=True)), text, "missed pixels cost more somewhere"
    )
