"""What Palou & Salembier (2014) say: every equation, table, figure and claim in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hyperacuity.ordering import Outcomes, from_confusion, over_random_index, summary
from hyperacuity.ordering.prc import Numbers
from hyperacuity.ordering.scores import Consistency
from hyperacuity.studies.depth_pictures import NEEDS
from hyperacuity.studies.depth_views import (
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
from hyperacuity.studies.ledger import palou2014_examples as example
from hyperacuity.studies.ledger.claims import Claim, Finding, NotRunError, expect, incomparable, worked
from hyperacuity.studies.palou2014 import PAPERS, PHOTOGRAPHS, RULES, SCENES, Palou2014, PalouSets

TITLE = "Palou & Salembier (2014), Precision–recall–classification for depth order from single images"
COMMAND = "hyperacuity study palou2014 --out palou2014"
MEASURE = "hyperacuity ordering PRED TRUTH"
OWN = "hyperacuity detect IMAGES --with ownership --out MAPS"
SEGMENT = "hyperacuity segment IMAGES --with gpb-ucm --out REGIONS"
PRUNE = "hyperacuity detect IMAGES --with depth-order --out MAPS"
OTHERS = "other labels on other photographs: theirs are their own, of all 500"
QUOTED = "quoted from another paper, on other photographs; the paper does not know on what regions"
NAMED = 7
"""How many systems the paper compares: the proposed one, PO, AE, UCM + TJC, BPT + TJC, OB and LD."""

COMPETITIVE = 0.9
"""What share of the best system's number is still taken for competitive."""

Check = Callable[[PalouSets], Finding]


def _photographs(study: PalouSets) -> Palou2014:
    if PHOTOGRAPHS not in study.sets:
        raise NotRunError(NEEDS)
    return study.sets[PHOTOGRAPHS]


def _part(of: Palou2014, system: str, which: str = "ldc") -> Consistency:
    if system not in of.scores:
        raise NotRunError(f"{system} cannot be run here: needs the extra see")
    part: Consistency | None = getattr(of.scores[system], which)
    if part is None or part.best.index < 0:
        raise NotRunError(f"{which.upper()} of {system} has nothing to count")
    return part


def _best(study: PalouSets, number: str, which: str = "ldc") -> dict[str, float]:
    """A number of each of the paper's systems on photographs, at its best F(1)."""
    return {name: float(getattr(_part(_photographs(study), name, which).best, number)) for name in PAPERS}


def _told(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())


def _figure(name: str, finding: Check) -> Check:
    """A figure: the file that was drawn, and what it shows."""

    def check(study: PalouSets) -> Finding:
        if name not in study.figures:
            raise NotRunError("figures were not drawn" if not study.figures else NEEDS)
        found = finding(study)
        return Finding(f"{name}: {found.ours}", found.verdict, found.because)

    return check


def _right_side(study: PalouSets, system: str) -> str:
    why = _photographs(study).inconsistency(system)
    if why is None:
        raise NotRunError(NEEDS)
    return f"{100 * why['right side']:.1f} ({system}; at 15° {100 * why['consistent']:.1f})"


def _learned_or_not(study: PalouSets) -> Finding:
    of = _photographs(study)
    sides = {name: why["right side"] for name in (UCM_TJ, CUES) if (why := of.inconsistency(name)) is not None}
    if len(sides) < 2:
        raise NotRunError(NEEDS)
    return expect(sides[UCM_TJ] >= sides[CUES], f"right side: {_told(sides)}", "what is learned is right more often")


def _unseen(study: PalouSets) -> Finding:
    """Learned cues and cues that nobody learned, on the kind of picture that was learned from and on another."""
    column = "true regions, median"
    pictures = (_photographs(study), study.sets[SCENES])
    (known, new), (plain, plain_new) = ([of.sums[name, column].bacc for of in pictures] for name in (CUES, UCM_TJ))
    text = (
        f"B-ACC on photographs and on scenes: learned cues {known:.3f} and {new:.3f}, "
        f"UCM + T-junctions {plain:.3f} and {plain_new:.3f}"
    )
    return expect(known - new > max(plain - plain_new, 0), text, "what is learned loses no more than what is not")


def _quoted(system: str, because: str) -> Check:
    return lambda study: incomparable(_right_side(study, system), because)


def _perfect_regions(study: PalouSets) -> Finding:
    sums = _photographs(study).sums
    given, own = (sums[CUES, f"{kind} regions, median"].bacc for kind in ("true", "own"))
    return expect(given > own, f"learned cues: B-ACC {given:.3f} against {own:.3f}", "own regions do no worse")


def _ends(part: Consistency) -> tuple[int, int]:
    """The operating points of least and of most recall."""
    recall = np.nan_to_num(np.atleast_1d(part.outcomes.recall(1)), nan=-1.0)
    known = np.flatnonzero(recall > 0)
    if known.size < 2:
        raise NotRunError("there is one operating point only")
    return int(known[recall[known].argmin()]), int(known[recall[known].argmax()])


def _confident_is_easier(study: PalouSets) -> Finding:
    part = _part(_photographs(study), NETWORK)
    fg, (few, many) = np.atleast_1d(part.outcomes.accuracy), _ends(part)
    text = f"network: fg {fg[few]:.3f} at least recall, {fg[many]:.3f} at most"
    return expect(bool(fg[few] > fg[many]), text, "confident contours are not easier")


def _narrower(study: PalouSets) -> Finding:
    part = _part(_photographs(study), NETWORK)
    share = np.atleast_1d(1 - part.outcomes.f(0) / part.outcomes.f(1))
    few, many = _ends(part)
    text = f"network: 1 − F(0)/F(1) is {share[few]:.3f} at least recall, {share[many]:.3f} at most"
    return expect(bool(share[few] < share[many]), text, "the region is not narrower where few are detected")


def _segments(study: PalouSets) -> Finding:
    """Each operating point goes from (R(0), P(0)) up to (R(1), P(1))."""
    outcomes = _part(_photographs(study), TREE).outcomes
    ends = [np.stack([outcomes.recall(beta), outcomes.precision(beta)]) for beta in (0, 1)]
    length = np.hypot(*(ends[1] - ends[0]))
    text = f"{TREE}: {length.size} segments of length {length.min():.3f} to {length.max():.3f}"
    return expect(bool((ends[1] > ends[0]).all()), text, "some segment does not rise")


def _wide_is_poor(study: PalouSets) -> Finding:
    of = _photographs(study)
    widths = {}
    for name in (ORACLE, RANDOM):
        outcomes = _part(of, name).outcomes
        widths[name] = np.atleast_1d(1 - outcomes.f(0) / outcomes.f(1))
    text = f"1 − F(0)/F(1) at level {LEVELS[0]:g} – {LEVELS[-1]:g}: " + ", ".join(
        f"{name} {np.nanmin(of):.3f} – {np.nanmax(of):.3f}" for name, of in widths.items()
    )
    wider = widths[RANDOM] > widths[ORACLE]
    return expect(bool(wider.all()), text, "an order by lot has no wider region at some level")


def _above_random(study: PalouSets) -> Finding:
    """F(0) against that of an order by lot on the very same regions, at each level."""
    of = _photographs(study)
    floor = np.atleast_1d(_part(of, RANDOM).outcomes.f(0))
    above = {name: int((np.atleast_1d(_part(of, name).outcomes.f(0)) > floor).sum()) for name in (AE, UCM_TJ, CUES)}
    text = f"F(0) above an order by lot at so many of {floor.size} levels: " + ", ".join(
        f"{name} {count}" for name, count in above.items()
    )
    below = [name for name, count in above.items() if count < floor.size]
    return expect(not below, text, f"an order by lot does as well at some level: {', '.join(below)}")


def _random_half(study: PalouSets) -> Finding:
    of = _photographs(study)
    why = of.inconsistency(RANDOM)
    fg = _part(of, RANDOM).best.fg
    side = float("nan") if why is None else why["right side"]
    text = f"fg {fg:.3f} of regions ordered by lot; right side in front {side:.3f}"
    reason = (
        "contours on the right side may run roughly, beyond 15°; true ones that nobody labelled count as consistent"
    )
    return expect(abs(fg - 0.5) <= 0.05, text, reason)


def _oversegmented(study: PalouSets) -> Finding:
    fg = _part(_photographs(study), OWNERSHIP).best.fg
    return expect(fg < 0.5, f"ownership: fg {fg:.3f}", "fg is not below one half")


def _lower_globally(study: PalouSets) -> Finding:
    of = _photographs(study)
    both = {name: (_part(of, name).best.fmax, _part(of, name, "gdc").best.fmax) for name in PAPERS}
    text = "F max " + ", ".join(f"{name} {local:.3f} and {whole:.3f}" for name, (local, whole) in both.items())
    return expect(all(whole < local for local, whole in both.values()), text, "some system is better globally")


def _lower_precision(study: PalouSets) -> Finding:
    of = _photographs(study)
    numbers = {}
    for name in PAPERS:
        local, whole = (_part(of, name, which) for which in ("ldc", "gdc"))
        numbers[name] = tuple(float(np.atleast_1d(p.outcomes.precision(1))[p.best.index]) for p in (local, whole))
    text = "P(1) " + ", ".join(f"{name} {local:.3f} and {whole:.3f}" for name, (local, whole) in numbers.items())
    return expect(all(whole < local for local, whole in numbers.values()), text, "some system is as precise globally")


def _nested(study: PalouSets) -> Finding:
    counts = [example.pruned_regions(lam) for lam in (0.1, 0.3, 9)]
    score = _part(study.sets[SCENES], TREE)
    recall = np.atleast_1d(score.outcomes.recall(1))
    falling = bool((np.diff(recall) <= 1e-9).all())
    ends = f"{recall[0]:.2f} at λ = {LAMBDAS[0]:g} to {recall[-1]:.2f} at {LAMBDAS[-1]:g}"
    text = f"{counts} regions by hand; recall {ends} on scenes"
    return expect(counts == [4, 2, 1] and falling, text, "a larger λ does not always give a coarser partition")


def _contradicted(study: PalouSets) -> Finding:
    of = _photographs(study)
    text = f"{of.contradicted} of {of.labellings} labellings agree with no order of the regions"
    return expect(of.contradicted > 0, text, "every labelling is consistent")


def _most_consistent(study: PalouSets) -> Finding:
    fg = _best(study, "fg")
    return expect(max(fg, key=lambda name: fg[name]) == TREE, f"fg {_told(fg)}", "another system has a higher fg")


def _less_at_some_recall(study: PalouSets) -> Finding:
    of = _photographs(study)
    curves = {name: _curve(_part(of, name)) for name in (TREE, AE, UCM_TJ)}
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


def _curve(part: Consistency) -> tuple[Numbers, Numbers]:
    """Recall, rising, and fg."""
    recall, fg = np.atleast_1d(part.outcomes.recall(1)), np.atleast_1d(part.outcomes.accuracy)
    known = np.flatnonzero(np.isfinite(recall) & np.isfinite(fg))
    order = known[np.argsort(recall[known])]
    return recall[order], fg[order]


def _index_vanishes(study: PalouSets) -> Finding:
    best = _part(_photographs(study), OWNERSHIP).best
    return expect(best.ori < 0.05, f"ownership: ORI {best.ori:.3f}", "its index is above chance")


def _best_by_a_tenth(study: PalouSets) -> Finding:
    ori = _best(study, "ori")
    margin = ori[TREE] - max(value for name, value in ori.items() if name != TREE)
    return expect(margin > 0.1, f"ORI {_told(ori)}", "the proposed system is not 0.1 ahead")


def _best_regions(study: PalouSets) -> Finding:
    fmax = _best(study, "fmax")
    return expect(
        max(fmax, key=lambda name: fmax[name]) == TREE, f"F max {_told(fmax)}", "another finds contours better"
    )


def _number(system: str, which: str, number: str) -> Check:
    def check(study: PalouSets) -> Finding:
        of = _photographs(study)
        ours = f"{getattr(_part(of, system, which).best, number):.3f} ({system})"
        if NETWORK in of.scores and system != NETWORK:
            ours += f"; {getattr(_part(of, NETWORK, which).best, number):.3f} ({NETWORK})"
        return incomparable(ours, OTHERS)

    return check


def _people(study: PalouSets) -> Finding:
    human = _photographs(study).human
    if human is None or human.ldc is None:
        raise NotRunError("needs two people's labels")
    text = f"F(0) {human.ldc.best.fmin:.3f}, F(1) {human.ldc.best.fmax:.3f}"
    return incomparable(text, "two people labelled the same segmentation here, so they find each other's contours")


def _below_one(study: PalouSets) -> Finding:
    of = _photographs(study)
    ori = {name: _part(of, name).best.ori for name in of.scores if name != ORACLE}
    name = max(ori, key=lambda one: ori[one])
    return expect(ori[name] < 0.5, f"the best is {ori[name]:.3f} ({name})", "the index is nearer to 1 than to chance")


def _largest_recall(study: PalouSets) -> Finding:
    of = _photographs(study)
    recall = {name: float(np.nanmax(_part(of, name, "gdc").outcomes.recall(0))) for name in PAPERS}
    best = max(recall, key=lambda name: recall[name]) == OWNERSHIP
    return expect(best, f"R(0), best of each sweep: {_told(recall)}", "another system recalls more pairs in order")


def _thin_globally(study: PalouSets) -> Finding:
    of = _photographs(study)
    width = {name: 1 - (b := _part(of, name, "gdc").best).fmin / b.fmax for name in PAPERS}
    return expect(
        min(width, key=lambda name: width[name]) == TREE,
        f"1 − F min/F max: {_told(width)}",
        "another region is narrower",
    )


def _better_regions(study: PalouSets) -> Finding:
    fmax = _best(study, "fmax", "gdc")
    return expect(fmax[UCM_TJ] > fmax[TREE], f"GDC F max {_told(fmax)}", "their regions are not better")


def _less_noise(study: PalouSets) -> Finding:
    of = _photographs(study)
    precision = {}
    for name in (TREE, OWNERSHIP):
        part = _part(of, name)
        precision[name] = float(np.atleast_1d(part.outcomes.precision(1))[part.best.index])
    return expect(
        precision[TREE] > precision[OWNERSHIP], f"LDC P(1): {_told(precision)}", "the tree is not more precise"
    )


def _resolves_errors(study: PalouSets) -> Finding:
    fmin = {name: value for name, value in _best(study, "fmin").items() if name in (TREE, OWNERSHIP)}
    return expect(fmin[TREE] > fmin[OWNERSHIP], f"LDC F(0): {_told(fmin)}", "regions do not improve on pixels")


def _humans_ahead(study: PalouSets) -> Finding:
    of = _photographs(study)
    if of.human is None or of.human.ldc is None:
        raise NotRunError("needs two people's labels")
    fmin = {name: _part(of, name).best.fmin for name in of.scores if name != ORACLE}
    name = max(fmin, key=lambda one: fmin[one])
    text = f"F(0) {of.human.ldc.best.fmin:.3f} of people; the best system {fmin[name]:.3f} ({name})"
    return expect(fmin[name] < of.human.ldc.best.fmin, text, "a system is as good as people")


def _tolerances(study: PalouSets) -> Finding:
    signature = next(iter(study.sets.values())).signature
    return expect("ldc:3px,15deg" in signature, "3 px, 15°", f"the study was run under {signature}")


def _signs(_: PalouSets) -> Finding:
    found = example.pairs()
    told = f"CD {float(found.consistent):g}, ID {float(found.inconsistent):g} from (α, β) = (1, 1), (2, 0), (1, 0)"
    return expect(
        (float(found.consistent), float(found.inconsistent)) == (2.5, 0.5), told, "by hand CD is 2.5 and ID 0.5"
    )


def _missed(_: PalouSets) -> Finding:
    read, literal = example.pairs().missed, example.pairs(literal=True).missed
    text = f"{read} with matched regions; {literal} as printed"
    return expect((read, literal) == (3, 6), text, "by hand it is 3, or 6 as printed")


def _matching(_: PalouSets) -> Finding:
    found = example.stands_for()
    return expect(found == [1, 1, 2, 4], f"regions 1 – 4 stand for {found}", "by hand they stand for 1, 1, 2, 4")


def _local(_: PalouSets) -> Finding:
    found = example.matched()
    counts = found.outcomes()
    four = [int(n) for n in (counts.consistent, counts.inconsistent, counts.false, counts.missed)]
    rough, wrong, _none = found.inconsistencies().tolist()
    text = f"CD, ID, FD, MD = {four}; of ID {rough} rough, {wrong} on the wrong side"
    return expect(four == [2, 2, 1, 0] and (rough, wrong) == (1, 1), text, "by hand 2, 2, 1, 0; 1 and 1")


def _confusion(_: PalouSets) -> Finding:
    found = from_confusion(example.CONFUSION)
    four = [int(n) for n in (found.consistent, found.inconsistent, found.false, found.missed)]
    return expect(four == [6, 2, 2, 4], f"CD, ID, FD, MD = {four}", "by hand 6, 2, 2, 4")


def _ownership(_: PalouSets) -> Finding:
    even, step, disc = example.ownership_steps()
    text = f"Z {even:g} of an even image; step {step:.3f} at a straight edge, {disc:+.3f} into a disc"
    return expect(even == 1 and abs(step) < 1e-6 and disc > 0, text, "the nearer side is not the larger one")


def _tree(_: PalouSets) -> Finding:
    tree = example.tree()
    nodes = 2 * tree.leaves - 1
    text = f"{tree.leaves} leaves, {nodes} nodes; the lowest boundaries merge first, the root is the image"
    return expect(tree.children.tolist() == [[0, 1], [2, 3], [4, 5]], text, "the tree is another one")


def _series(study: PalouSets) -> Finding:
    sets = _photographs(study) if PHOTOGRAPHS in study.sets else study.sets[SCENES]
    precision = np.atleast_1d(_part(sets, TREE).outcomes.precision(1))
    text = f"P(1) of contours rises from {precision[0]:.2f} to {np.nanmax(precision):.2f} as λ grows"
    return expect(bool(np.nanmax(precision[1:]) > precision[0]), text, "coarser partitions are not more precise")


def _four(counts: Outcomes) -> str:
    numbers = (counts.consistent, counts.inconsistent, counts.false, counts.missed)
    return "CD, ID, FD, MD = " + ", ".join(f"{float(number):.4g}" for number in numbers)


def _measured_scene(part: int, says: str) -> Check:
    """What a sheet shows of one scene: contours (part 0) or pairs of regions (1) of ownership on the tree."""

    def check(study: PalouSets) -> Finding:
        of = study.sets[SCENES]
        name = of.pictures[0].name
        counts = of.outcomes(name, TREE, f"λ = {SHOWN_LAMBDA:g}")[part]
        there = float(counts.consistent + counts.inconsistent + counts.false)
        text = f"{says} of {name}, {TREE}: {_four(counts)}"
        return expect(there > 0, text, "nothing was detected in it")

    return check


def _stands_for(study: PalouSets) -> Finding:
    """Fig. 4 shows true regions without a match, and some that several regions stand for."""
    found = study.sets[SCENES].found[study.sets[SCENES].pictures[0].name].matches
    level, sums = next(iter(found.items()))
    matched, there = sums.small_matched + sums.large_matched, sums.small + sums.large
    text = f"{sums.regions} regions ({level}) stand for {matched} of {there} true ones in the first scene"
    return expect(sums.regions > matched, text, "no true region has several")


def _best_is_difficult(study: PalouSets) -> Finding:
    of = study.sets.get(PHOTOGRAPHS, study.sets[SCENES])
    undecided, scene = of.undecided(), study.sets[SCENES]
    first = scene.pictures[0].name
    marks = "; ".join(f"{name} {', '.join(f'{mark:.2f}' for mark in scene.marks(first, name))}" for name in PAPERS)
    text = f"{first}, {', '.join(RULES)}: {marks}; no outcome is best by all in {len(undecided)} of {len(of.found)} {of.name}"
    return expect(2 * len(undecided) > len(of.found), text, "in most pictures one outcome is best by all four")


def _annotations(study: PalouSets) -> Finding:
    of = _photographs(study)
    text = f"{len(of.pictures)} photographs with {of.labellings} labellings of neighbours"
    return incomparable(text, "their annotations are not here; whole orders of Berkeley's labels take their place")


def _small_are_missed(study: PalouSets) -> Finding:
    of = _photographs(study)
    sums, best = of.matched(), of.scores[ORACLE]
    at = best.parameters[_part(of, ORACLE, "gdc").best.index]
    fine = f"level {LEVELS[0]:g}"
    share = {level: sums[level].small_matched / max(sums[level].small, 1) for level in (at, fine)}
    large = sums[at].large_matched / max(sums[at].large, 1)
    mean = {level: sums[level].regions / len(of.found) for level in (at, fine)}
    text = (
        f"of small true regions {share[at]:.2f} have a match at {at}, where GDC's F is best ({mean[at]:.0f} regions), "
        f"of large ones {large:.2f}; at {fine} ({mean[fine]:.0f} regions) {share[fine]:.2f} of the small ones"
    )
    return expect(share[at] < 0.5 < share[fine], text, "it is not the finest partition alone that finds half of them")


def _competitive(study: PalouSets) -> Finding:
    found = {number: _best(study, number, "gdc") for number in ("fmax", "fmin")}
    shares = {number: of[TREE] / max(of.values()) for number, of in found.items()}
    text = f"GDC F max {_told(found['fmax'])}; F min {_told(found['fmin'])}"
    least = min(shares.values())
    return expect(least >= COMPETITIVE, text, f"it has {100 * least:.0f} % of the best system's number")


def _the_choice(study: PalouSets) -> Finding:
    numbers = {
        "LDC F max": _best(study, "fmax"),
        "LDC ORI": _best(study, "ori"),
        "GDC F max": _best(study, "fmax", "gdc"),
    }
    best = {what: max(of, key=lambda name: of[name]) for what, of in numbers.items()}
    text = "; ".join(f"{what} {numbers[what][name]:.3f} ({name})" for what, name in best.items())
    ours = _competitive(study).verdict == "holds" and {best["LDC F max"], best["LDC ORI"]} == {TREE}
    return expect(ours, f"the best: {text}", f"{TREE} is not ahead in both numbers of LDC and close in GDC")


def _systems_here(study: PalouSets) -> Finding:
    text = f"{len(PAPERS)} of the {NAMED} systems: {', '.join(PAPERS)}"
    return incomparable(text, "OB and LD need surface models that are not here; BPT + TJC builds its own tree")


def _gdc_numbers(study: PalouSets) -> Finding:
    found = {number: _best(study, number, "gdc") for number in ("fmax", "fmin")}
    pairs = ", ".join(f"{name} {found['fmax'][name]:.3f} – {found['fmin'][name]:.3f}" for name in PAPERS)
    return incomparable(f"F max – F min: {pairs}", f"the figure's numbers are not in the text; {OTHERS}")


def _worked(ours: Callable[[], Any], by_hand: float) -> Check:
    return lambda _: worked(float(ours()), by_hand)


def _occlusion(study: PalouSets) -> Finding:
    sums = study.sets[SCENES].sums
    names = (UCM_TJ, "control: lower is nearer")
    told = {name: sums[name, "true regions, median"].bacc for name in names}
    return expect(told[UCM_TJ] > 0.5, f"B-ACC on scenes: {_told(told)}", "the cues are at chance on scenes")


COUNTS = example.COUNTS

CLAIMS: tuple[Claim[PalouSets], ...] = (
    Claim("Section 1", "convex regions, and the widest angle at a T, are in front", "", COMMAND, _occlusion),
    Claim("Table 1", "figure/ground accuracy of BPT+TJC, in per cent", "71.3", COMMAND,
          _quoted(UCM_TJ, f"no BPT with junctions as they built it; {QUOTED}")),
    Claim("Table 1", "of UCM+TJC", "69.3", COMMAND, _quoted(UCM_TJ, QUOTED)),
    Claim("Table 1", "of [9], learned", "69.1", COMMAND, _quoted(CUES, f"another system, also learned; {QUOTED}")),
    Claim("Table 1", "of [18], learned", "68.9", COMMAND, _quoted(NETWORK, f"another system, also learned; {QUOTED}")),
    Claim("Table 1", "UCM+TJC, which learns nothing, is as good as what is learned ([9])", "69.3 against 69.1", COMMAND,
          _learned_or_not),
    Claim("Section 1", "what is learned suffers on kinds of scene that were not seen", "", COMMAND, _unseen),
    Claim("Fig. 1", "which of four outcomes is the best is difficult to decide", "", COMMAND,
          _figure("outcomes.png", _best_is_difficult)),
    Claim("Section 1", "accuracy is much better on perfect regions", "", COMMAND, _perfect_regions),
    Claim("Section 1", "who is in front is easier to say of confident contours", "", COMMAND, _confident_is_easier),
    Claim("Eq. 1", "precision TP/(TP+FP) of 8 right, 2 false", "4/5", MEASURE, _worked(lambda: COUNTS.precision(1), 4 / 5)),
    Claim("Eq. 1", "recall TP/(TP+FN) of 8 found, 4 missed", "2/3", MEASURE, _worked(lambda: COUNTS.recall(1), 2 / 3)),
    Claim("Section 2.1", "F is their harmonic mean", "8/11", MEASURE, _worked(lambda: COUNTS.f(1), 8 / 11)),
    Claim("Table 2", "what is CD, ID, FD and MD in a confusion table", "6, 2, 2, 4", MEASURE, _confusion),
    Claim("Section 2.2", "pure detection, β = 1: an inconsistent detection counts whole", "8", MEASURE,
          _worked(lambda: example.true_positives(1), 8)),
    Claim("Section 2.2", "pure classification, β = 0: it counts as false and as missed", "4 false", MEASURE,
          _worked(lambda: example.false_positives(0), 4)),
    Claim("Eq. 2", "TP(½) = CD + ½ ID", "7", MEASURE, _worked(lambda: example.true_positives(0.5), 7)),
    Claim("Eq. 3", "FP(½) = FD + ½ ID", "3", MEASURE, _worked(lambda: example.false_positives(0.5), 3)),
    Claim("Eq. 4", "FN(½) = MD + ½ ID", "5", MEASURE, _worked(lambda: example.false_negatives(0.5), 5)),
    Claim("Eq. 5", "P(½) = Cp + ½ Ip (Ip with FD, where FP is printed)", "7/10", MEASURE,
          _worked(lambda: COUNTS.precision(0.5), 7 / 10)),
    Claim("Eq. 6", "R(½) = Cr + ½ Ir", "7/12", MEASURE, _worked(lambda: COUNTS.recall(0.5), 7 / 12)),
    Claim("Fig. 2", "an operating point is a segment, a sweep a region of the plane", "", COMMAND,
          _figure(f"{PHOTOGRAPHS}-ldc.png", _segments)),
    Claim("Section 2.2", "a wide region means a poor classifier, a thin one a good one", "", COMMAND, _wide_is_poor),
    Claim("Section 2.2", "the region is narrower where few, confident things are detected", "", COMMAND, _narrower),
    Claim("Section 3.1", "fg = CD/(CD+ID)", "3/4", MEASURE, _worked(lambda: COUNTS.accuracy, 3 / 4)),
    Claim("Section 3.1", "LDC: contours matched one to one, consistent within 15°", "2, 2, 1, 0", MEASURE, _local),
    Claim("Fig. 3", "sides, normals and matched contours of one picture", "", COMMAND,
          _figure("measures.png", _measured_scene(0, "contours"))),
    Claim("Eq. 7", "classes by chance: P(0) is half of P(1)", "2/5", MEASURE,
          _worked(lambda: COUNTS.precision(1) * COUNTS.random_f(0) / COUNTS.f(1), 2 / 5)),
    Claim("Eq. 7", "F(½) by chance is ¾ of F(1)", "6/11", MEASURE, _worked(lambda: COUNTS.random_f(0.5), 6 / 11)),
    Claim("Eq. 7", "at β = 1 classes do not matter", "8/11", MEASURE, _worked(lambda: COUNTS.random_f(1), 8 / 11)),
    Claim("Section 3.1", "any reasoning is better than chance at every operating point", "", COMMAND, _above_random),
    Claim("Section 3.1", "by chance half of the contours are consistent", "50 %", COMMAND, _random_half),
    Claim("Section 3.1", "in oversegmented partitions fg can be below one half", "< 50 %", COMMAND, _oversegmented),
    Claim("Eq. 8", "ORI of F max 8/11 and F min 6/11", "1/2", MEASURE, _worked(lambda: summary(COUNTS).ori, 1 / 2)),
    Claim("Eq. 8", "ORI is not below 0 (F max 0.8, F min 0.3)", "0", MEASURE, _worked(lambda: over_random_index(0.8, 0.3), 0)),
    Claim("Section 3.1", "ORI is 1 without misclassification", "1", MEASURE,
          _worked(lambda: summary(Outcomes(5, 0, 2, 3)).ori, 1)),
    Claim("Eq. 9", "a region stands for the true one of largest Jaccard index", "1, 1, 2, 4", MEASURE, _matching),
    Claim("Eq. 10", "FD: pairs for one true region, of different depth", "1", MEASURE, _worked(lambda: example.pairs().false, 1)),
    Claim("Eq. 11", "MD: pairs of true regions without a match (unmatched, where matched is meant)", "3", MEASURE, _missed),
    Claim("Eq. 12", "α and β count pairs in the right and in the wrong order", "", MEASURE, _signs),
    Claim("Eq. 13", "CD is the sum of the shares α/(α+β)", "5/2", MEASURE,
          _worked(lambda: float(example.pairs().consistent), 5 / 2)),
    Claim("Eq. 13", "ID is the sum of the shares β/(α+β)", "1/2", MEASURE,
          _worked(lambda: float(example.pairs().inconsistent), 1 / 2)),
    Claim("Fig. 4", "which region stands for which: some true ones have none, some several", "", COMMAND,
          _figure("measures.png", _stands_for)),
    Claim("Fig. 5", "tables of all pairs of regions", "", COMMAND, _figure("measures.png", _measured_scene(1, "pairs"))),
    Claim("Section 3.2", "GDC is more restrictive than LDC: its scores are lower", "", COMMAND, _lower_globally),
    Claim("Eq. 14", "Z sums densities; 1 is one object, more is nearer", "1", OWN, _ownership),
    Claim("Section 4.1", "the tree merges across the lowest boundary; its root is the image", "", SEGMENT, _tree),
    Claim("Eq. 15", "least energy at λ = 0.1 (values 0, 1, 4, 5): four regions", "3/5", PRUNE,
          _worked(lambda: example.pruned_energy(0.1), 3 / 5)),
    Claim("Eq. 15", "at λ = 1: two regions", "3", PRUNE,
          _worked(lambda: example.pruned_energy(1), 3)),
    Claim("Eq. 15", "at λ = 9: one region", "17", PRUNE,
          _worked(lambda: example.pruned_energy(9), 17)),
    Claim("Section 4.1", "small λ give fine partitions, large λ coarse ones", "", COMMAND, _nested),
    Claim("Fig. 6", "ownership on the tree for rising λ", "", COMMAND, _figure("lambda-series.png", _series)),
    Claim("Fig. 6", "regions resolve errors of ownership at pixels", "", COMMAND, _resolves_errors),
    Claim("Section 5.1", "Berkeley's figure/ground labels are not always one order", "", COMMAND, _contradicted),
    Claim("Section 5.1", "all 500 images have depth annotations, one consistent order each", "500", COMMAND, _annotations),
    Claim("Section 5.2", "contours match within 3 pixels and 15°", "3 px, 15°", COMMAND, _tolerances),
    Claim("Fig. 7", "fg over recall: the proposed system is the most consistent", "", COMMAND,
          _figure(f"{PHOTOGRAPHS}-figure-ground.png", _most_consistent)),
    Claim("Section 5.2", "at some recalls it is below BPT+TJC, UCM+TJC and AE", "", COMMAND, _less_at_some_recall),
    Claim("Fig. 8", "LDC: the proposed system has the best F max", "", COMMAND,
          _figure(f"{PHOTOGRAPHS}-ldc.png", _best_regions)),
    Claim("Fig. 8", "GDC of all systems: F max and F min", "", COMMAND, _figure(f"{PHOTOGRAPHS}-gdc.png", _gdc_numbers)),
    Claim("Figs. 8 – 9", "seven systems, among them OB and LD", "7", COMMAND, _systems_here),
    Claim("Section 5.2", "ORI goes to 0 for oversegmented results such as PO", "0", COMMAND, _index_vanishes),
    Claim("Section 5.2", "LDC: best F max", "about 0.6", COMMAND, _number(TREE, "ldc", "fmax")),
    Claim("Section 5.2", "LDC: ORI of the proposed system is 0.1 above the second", "> 0.1", COMMAND, _best_by_a_tenth),
    Claim("Section 5.2", "LDC: best ORI", "about 0.3", COMMAND, _number(TREE, "ldc", "ori")),
    Claim("Section 5.2", "LDC: one person's truth against the others'", "0.78", f"{MEASURE} --human", _people),
    Claim("Section 5.2", "there is room: ORI is far below 1", "1", COMMAND, _below_one),
    Claim("Section 5.2", "GDC: precision is much lower than LDC's", "", COMMAND, _lower_precision),
    Claim("Section 5.2", "GDC: small regions are missed unless much is oversegmented", "", COMMAND, _small_are_missed),
    Claim("Section 5.2", "GDC: PO has the largest recall of pairs in order", "", COMMAND, _largest_recall),
    Claim("Section 5.2", "GDC: the proposed system's region is narrow", "", COMMAND, _thin_globally),
    Claim("Section 5.2", "GDC: UCM+TJC and BPT+TJC have better regions", "", COMMAND, _better_regions),
    Claim("Section 5.2", "GDC: the proposed system's results are competitive", "", COMMAND, _competitive),
    Claim("Section 5.2", "it should be the choice, for LDC, ORI and competitive GDC", "", COMMAND, _the_choice),
    Claim("Fig. 9", "the proposed system is less noisy than PO", "", COMMAND, _figure("comparison.png", _less_noise)),
    Claim("Section 6", "people are out of reach", "", COMMAND, _humans_ahead),
)  # fmt: skip
