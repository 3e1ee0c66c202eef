"""Checks of what Hou, Yuille & Koch (2013) claim of systems and of people's choices, row by row of claims.toml."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hyperacuity.audit.benchmark import SystemAudit
from hyperacuity.audit.risk import RiskScore
from hyperacuity.audit.trials import MODES, Mode
from hyperacuity_papers.common.claims import Finding, NotRunError, drawn, expect, incomparable
from hyperacuity_papers.hou2013.study import NEW, SCENES, TEST, UCM, Hou2013, slug
from hyperacuity_papers.hou2013.table import behind_partial, differences, lost

NEEDS = "needs BSDS500"

ON_SCENES = "made scenes and simulated annotators, not photographs and people"

SIMULATED = "simulated observers, not people, and other systems than the paper's"

NO_CCUT = "there are no maps of cCut here (--system cCut=DIR)"


NEAR = 0.01

"""Largest difference of our F from the paper's: its tables have two digits, and an interval over 100 images is wider."""


Audits = Mapping[str, SystemAudit]


def _in_words(study: Hou2013, check: Callable[[Audits], tuple[bool, str]], otherwise: str) -> Finding:
    """Check a claim about every system, on the paper's images and on the new ones; on scenes it cannot be compared."""
    if SCENES in study.audits:
        return incomparable(check(study.audits[SCENES])[1], ON_SCENES)
    if not study.audits:
        raise NotRunError(NEEDS)
    results = {part: check(audits) for part, audits in study.audits.items()}
    text = "; ".join(f"{part}: {told}" for part, (_, told) in results.items())
    wrong = [part for part, (holds, _) in results.items() if not holds]
    return expect(not wrong, text, f"{otherwise} ({', '.join(wrong)})")


VALUES: dict[str, Callable[[SystemAudit], float]] = {
    "thickness": lambda a: a.all.thickness,
    "threshold on consensus labels less that on all": lambda a: a.consensus.ods.threshold - a.all.ods.threshold,
    "threshold without the bonus less that with it": lambda a: a.mean.ods.threshold - a.all.ods.threshold,
    "precision gained by the bonus": lambda a: a.bonus.precision_any - a.bonus.precision_mean,
    "loss of precision less that of recall": lambda a: lost(a, "precision") - lost(a, "recall"),
    "rank correlation of output and strength": lambda a: a.output.spearman,
}
"""Numbers of a system."""


def every_system(
    study: Hou2013, value: str, otherwise: str, above: float = -math.inf, below: float = math.inf, digits: int = 2
) -> Finding:
    """Check that one of :data:`VALUES` is above or below a number for every system."""

    def check(audits: Audits) -> tuple[bool, str]:
        ours = VALUES[value]
        return all(above < ours(audit) < below for audit in audits.values()), listed(audits, ours, digits)

    return _in_words(study, check, otherwise)


def listed(audits: Audits, value: Callable[[SystemAudit], float], digits: int = 2) -> str:
    """A number of each system, as text."""
    return ", ".join(f"{name} {value(audit):.{digits}f}" for name, audit in audits.items())


def score_of(study: Hou2013, name: str, published: float, kin: Sequence[str] = ()) -> Finding:
    """F of a system on BSDS300's test set: no more than :data:`NEAR` from the paper's, which lies in our interval over images.

    Of a system that is not here, its ``kin``, which cannot be compared; there is no number of ours where there is none.
    """
    ods = study.audits.get(TEST, {}).get(name)
    if ods is not None:
        low, high = ods.all.ods.interval
        text = f"{ods.all.ods.f:.3f} ({low:.3f} – {high:.3f})"
        close = low <= published <= high and abs(ods.all.ods.f - published) <= NEAR
        return expect(close, text, f"the paper's {published:g} is more than {NEAR:g} away, or outside of our interval")
    for other, where in ((other, where) for other in (name, *kin) for where in study.audits):
        if other in study.audits[where]:
            because = f"{other} on {where}; the paper's is {name} on BSDS300's test set"
            return incomparable(f"{study.audits[where][other].all.ods.f:.3f}", because)
    return incomparable("", f"there are no maps of {name} here (--system {name}=DIR)")


def most_lost_on_part(study: Hou2013) -> Finding:
    """Find the system that loses most on partial labels."""
    audits = study.audits[first_part(study)]
    losses = {name: a.all.ods.f - a.partial_f["halfplane"][0] for name, a in audits.items()}
    most = max(losses, key=lambda name: losses[name])
    return incomparable(f"of ours {most}, by {losses[most]:.3f}", NO_CCUT)


def behind_on_consensus(study: Hou2013) -> Finding:
    """Compare the first and the last system on consensus labels."""
    scores = {name: a.consensus.ods.f for name, a in study.audits[first_part(study)].items()}
    first, last = max(scores, key=lambda name: scores[name]), min(scores, key=lambda name: scores[name])
    return incomparable(f"of ours {last} {scores[last]:.3f}, {first} {scores[first]:.3f}", NO_CCUT)


def by_year(study: Hou2013) -> Finding:
    """Check that our systems rise with their years, too."""
    years = {"sobel": 1968, "canny": 1986, "pb": 2002, UCM: 2011}
    audits = study.audits.get(NEW) or study.audits.get(SCENES)
    if not audits:
        raise NotRunError(NEEDS)
    found = [(name, year, audits[name].all.ods.f) for name, year in years.items() if name in audits]
    scores = [f for _, _, f in found]
    text = ", ".join(f"{name} ({year}) {f:.3f}" for name, year, f in found)
    if SCENES in study.audits:
        return incomparable(text, ON_SCENES)
    return expect(scores == sorted(scores), f"{NEW}: {text}", "an older system is ahead of a newer one")


def first_part(study: Hou2013) -> str:
    """Return the part with the paper's images if it is there, else the first part."""
    if not study.audits:
        raise NotRunError(NEEDS)
    return TEST if TEST in study.audits else next(iter(study.audits))


def responses(study: Hou2013) -> Finding:
    """Count the answers."""
    part = first_part(study)
    systems, trials = len({trial.system for trial in study.trials[part]}), len(study.trials[part])
    given = ", ".join(f"{choices.answers} through {name}" for name, choices in study.choices[part].items())
    return incomparable(
        f"{part}: {trials} trials of {systems} systems, answers of 5 simulated people: {given}", SIMULATED
    )


def figure_2b(study: Hou2013) -> Finding:
    """Orphans and false alarms as parts of what was drawn and detected."""
    part = first_part(study)
    if part not in study.sets:
        raise NotRunError("the first detector has no scores")
    sizes, system = study.sets[part], study.detectors[0]
    text = (
        f"{100 * sizes.orphans / sizes.labels:.0f} % of what people drew are orphans, {system} found "
        f"{100 * sizes.orphans_found / sizes.orphans:.0f} % of them; {100 * sizes.false_alarms / sizes.detected:.0f} % of "
        "what it detected are false alarms"
    )
    return expect(
        0 < sizes.orphans < sizes.labels and 0 < sizes.false_alarms < sizes.detected,
        drawn(study, f"fig-2b-sets-{slug(part)}.png", text),
        "one of the sets is empty",
    )


ILLUSTRATION = "an illustration, of other pictures or systems than the paper's"


def figure_2a(study: Hou2013) -> Finding:
    """Measure the pieces of the trials."""
    trials = study.trials[first_part(study)]
    if not trials:
        raise NotRunError("no picture gave a trial")
    length = statistics.median(len(piece.pixels) for trial in trials for piece in (trial.first, trial.second))
    return incomparable(drawn(study, "fig-2a-trial.png", f"pieces of {length:.0f} pixels (median)"), ILLUSTRATION)


def figure_2c(study: Hou2013) -> Finding:
    """Count how often the weaker of the two looks stronger to simulated observers."""
    text = _risks(study, lambda score: f"the false alarm wins {100 * score.mean['hard'].risk:.0f} %")
    return incomparable(drawn(study, "fig-2c-orphans.png", text), SIMULATED)


def figure_5_curves(study: Hou2013) -> Finding:
    """Areas under the curves of the first detector."""
    part, system = first_part(study), study.detectors[0]
    if system not in study.audits[part]:
        raise NotRunError("the first detector has no scores")
    audit = study.audits[part][system]
    areas = {"original": audit.all.ap, "consensus": audit.consensus.ap, "partial": audit.partial["halfplane"][0].ap}
    text = f"{system}, area under the curve: " + ", ".join(f"{name} {area:.2f}" for name, area in areas.items())
    return incomparable(drawn(study, f"fig-5-curves-{slug(part)}.png", text), ILLUSTRATION)


def mean_risk(study: Hou2013, mode: Mode) -> Finding:
    """The mean risk by each simulated observer."""
    return incomparable(_risks(study, lambda score: f"{score.mean[mode].risk:.3f}"), SIMULATED)


def _risks(study: Hou2013, tell: Callable[[RiskScore], str]) -> str:
    """Something about the risks of every observer, by part."""
    found = [
        f"{part}, observer {name}: {tell(choices.score)}"
        for part, observers in study.choices.items()
        for name, choices in observers.items()
        if all(mode in choices.score.mean for mode in MODES)
    ]
    if not found:
        raise NotRunError("no observer could look")
    return "; ".join(found)


def hard_and_easy(study: Hou2013) -> Finding:
    """Compare the risks of consensus labels and of orphans, for every system."""

    def tell(score: RiskScore) -> str:
        both = [name for name in score.risks["hard"] if name in score.risks["easy"]]
        lower = sum(score.risks["easy"][name].risk < score.risks["hard"][name].risk for name in both)
        return f"lower for {lower} of {len(both)} systems"

    return incomparable(_risks(study, tell), SIMULATED)


def high_risks(study: Hou2013) -> Finding:
    """The least and the largest hard risk of a system, by observer."""

    def tell(score: RiskScore) -> str:
        found = [one.risk for one in score.risks["hard"].values()]
        return f"{min(found):.2f} to {max(found):.2f}"

    return incomparable(_risks(study, tell), SIMULATED)


def passed(study: Hou2013) -> Finding:
    """Find the systems with a hard risk of one half or more."""

    def tell(score: RiskScore) -> str:
        found = [name for name, one in score.risks["hard"].items() if one.risk >= 0.5]
        return ", ".join(found) or "none"

    return incomparable(_risks(study, tell), SIMULATED)


def agreement(study: Hou2013) -> Finding:
    """Compare the agreement of observers on hard and easy trials."""
    return incomparable(_risks(study, lambda s: f"α {s.alpha['hard']:.2f} hard, {s.alpha['easy']:.2f} easy"), SIMULATED)


def mean_loss(study: Hou2013, measure: str) -> Finding:
    """The mean share of precision or recall that is lost, %."""
    first_part(study)
    means = {part: statistics.mean(lost(a, measure) for a in audits.values()) for part, audits in study.audits.items()}
    singly = {part: listed(audits, lambda a: lost(a, measure), 0) for part, audits in study.audits.items()}
    text = "; ".join(f"{part}: {mean:.1f} % ({singly[part]})" for part, mean in means.items())
    return incomparable(
        text, ON_SCENES if SCENES in study.audits else "a mean over other systems than the paper's nine"
    )


def falls(study: Hou2013, measure: str, otherwise: str) -> Finding:
    """Check that a measure falls from each strength to the next for every system; tell where it rises most."""

    def check(audits: Audits) -> tuple[bool, str]:
        rises = {
            name: max(np.diff([getattr(score.ods, measure) for score in audit.by_strength]))
            for name, audit in audits.items()
        }
        worst = max(rises, key=lambda name: rises[name])
        return rises[worst] <= 0, f"largest step {rises[worst]:+.3f} ({worst})"

    return _in_words(study, check, otherwise)


def no_better(study: Hou2013) -> Finding:
    """Check that F on consensus labels is no better than on partial ones: no paired interval of their difference is above 0."""
    first_part(study)
    told = {
        part: ", ".join(
            f"{name} {one.difference:+.3f} ({one.low:+.3f} – {one.high:+.3f})" for name, one in found.items()
        )
        for part, found in study.stronger.items()
    }
    text = f"consensus less partial, {'; '.join(f'{part}: {one}' for part, one in told.items())}"
    if SCENES in study.stronger:
        return incomparable(text, ON_SCENES)
    better = [
        f"{name} on {part}" for part, found in study.stronger.items() for name, one in found.items() if one.low > 0
    ]
    return expect(not better, text, f"better beyond the paired interval over images: {', '.join(better)}")


def all_drop(study: Hou2013, otherwise: str) -> Finding:
    """Check that F falls from all to consensus labels beyond both intervals."""

    def check(audits: Audits) -> tuple[bool, str]:
        holds = all(a.consensus.ods.interval[1] < a.all.ods.interval[0] for a in audits.values())
        return holds, ", ".join(f"{name} {a.all.ods.f:.3f} → {a.consensus.ods.f:.3f}" for name, a in audits.items())

    return _in_words(study, check, otherwise)


def pb_behind(study: Hou2013) -> Finding:
    """Check that pb is worse on consensus than on partial labels."""
    found = {part: behind_partial(audits["pb"]) for part, audits in study.audits.items() if "pb" in audits}
    if not found:
        raise NotRunError(f"{NEEDS} and pb among the detectors")
    text = ", ".join(f"{part} {value:+.3f}" for part, value in found.items())
    if SCENES in study.audits:
        return incomparable(text, ON_SCENES)
    above = [part for part, value in found.items() if value >= 0]
    return expect(not above, text, f"it is not on {', '.join(above)}")


def consensus_slope(audit: SystemAudit) -> float:
    """Slope of the share of consensus among the matched pixels over the output: a line through all levels.

    Levels weigh as much as they have pixels; NaN where fewer than two have any.
    """
    weight, share = audit.output.matched.astype(np.float64), audit.output.shares[:, -1]
    known = weight > 0
    if known.sum() < 2:
        return float("nan")
    level = (np.arange(len(share)) + 0.5) / len(share)
    off = level - np.average(level[known], weights=weight[known])
    return float((weight * off * share)[known].sum() / (weight * off**2)[known].sum())


def consensus_grows(study: Hou2013) -> Finding:
    """The slopes of all systems; the paper names an ideal, and gives no slope."""
    first_part(study)
    told = "; ".join(f"{part}: {listed(audits, consensus_slope)}" for part, audits in study.audits.items())
    slopes = [consensus_slope(audit) for audits in study.audits.values() for audit in audits.values()]
    rising = f"grows for {sum(slope > 0 for slope in slopes)} of {len(slopes)}"
    because = "an ideal, not a finding: the paper gives no slope, and XRen, which comes closest, is not here"
    return incomparable(f"{rising}; slope over the whole range of output, {told}", because)


def retrained(study: Hou2013, labels: str) -> Finding:
    """Check that pb learned from consensus labels is no better than pb learned from all."""
    if not study.retrained:
        raise NotRunError(NEEDS)
    found = study.retrained[0].audits
    usual, strong = (getattr(found[learned], labels).ods for learned in ("all", "consensus"))
    text = f"{strong.f:.3f}, learned from all labels {usual.f:.3f} ({usual.interval[0]:.3f} – {usual.interval[1]:.3f})"
    otherwise = "it is better, beyond the interval over images"
    return expect(strong.f <= usual.interval[1], drawn(study, "fig-8-retrained.png", text), otherwise)


def old_and_new(study: Hou2013) -> dict[str, tuple[float, float]]:
    """Return the :func:`~hyperacuity_papers.hou2013.table.differences`, of which there must be some."""
    found = differences(study)
    if not found:
        raise NotRunError(NEEDS)
    return found


def difference(study: Hou2013) -> Finding:
    """The mean difference of old and new images, of all systems and of gpb alone."""
    found = old_and_new(study)
    text = f"{statistics.mean(value for both in found.values() for value in both):.3f} ({', '.join(found)})"
    if "gpb" in found:
        text += (
            f"; gpb alone {statistics.mean(found['gpb']):.3f} (all {found['gpb'][0]:.3f}, con {found['gpb'][1]:.3f})"
        )
    return incomparable(drawn(study, "fig-9-old-and-new.png", text), "gPB and SCG in the paper")


def deviation(study: Hou2013) -> Finding:
    """The deviation of these differences."""
    found = old_and_new(study)
    text = f"{statistics.stdev(value for both in found.values() for value in both):.4f} ({', '.join(found)})"
    return incomparable(text, "gPB and SCG in the paper")


def easier(study: Hou2013) -> Finding:
    """Check that the new images are a little easier, for every system and kind of labels."""
    found = old_and_new(study)
    values = [value for both in found.values() for value in both]
    return expect(min(values) > 0, f"from {min(values):+.3f} to {max(values):+.3f}", "they are not for each")


def needs_people(study: Hou2013) -> Finding:
    """State that people would have to be asked."""
    raise NotRunError("needs people: hyperacuity studio choose")
