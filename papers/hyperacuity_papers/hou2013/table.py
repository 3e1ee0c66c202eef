"""The numbers of Hou, Yuille & Koch (2013) and ours, on the paper's images and on those that came later."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperacuity.audit.benchmark import SystemAudit
from hyperacuity.audit.trials import MODES
from hyperacuity_papers.hou2013.study import NEW, OLD, TEST, TRAIN, UCM, Hou2013

PUBLISHED = {
    "pb": 0.65,
    "ucm": 0.67,
    "mincover": 0.65,
    "bel": 0.66,
    "gpb": 0.70,
    "xren": 0.67,
    "nmx": 0.71,
    "ccut": 0.45,
    "scg": 0.71,
}
"""F of the paper's Table 1, on the test set of BSDS300; the text says 0.6482 of pB and 0.7143 of SCG."""

RISKS = {"hard": 0.5017, "easy": 0.1082}
"""Mean risks of the paper; its subjects were people."""

SHARES = {OLD: (29.40, 28.99), TEST: (31.39, None), NEW: (30.58, 30.15)}
"""Orphan and consensus share of the labels in the paper, %. It gives 31.39 for BSDS300 too, the share of its test half."""

MAPS = {OLD: (300, 1667), TRAIN: (200, None), TEST: (100, None), NEW: (200, None)}
"""Number of images and boundary maps in the paper."""

DROPS = {"precision": 28.7, "recall": 9.0}
"""Loss from all to consensus labels (Fig. 4), %."""

DIFFERENCE, DEVIATION = 0.028, 0.0058
"""F on the new images less F on the old ones (Fig. 9): mean and standard deviation over two systems and two kinds of labels."""


@dataclass(frozen=True)
class PaperNumber:
    """A number of the paper and what it is here, by part of the data; a part that has none is left out."""

    quantity: str
    here: Mapping[str, float]
    paper: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    def flat(self, parts: Sequence[str]) -> dict[str, Any]:
        """Return a row of a table: the paper's number and ours for each part."""
        pairs = {
            f"{who}{part}": of.get(part) for part in parts for who, of in (("paper: ", self.paper), ("", self.here))
        }
        return {"quantity": self.quantity, **pairs, "note": self.note}


def paper_table(study: Hou2013) -> list[PaperNumber]:
    """Every number of the paper that the data allow, with ours."""
    rows = list(_labels(study))
    systems = list(dict.fromkeys(name for audits in study.audits.values() for name in audits))
    for name in systems:
        rows += _scores_of(name, {part: audits[name] for part, audits in study.audits.items() if name in audits})
    for measure, paper in DROPS.items():
        rows += _drops(study, measure, paper)
    behind = {part: _mean(map(behind_partial, audits.values())) for part, audits in study.audits.items()}
    rows.append(
        PaperNumber(
            "F on consensus minus F on partial labels (halfplane): mean", behind, note='"no better" in the paper'
        )
    )
    bonus = {
        part: _mean(a.bonus.precision_any - a.bonus.precision_mean for a in audits.values())
        for part, audits in study.audits.items()
    }
    rows.append(PaperNumber("precision bonus, any annotator against the mean: mean", bonus))
    swaps = {part: float(len({(c.ahead, c.behind) for c in found})) for part, found in study.changes.items()}
    rows.append(PaperNumber("pairs of systems whose order changes under some choice of labels", swaps))
    return [*rows, *_old_against_new(study), *_retrained(study), *_risks(study)]


def label_rows(study: Hou2013) -> list[dict[str, Any]]:
    """The labels by part: images, maps, orphan and consensus shares of boundaries (the paper's too) and of pixels, %."""
    rows = []
    for part in (part for part in (TRAIN, TEST, OLD, NEW, *study.labels) if part in study.labels):
        found, (orphan, consensus) = study.labels[part], SHARES.get(part, (None, None))
        rows.append(
            {
                "part": part,
                "images": len(found.images),
                "maps": sum(found.annotators),
                "paper: orphan": orphan,
                "orphan": 100 * found.boundaries.orphan,
                "paper: consensus": consensus,
                "consensus": 100 * found.boundaries.consensus,
                "orphan pixels": 100 * found.pixels.orphan,
                "consensus pixels": 100 * found.pixels.consensus,
            }
        )
    return list({row["part"]: row for row in rows}.values())


def risk_rows(study: Hou2013) -> list[dict[str, Any]]:
    """Risks by part, observer, noise, mode and system; the mean over systems for every noise."""
    rows = []
    for part, observers in study.choices.items():
        for name, choices in observers.items():
            for mode, systems in choices.score.risks.items():
                for noise, mean in choices.by_noise.items():
                    own = systems if noise == study.observer.noise else {}
                    rows += [
                        {
                            "part": part,
                            "observer": name,
                            "noise": noise,
                            "mode": mode,
                            "system": system,
                            "risk": one.risk,
                            "low": one.interval[0],
                            "high": one.interval[1],
                            "trials": one.trials,
                        }
                        for system, one in {**own, "mean": mean[mode]}.items()
                    ]
    return rows


def number_text(value: float | None, missing: str = "–") -> str:
    """A number with four significant digits, a count in full.

    >>> number_text(0.70342), number_text(1667.0), number_text(None)
    ('0.7034', '1667', '–')
    """
    return missing if value is None else f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"


def behind_partial(audit: SystemAudit) -> float:
    """F on consensus labels minus F on partial labels: below 0, strong boundaries are detected worse than any."""
    return audit.consensus.ods.f - audit.partial_f["halfplane"][0]


def lost(audit: SystemAudit, measure: str) -> float:
    """The share of precision or recall that is lost from all to consensus labels, %; NaN where there was none."""
    first, last = getattr(audit.all.ods, measure), getattr(audit.consensus.ods, measure)
    return float(100 * (first - last) / first) if first else float("nan")


def differences(study: Hou2013) -> dict[str, tuple[float, float]]:
    """F on the new images minus F on BSDS300's test set, on all and on consensus labels, of the systems that have both."""
    old, new = study.audits.get(TEST, {}), study.audits.get(NEW, {})
    return {
        name: (new[name].all.ods.f - old[name].all.ods.f, new[name].consensus.ods.f - old[name].consensus.ods.f)
        for name in old
        if name in new
    }


def published(name: str) -> tuple[float | None, str]:
    """The paper's F of a system on BSDS300's test set, and what to know about it."""
    if name in (UCM, "gpb-ucm"):
        return PUBLISHED["gpb"], "gPB in the paper, before the ucm"
    return PUBLISHED.get(name.lower()), "the authors' own in the paper" if name in ("pb", "gpb") else ""


def _labels(study: Hou2013) -> Iterator[PaperNumber]:
    parts = {part: study.labels[part] for part in study.audits}
    papers = {part: SHARES[part] for part in parts if part in SHARES}
    yield PaperNumber("images", {part: float(len(of.images)) for part, of in parts.items()}, {TEST: 100.0, NEW: 200.0})
    yield PaperNumber("boundary maps", {part: float(sum(of.annotators)) for part, of in parts.items()})
    yield PaperNumber(
        "orphan share of boundaries, %",
        {part: 100 * of.boundaries.orphan for part, of in parts.items()},
        {part: orphan for part, (orphan, _) in papers.items() if orphan is not None},
        "BSDS300 test: the 31.39 of the paper's section 3",
    )
    yield PaperNumber(
        "consensus share of boundaries, %",
        {part: 100 * of.boundaries.consensus for part, of in parts.items()},
        {part: consensus for part, (_, consensus) in papers.items() if consensus is not None},
    )


def _scores_of(name: str, audits: Mapping[str, SystemAudit]) -> Iterator[PaperNumber]:
    """The numbers of one system."""
    known, note = published(name)

    def row(quantity: str, value: Any, **more: Any) -> PaperNumber:
        return PaperNumber(f"{name}: {quantity}", {part: value(audit) for part, audit in audits.items()}, **more)

    paper = {} if known is None else {TEST: known}
    yield row("F, all labels", lambda a: a.all.ods.f, paper=paper, note=note)
    yield row("precision, all labels", lambda a: a.all.ods.precision)
    yield row("recall, all labels", lambda a: a.all.ods.recall)
    yield row("F, consensus labels", lambda a: a.consensus.ods.f)
    yield row("precision, consensus labels", lambda a: a.consensus.ods.precision)
    yield row("recall, consensus labels", lambda a: a.consensus.ods.recall)
    for kind in next(iter(audits.values())).partial_f:
        yield row(f"F, partial labels ({kind})", lambda a, kind=kind: a.partial_f[kind][0])
    says = "below 0 in the paper" if name == "pb" else ""
    yield row("F on consensus minus F on partial labels (halfplane)", behind_partial, note=says)
    yield row("F, all labels, precision by the mean annotator", lambda a: a.mean.ods.f)
    yield row("rank correlation of output and strength", lambda a: a.output.spearman, note='"rather weak" in the paper')


def _drops(study: Hou2013, measure: str, paper: float) -> Iterator[PaperNumber]:
    """Loss of precision or recall when only consensus labels count (Fig. 4), as a share and in points."""
    many = f"mean of 9 systems in the paper, of {', '.join(str(len(of)) for of in study.audits.values())} here"
    shares = {part: _mean(lost(a, measure) for a in audits.values()) for part, audits in study.audits.items()}
    points = {
        part: _mean(100 * (getattr(a.all.ods, measure) - getattr(a.consensus.ods, measure)) for a in audits.values())
        for part, audits in study.audits.items()
    }
    what = f"{measure} lost from all to consensus labels"
    yield PaperNumber(f"{what}, %", shares, {TEST: paper}, many)
    yield PaperNumber(
        f"{what}, points", points, {TEST: paper}, "the paper does not say whether it means points or shares"
    )


def _old_against_new(study: Hou2013) -> Iterator[PaperNumber]:
    """Compare scores on the 200 new images with those on BSDS300's test set (Fig. 9)."""
    found = differences(study)
    values = [value for both in found.values() for value in both]
    note = f"gPB and SCG in the paper; {', '.join(found)} here"
    if values:
        yield PaperNumber("F less that on BSDS300 test: mean", {NEW: _mean(values)}, {NEW: DIFFERENCE}, note)
        yield PaperNumber("… deviation", {NEW: statistics.stdev(values)}, {NEW: DEVIATION}, note)


def _retrained(study: Hou2013) -> Iterator[PaperNumber]:
    for found in study.retrained:
        note = f"learned from {found.train} images, tested on {found.test}"
        for labels, audit in found.audits.items():
            yield PaperNumber(f"pb learned from {labels} labels: F, all labels", {TEST: audit.all.ods.f}, note=note)
            yield PaperNumber(
                f"pb learned from {labels} labels: F, consensus", {TEST: audit.consensus.ods.f}, note=note
            )


def _risks(study: Hou2013) -> Iterator[PaperNumber]:
    """Mean risks by simulated observers; the paper's are people's."""
    observers = dict.fromkeys(name for found in study.choices.values() for name in found)
    for mode in MODES:
        for name in observers:
            means = {part: found[name].score.mean for part, found in study.choices.items() if name in found}
            risks = {part: mean[mode].risk for part, mean in means.items() if mode in mean}
            note = f"simulated, looking through {name}; people in the paper"
            yield PaperNumber(f"mean risk, {mode}, observer {name}", risks, {TEST: RISKS[mode]}, note)


def _mean(values: Any) -> float:
    several = list(values)
    return sum(several) / len(several) if several else float("nan")
