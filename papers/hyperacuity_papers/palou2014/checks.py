"""Checks of what Palou & Salembier (2014) claim, row by row of claims.toml."""

from __future__ import annotations

import numpy as np

from hyperacuity.ordering import Outcomes
from hyperacuity.ordering.prc import Numbers
from hyperacuity.ordering.scores import Consistency
from hyperacuity.resampling import ratio
from hyperacuity_papers.common.claims import NEEDS, Finding, NotRunError, expect, incomparable
from hyperacuity_papers.palou2014 import examples as example
from hyperacuity_papers.palou2014.depth_views import (
    AE,
    CUES,
    LAMBDAS,
    LEVELS,
    NETWORK,
    ORACLE,
    OWNERSHIP,
    RANDOM,
    SHOWN_LAMBDA,
    TREE,
    UCM_TJ,
)
from hyperacuity_papers.palou2014.study import PAPERS, PHOTOGRAPHS, RULES, SCENES, Palou2014, PalouSets

OTHERS = "other labels on other photographs: theirs are their own, of all 500"


NAMED = 7

"""Number of systems that the paper compares: the proposed one, PO, AE, UCM + TJC, BPT + TJC, OB and LD."""

COMPETITIVE = 0.9

"""Share of the best system's number that still counts as competitive."""


def photographs(study: PalouSets) -> Palou2014:
    if PHOTOGRAPHS not in study.sets:
        raise NotRunError(NEEDS)
    return study.sets[PHOTOGRAPHS]


def part_of(of: Palou2014, system: str, which: str = "ldc") -> Consistency:
    if system not in of.scores:
        raise NotRunError(f"{system} cannot be run here: needs the extra see")
    part: Consistency | None = getattr(of.scores[system], which)
    if part is None or part.best.index < 0 or part.best.fmax == 0:
        raise NotRunError(f"{which.upper()} of {system} has nothing to count")
    return part


def best_numbers(study: PalouSets, number: str, which: str = "ldc") -> dict[str, float]:
    """A number of each of the paper's systems on photographs, at its best F(1)."""
    return {name: float(getattr(part_of(photographs(study), name, which).best, number)) for name in PAPERS}


def listed(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())


def right_side(study: PalouSets, system: str) -> str:
    why = photographs(study).inconsistency(system)
    if why is None:
        raise NotRunError(NEEDS)
    return f"{100 * why['right side']:.1f} ({system}; at 15° {100 * why['consistent']:.1f})"


def learned_or_not(study: PalouSets) -> Finding:
    of = photographs(study)
    sides = {name: why["right side"] for name in (UCM_TJ, CUES) if (why := of.inconsistency(name)) is not None}
    if len(sides) < 2:
        raise NotRunError(NEEDS)
    return expect(sides[UCM_TJ] >= sides[CUES], f"right side: {listed(sides)}", "what is learned is right more often")


def unseen(study: PalouSets) -> Finding:
    """Learned cues and cues that nobody learned, on the kind of picture that was learned from and on another."""
    column = "true regions, median"
    pictures = (photographs(study), study.sets[SCENES])
    (known, new), (plain, plain_new) = ([of.sums[name, column].bacc for of in pictures] for name in (CUES, UCM_TJ))
    text = (
        f"B-ACC on photographs and on scenes: learned cues {known:.3f} and {new:.3f}, "
        f"UCM + T-junctions {plain:.3f} and {plain_new:.3f}"
    )
    return expect(known - new > max(plain - plain_new, 0), text, "what is learned loses no more than what is not")


def quoted(study: PalouSets, system: str, because: str) -> Finding:
    return incomparable(right_side(study, system), because)


def perfect_regions(study: PalouSets) -> Finding:
    sums = photographs(study).sums
    given, own = (sums[CUES, f"{kind} regions, median"].bacc for kind in ("true", "own"))
    return expect(given > own, f"learned cues: B-ACC {given:.3f} against {own:.3f}", "own regions do no worse")


def ends(part: Consistency) -> tuple[int, int]:
    """The operating points of least and of most recall."""
    recall = np.nan_to_num(np.atleast_1d(part.outcomes.recall(1)), nan=-1.0)
    known = np.flatnonzero(recall > 0)
    if known.size < 2:
        raise NotRunError("there is one operating point only")
    return int(known[recall[known].argmin()]), int(known[recall[known].argmax()])


def confident_is_easier(study: PalouSets) -> Finding:
    part = part_of(photographs(study), NETWORK)
    fg, (few, many) = np.atleast_1d(part.outcomes.accuracy), ends(part)
    text = f"network: fg {fg[few]:.3f} at least recall, {fg[many]:.3f} at most"
    return expect(bool(fg[few] > fg[many]), text, "confident contours are not easier")


def widths(outcomes: Outcomes) -> Numbers:
    """Width of the region at each operating point: 1 − F(0)/F(1); NaN without any detection."""
    return np.atleast_1d(1 - ratio(outcomes.f(0), outcomes.f(1)))


def narrower(study: PalouSets) -> Finding:
    part = part_of(photographs(study), NETWORK)
    share = widths(part.outcomes)
    few, many = ends(part)
    text = f"network: 1 − F(0)/F(1) is {share[few]:.3f} at least recall, {share[many]:.3f} at most"
    return expect(bool(share[few] < share[many]), text, "the region is not narrower where few are detected")


def segments(study: PalouSets) -> Finding:
    """Check that each operating point goes from (R(0), P(0)) up to (R(1), P(1))."""
    outcomes = part_of(photographs(study), TREE).outcomes
    ends = [np.stack([outcomes.recall(beta), outcomes.precision(beta)]) for beta in (0, 1)]
    ends = [of[:, np.isfinite(ends).all(axis=(0, 1))] for of in ends]
    length = np.hypot(*(ends[1] - ends[0]))
    text = f"{TREE}: {length.size} segments of length {length.min():.3f} to {length.max():.3f}"
    return expect(bool((ends[1] > ends[0]).all()), text, "some segment does not rise")


def wide_is_poor(study: PalouSets) -> Finding:
    of = photographs(study)
    found = {name: widths(part_of(of, name).outcomes) for name in (ORACLE, RANDOM)}
    known = np.isfinite(list(found.values())).all(axis=0)
    text = f"1 − F(0)/F(1) at level {LEVELS[0]:g} – {LEVELS[-1]:g}: " + ", ".join(
        f"{name} {width[known].min():.3f} – {width[known].max():.3f}" for name, width in found.items()
    )
    wider = found[RANDOM] > found[ORACLE]
    return expect(bool(wider[known].all()), text, "an order by lot has no wider region at some level")


def above_random(study: PalouSets) -> Finding:
    """F(0) against that of an order by lot on the very same regions, at each level."""
    of = photographs(study)
    floor = np.atleast_1d(part_of(of, RANDOM).outcomes.f(0))
    above = {name: int((np.atleast_1d(part_of(of, name).outcomes.f(0)) > floor).sum()) for name in (AE, UCM_TJ, CUES)}
    text = f"F(0) above an order by lot at so many of {floor.size} levels: " + ", ".join(
        f"{name} {count}" for name, count in above.items()
    )
    below = [name for name, count in above.items() if count < floor.size]
    return expect(not below, text, f"an order by lot does as well at some level: {', '.join(below)}")


def random_half(study: PalouSets) -> Finding:
    of = photographs(study)
    why = of.inconsistency(RANDOM)
    fg = part_of(of, RANDOM).best.fg
    side = float("nan") if why is None else why["right side"]
    text = f"fg {fg:.3f} of regions ordered by lot; right side in front {side:.3f}"
    reason = (
        "contours on the right side may run roughly, beyond 15°; true ones that nobody labelled count as consistent"
    )
    return expect(abs(fg - 0.5) <= 0.05, text, reason)


def oversegmented(study: PalouSets) -> Finding:
    fg = part_of(photographs(study), OWNERSHIP).best.fg
    return expect(fg < 0.5, f"ownership: fg {fg:.3f}", "fg is not below one half")


def lower_globally(study: PalouSets) -> Finding:
    of = photographs(study)
    both = {name: (part_of(of, name).best.fmax, part_of(of, name, "gdc").best.fmax) for name in PAPERS}
    text = "F max " + ", ".join(f"{name} {local:.3f} and {whole:.3f}" for name, (local, whole) in both.items())
    return expect(all(whole < local for local, whole in both.values()), text, "some system is better globally")


def lower_precision(study: PalouSets) -> Finding:
    of = photographs(study)
    numbers = {}
    for name in PAPERS:
        local, whole = (part_of(of, name, which) for which in ("ldc", "gdc"))
        numbers[name] = tuple(float(np.atleast_1d(p.outcomes.precision(1))[p.best.index]) for p in (local, whole))
    text = "P(1) " + ", ".join(f"{name} {local:.3f} and {whole:.3f}" for name, (local, whole) in numbers.items())
    return expect(all(whole < local for local, whole in numbers.values()), text, "some system is as precise globally")


def nested(study: PalouSets) -> Finding:
    counts = [example.pruned_regions(lam) for lam in (0.1, 0.3, 9)]
    score = part_of(study.sets[SCENES], TREE)
    recall = np.atleast_1d(score.outcomes.recall(1))
    falling = bool((np.diff(recall) <= 1e-9).all())
    ends = f"{recall[0]:.2f} at λ = {LAMBDAS[0]:g} to {recall[-1]:.2f} at {LAMBDAS[-1]:g}"
    text = f"{counts} regions by hand; recall {ends} on scenes"
    return expect(counts == [4, 2, 1] and falling, text, "a larger λ does not always give a coarser partition")


def contradicted(study: PalouSets) -> Finding:
    of = photographs(study)
    text = f"{of.contradicted} of {of.labellings} labellings agree with no order of the regions"
    return expect(of.contradicted > 0, text, "every labelling is consistent")


def most_consistent(study: PalouSets) -> Finding:
    fg = best_numbers(study, "fg")
    return expect(max(fg, key=lambda name: fg[name]) == TREE, f"fg {listed(fg)}", "another system has a higher fg")


def less_at_some_recall(study: PalouSets) -> Finding:
    of = photographs(study)
    curves = {name: curve(part_of(of, name)) for name in (TREE, AE, UCM_TJ)}
    low, high = (end(points[0][at] for points in curves.values()) for end, at in ((max, 0), (min, -1)))
    if low >= high:
        raise NotRunError("the systems have no recall in common")
    common = np.linspace(low, high, 50)
    tree, *others = (np.interp(common, recall, fg) for recall, fg in curves.values())
    lower = float(np.mean(tree < np.max(others, axis=0)))
    text = f"fg below the best of AE and UCM + TJ on {100 * lower:.0f} % of the recalls {low:.2f} – {high:.2f}"
    reason = (
        "the proposed system is ahead at every recall" if lower == 0 else "it is below at every recall, not at some"
    )
    return expect(0 < lower < 1, text, reason)


def curve(part: Consistency) -> tuple[Numbers, Numbers]:
    """Recall, rising, and fg."""
    recall, fg = np.atleast_1d(part.outcomes.recall(1)), np.atleast_1d(part.outcomes.accuracy)
    known = np.flatnonzero(np.isfinite(recall) & np.isfinite(fg))
    order = known[np.argsort(recall[known])]
    return recall[order], fg[order]


def index_vanishes(study: PalouSets) -> Finding:
    best = part_of(photographs(study), OWNERSHIP).best
    return expect(best.ori < 0.05, f"ownership: ORI {best.ori:.3f}", "its index is above chance")


def best_by_a_tenth(study: PalouSets) -> Finding:
    ori = best_numbers(study, "ori")
    margin = ori[TREE] - max(value for name, value in ori.items() if name != TREE)
    return expect(margin > 0.1, f"ORI {listed(ori)}", "the proposed system is not 0.1 ahead")


def best_regions(study: PalouSets) -> Finding:
    fmax = best_numbers(study, "fmax")
    return expect(
        max(fmax, key=lambda name: fmax[name]) == TREE, f"F max {listed(fmax)}", "another finds contours better"
    )


def number_of(study: PalouSets, system: str, which: str, number: str) -> Finding:
    of = photographs(study)
    ours = f"{getattr(part_of(of, system, which).best, number):.3f} ({system})"
    if NETWORK in of.scores and system != NETWORK:
        ours += f"; {getattr(part_of(of, NETWORK, which).best, number):.3f} ({NETWORK})"
    return incomparable(ours, OTHERS)


def people(study: PalouSets) -> Finding:
    human = photographs(study).human
    if human is None or human.ldc is None:
        raise NotRunError("needs two people's labels")
    text = f"F(0) {human.ldc.best.fmin:.3f}, F(1) {human.ldc.best.fmax:.3f}"
    return incomparable(text, "two people labelled the same segmentation here, so they find each other's contours")


def below_one(study: PalouSets) -> Finding:
    of = photographs(study)
    ori = {name: part_of(of, name).best.ori for name in of.scores if name != ORACLE}
    name = max(ori, key=lambda one: ori[one])
    return expect(ori[name] < 0.5, f"the best is {ori[name]:.3f} ({name})", "the index is nearer to 1 than to chance")


def largest_recall(study: PalouSets) -> Finding:
    of = photographs(study)
    recall = {name: float(np.nanmax(part_of(of, name, "gdc").outcomes.recall(0))) for name in PAPERS}
    best = max(recall, key=lambda name: recall[name]) == OWNERSHIP
    return expect(best, f"R(0), best of each sweep: {listed(recall)}", "another system recalls more pairs in order")


def thin_globally(study: PalouSets) -> Finding:
    of = photographs(study)
    width = {name: 1 - (b := part_of(of, name, "gdc").best).fmin / b.fmax for name in PAPERS}
    return expect(
        min(width, key=lambda name: width[name]) == TREE,
        f"1 − F min/F max: {listed(width)}",
        "another region is narrower",
    )


def better_regions(study: PalouSets) -> Finding:
    fmax = best_numbers(study, "fmax", "gdc")
    return expect(fmax[UCM_TJ] > fmax[TREE], f"GDC F max {listed(fmax)}", "their regions are not better")


def less_noise(study: PalouSets) -> Finding:
    of = photographs(study)
    precision = {}
    for name in (TREE, OWNERSHIP):
        part = part_of(of, name)
        precision[name] = float(np.atleast_1d(part.outcomes.precision(1))[part.best.index])
    return expect(
        precision[TREE] > precision[OWNERSHIP], f"LDC P(1): {listed(precision)}", "the tree is not more precise"
    )


def resolves_errors(study: PalouSets) -> Finding:
    fmin = {name: value for name, value in best_numbers(study, "fmin").items() if name in (TREE, OWNERSHIP)}
    return expect(fmin[TREE] > fmin[OWNERSHIP], f"LDC F(0): {listed(fmin)}", "regions do not improve on pixels")


def humans_ahead(study: PalouSets) -> Finding:
    of = photographs(study)
    if of.human is None or of.human.ldc is None:
        raise NotRunError("needs two people's labels")
    fmin = {name: part_of(of, name).best.fmin for name in of.scores if name != ORACLE}
    name = max(fmin, key=lambda one: fmin[one])
    text = f"F(0) {of.human.ldc.best.fmin:.3f} of people; the best system {fmin[name]:.3f} ({name})"
    return expect(fmin[name] < of.human.ldc.best.fmin, text, "a system is as good as people")


def tolerances(study: PalouSets) -> Finding:
    signature = next(iter(study.sets.values())).signature
    return expect("ldc:3px,15deg" in signature, "3 px, 15°", f"the study was run under {signature}")


def series(study: PalouSets) -> Finding:
    sets = photographs(study) if PHOTOGRAPHS in study.sets else study.sets[SCENES]
    precision = np.atleast_1d(part_of(sets, TREE).outcomes.precision(1))
    text = f"P(1) of contours rises from {precision[0]:.2f} to {np.nanmax(precision):.2f} as λ grows"
    return expect(bool(np.nanmax(precision[1:]) > precision[0]), text, "coarser partitions are not more precise")


def four_counts(counts: Outcomes) -> str:
    numbers = (counts.consistent, counts.inconsistent, counts.false, counts.missed)
    return "CD, ID, FD, MD = " + ", ".join(f"{float(number):.4g}" for number in numbers)


def measured_scene(study: PalouSets, part: int, what: str) -> Finding:
    """Check a sheet of one scene: contours (part 0) or pairs of regions (1) of ownership on the tree."""
    of = study.sets[SCENES]
    name = of.pictures[0].name
    counts = of.outcomes(name, TREE, f"λ = {SHOWN_LAMBDA:g}")[part]
    there = float(counts.consistent + counts.inconsistent + counts.false)
    text = f"{what} of {name}, {TREE}: {four_counts(counts)}"
    return expect(there > 0, text, "nothing was detected in it")


def stands_for(study: PalouSets) -> Finding:
    """Fig. 4 shows true regions without a match, and some that several regions stand for."""
    found = study.sets[SCENES].found[study.sets[SCENES].pictures[0].name].matches
    level, sums = next(iter(found.items()))
    matched, there = sums.small_matched + sums.large_matched, sums.small + sums.large
    text = f"{sums.regions} regions ({level}) stand for {matched} of {there} true ones in the first scene"
    return expect(sums.regions > matched, text, "no true region has several")


def best_is_difficult(study: PalouSets) -> Finding:
    of = study.sets.get(PHOTOGRAPHS, study.sets[SCENES])
    undecided, scene = of.undecided(), study.sets[SCENES]
    first = scene.pictures[0].name
    marks = "; ".join(f"{name} {', '.join(f'{mark:.2f}' for mark in scene.marks(first, name))}" for name in PAPERS)
    text = f"{first}, {', '.join(RULES)}: {marks}; no outcome is best by all in {len(undecided)} of {len(of.found)} {of.name}"
    return expect(2 * len(undecided) > len(of.found), text, "in most pictures one outcome is best by all four")


def own_annotations(study: PalouSets) -> Finding:
    of = photographs(study)
    text = f"{len(of.pictures)} photographs with {of.labellings} labellings of neighbours"
    return incomparable(text, "their annotations are not here; whole orders of Berkeley's labels take their place")


def small_are_missed(study: PalouSets) -> Finding:
    of = photographs(study)
    sums, best = of.matched(), of.scores[ORACLE]
    at = best.parameters[part_of(of, ORACLE, "gdc").best.index]
    fine = f"level {LEVELS[0]:g}"
    share = {level: sums[level].small_matched / max(sums[level].small, 1) for level in (at, fine)}
    large = sums[at].large_matched / max(sums[at].large, 1)
    mean = {level: sums[level].regions / len(of.found) for level in (at, fine)}
    text = (
        f"of small true regions {share[at]:.2f} have a match at {at}, where GDC's F is best ({mean[at]:.0f} regions), "
        f"of large ones {large:.2f}; at {fine} ({mean[fine]:.0f} regions) {share[fine]:.2f} of the small ones"
    )
    return expect(share[at] < 0.5 < share[fine], text, "it is not the finest partition alone that finds half of them")


def competitive(study: PalouSets) -> Finding:
    found = {number: best_numbers(study, number, "gdc") for number in ("fmax", "fmin")}
    shares = {number: of[TREE] / max(of.values()) for number, of in found.items()}
    text = f"GDC F max {listed(found['fmax'])}; F min {listed(found['fmin'])}"
    least = min(shares.values())
    return expect(least >= COMPETITIVE, text, f"it has {100 * least:.0f} % of the best system's number")


def the_choice(study: PalouSets) -> Finding:
    numbers = {
        "LDC F max": best_numbers(study, "fmax"),
        "LDC ORI": best_numbers(study, "ori"),
        "GDC F max": best_numbers(study, "fmax", "gdc"),
    }
    best = {what: max(of, key=lambda name: of[name]) for what, of in numbers.items()}
    text = "; ".join(f"{what} {numbers[what][name]:.3f} ({name})" for what, name in best.items())
    ours = competitive(study).verdict == "holds" and {best["LDC F max"], best["LDC ORI"]} == {TREE}
    return expect(ours, f"the best: {text}", f"{TREE} is not ahead in both numbers of LDC and close in GDC")


def systems_here(study: PalouSets) -> Finding:
    text = f"{len(PAPERS)} of the {NAMED} systems: {', '.join(PAPERS)}"
    return incomparable(text, "OB and LD need surface models that are not here; BPT + TJC builds its own tree")


def gdc_numbers(study: PalouSets) -> Finding:
    found = {number: best_numbers(study, number, "gdc") for number in ("fmax", "fmin")}
    pairs = ", ".join(f"{name} {found['fmax'][name]:.3f} – {found['fmin'][name]:.3f}" for name in PAPERS)
    return incomparable(f"F max – F min: {pairs}", f"the figure's numbers are not in the text; {OTHERS}")


def occlusion(study: PalouSets) -> Finding:
    sums = study.sets[SCENES].sums
    names = (UCM_TJ, "control: lower is nearer")
    told = {name: sums[name, "true regions, median"].bacc for name in names}
    return expect(told[UCM_TJ] > 0.5, f"B-ACC on scenes: {listed(told)}", "the cues are at chance on scenes")
