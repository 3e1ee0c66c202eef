"""Numbers that several checks of Abdulrahman et al. (2017) use: winners, shares of false and missed pixels, spreads."""

from __future__ import annotations

from collections.abc import Sequence

from hyperacuity.edges.names import measure
from hyperacuity_papers.abdulrahman2017.edge_curves import EdgeCurves
from hyperacuity_papers.abdulrahman2017.edge_table import DETECTORS, TABLE
from hyperacuity_papers.abdulrahman2017.study import Abdulrahman2017, ruled_by_number
from hyperacuity_papers.common.claims import NotRunError

ACCEPTING = ("phi", "d4", "dp")
"""Measures of which the paper says that they accept many false pixels."""

OTHERS = tuple(name for name in TABLE if name not in (*ACCEPTING, "baddeley(k=2)", "fom"))
"""Those that the paper does not name, which put H-K first and Sobel last under noise."""

STAND_IN = "the semi-automatic truth a stand-in"


def photographs(study: Abdulrahman2017) -> EdgeCurves:
    """Return the curves of photographs; ``NotRunError`` without photographs."""
    if not study.photographs:
        raise NotRunError("needs RUG")
    return study.curves


def of_the_table(study: Abdulrahman2017) -> tuple[EdgeCurves, str]:
    """Return our side of Table 4 and of Figures 3 and 9 (on Berkeley's photographs or RUG's), and why it cannot be compared."""
    if study.berkeley is not None:
        count = len(study.berkeley.pictures)
        whose = (
            f"the paper does not say which of Berkeley's photographs is its own; ours are means over {count} of BSDS300"
        )
        return study.berkeley, f"{whose}, {STAND_IN}"
    if not study.photographs:
        raise NotRunError("needs BSDS500 or RUG")
    return (
        study.curves,
        f"the paper's picture is one of Berkeley's, which are not here; ours are means over RUG, {STAND_IN}",
    )


def symbols(names: Sequence[str]) -> str:
    """The measures by the paper's symbols."""
    return ", ".join(measure(name).symbol for name in names) or "none"


def ruled_winner(curves: EdgeCurves, name: str) -> str:
    """Return the detector that a measure elects when each detects as many pixels as are true."""
    found = ruled_by_number(curves)[:, 0, : len(DETECTORS), curves.number(name)].mean(axis=0)
    return DETECTORS[int(found.argmin())]


def _counts(curves: EdgeCurves, name: str, truth: int, detector: str | None) -> tuple[float, float, float]:
    counts = curves.counts_at_best(name, truth)
    wanted = [curves.detectors.index(d) for d in ([detector] if detector else DETECTORS)]
    hits, false, missed = counts[:, wanted].sum(axis=(0, 1)).tolist()
    return hits, false, missed


def false_share(curves: EdgeCurves, name: str, truth: int = 0, detector: str | None = None) -> float:
    """Share of false pixels among those detected where the measure is lowest."""
    hits, false, _ = _counts(curves, name, truth, detector)
    return false / (hits + false)


def stray_share(curves: EdgeCurves, name: str, truth: int, detector: str) -> float:
    """Share of false pixels in the maps where the measure is lowest, weighted by 1 − w(d): 0 next to the truth, 1 far away."""
    d = curves.detectors.index(detector)
    at = curves.best[:, truth, d, curves.number(name)]
    how_far = curves.scores[:, truth, d, curves.number("fom_e")][range(len(at)), at]
    hits, false, _ = curves.counts_at_best(name, truth)[:, d].T
    return float((how_far * false).sum() / (hits + false).sum())


def missed_share(curves: EdgeCurves, name: str, truth: int = 0, detector: str | None = None) -> float:
    """Share of true pixels that are missed where the measure is lowest."""
    hits, _, missed = _counts(curves, name, truth, detector)
    return missed / (hits + missed)


def found_share(curves: EdgeCurves, name: str) -> float:
    return 1 - missed_share(curves, name)


def worst(curves: EdgeCurves, name: str) -> str:
    scores = curves.mean(name)
    return max(DETECTORS, key=scores.__getitem__)


def not_named(names: Sequence[str]) -> str:
    return symbols([name for name in OTHERS if name not in names])


def spread(curves: EdgeCurves, name: str, truth: int = 1) -> float:
    scores = [curves.mean(name, truth)[d] for d in DETECTORS]
    return max(scores) / min(scores) - 1 if min(scores) > 0 else float("inf")


def short(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.4g}"
