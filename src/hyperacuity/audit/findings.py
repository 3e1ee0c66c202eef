"""The findings of an audit in plain words, one number per sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from hyperacuity.audit.benchmark import Change, SystemAudit
from hyperacuity.audit.strength import LabelScore

WEAK, STRONG = 0.2, 0.5
"""Below, output says hardly anything about strength; from here on it says much."""


def findings(labels: LabelScore, systems: Mapping[str, SystemAudit], changes: Sequence[Change] = ()) -> list[str]:
    """Findings of an audit, a sentence or two each, labels first."""
    return [*label_findings(labels), *(system_findings(systems) if systems else []), *order_findings(systems, changes)]


def label_findings(labels: LabelScore) -> list[str]:
    """Findings on the labels themselves."""
    fewest, most = min(labels.annotators), max(labels.annotators)
    images = _count(len(labels.images), "image")
    if most == 1:
        return [f"Each of the {images} was drawn by one person only: nothing can be said about agreement."]
    people = _count(fewest, "annotator") if fewest == most else f"{fewest} to {most} annotators"
    if math.isnan(labels.boundaries.consensus):
        return [f"The {images} ({people} each) have no label at all."]
    return [
        f"{_percent(labels.boundaries.orphan)} of the boundaries were drawn by one person only, "
        f"{_percent(labels.boundaries.consensus)} by everyone ({images}, {people} each).",
        f"What one person drew, another one drew too in {_percent(labels.agreement)} of the cases, pixel by pixel. "
        f"Of all drawn pixels, {_percent(labels.pixels.orphan)} are one person's alone.",
    ]


def system_findings(systems: Mapping[str, SystemAudit]) -> list[str]:
    """Findings on the effect of labels on systems."""
    audits = list(systems.values())
    precision = _mean(a.all.ods.precision - a.consensus.ods.precision for a in audits)
    recall = _mean(a.all.ods.recall - a.consensus.ods.recall for a in audits)
    average = "" if len(audits) == 1 else " on average"
    rows = [
        f"With only those labels that everyone drew, the best precision {_moves(precision)}{average}, "
        f"the recall {_moves(recall)}."
    ]
    for name, audit in systems.items():
        part, spread = audit.partial_f["halfplane"]
        rows.append(
            f"{name}: F is {audit.all.ods.f:.3f} on all labels, {audit.consensus.ods.f:.3f} on those that everyone drew and "
            f"{part:.3f}{'' if math.isnan(spread) else f' ± {spread:.3f}'} on an arbitrary part of the same size: "
            f"{_verdict(audit.consensus.ods.f, part, spread, audit.consensus.ods.interval)}."
        )
    bonus = _mean(a.bonus.precision_any - a.bonus.precision_mean for a in audits)
    rows.append(
        f"That any one annotator makes a detected pixel right is worth {bonus:.2f} of precision{average}, "
        "against the mean over annotators."
    )
    rows += [
        f"{name}: output {_says(a.output.spearman)} about how many people drew a boundary "
        f"(rank correlation {_signed(a.output.spearman)}{_interval(a.output.interval)})."
        for name, a in systems.items()
        if not math.isnan(a.output.spearman)
    ]
    return rows


def order_findings(systems: Mapping[str, SystemAudit], changes: Sequence[Change]) -> list[str]:
    """Findings on the order of the systems under different labels."""
    if len(systems) < 2:
        return []
    if not changes:
        return ["The order of the systems is the same under every choice of labels."]
    pairs: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        pairs.setdefault((change.ahead, change.behind), []).append(change)
    rows = []
    for (ahead, behind), where in pairs.items():
        p_values = [change.p_value for change in where if not math.isnan(change.p_value)]
        chance = f"; least p {min(p_values):.3f}, paired bootstrap with Holm's correction" if p_values else ""
        rows.append(
            f"On all labels {behind} is ahead of {ahead}; the order is reversed under "
            f"{', '.join(change.truth for change in where)} (by up to {max(c.difference for c in where):.3f}{chance})."
        )
    return rows


def _verdict(consensus: float, part: float, spread: float, interval: tuple[float, float]) -> str:
    """Verdict on whether strong boundaries are detected better than others: beyond the interval and the spread of the control."""
    margin = 2 * (0.0 if math.isnan(spread) else spread)
    low, high = (consensus, consensus) if math.isnan(interval[0]) else interval
    if low > part + margin:
        return "strong boundaries are found better than others"
    if high < part - margin:
        return "strong boundaries are found worse than others"
    return "strong boundaries are found no better than others"


def _says(correlation: float) -> str:
    if correlation < 0:
        return "says the opposite of the truth" if correlation < -WEAK else "says nothing"
    return "says hardly anything" if correlation < WEAK else "says something" if correlation < STRONG else "says much"


def _moves(drop: float) -> str:
    if abs(drop) < 0.005:
        return "stays as it is"
    return f"{'falls' if drop > 0 else 'rises'} by {abs(drop):.2f}"


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _interval(ends: tuple[float, float]) -> str:
    return "" if math.isnan(ends[0]) else f", 95 % interval {_signed(ends[0])} to {_signed(ends[1])}"


def _count(number: int, of: str) -> str:
    return f"{number} {of}{'' if number == 1 else 's'}"
