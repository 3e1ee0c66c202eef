"""What Palou & Salembier (2014) say: every equation, table, figure and claim in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hyperacuity.ordering import Outcomes, from_confusion, over_random_index, summary
from hyperacuity_papers.common.claims import Claim, Finding, expect, worked
from hyperacuity_papers.palou2014 import checks as check
from hyperacuity_papers.palou2014 import examples as example
from hyperacuity_papers.palou2014.depth_views import CUES, NETWORK, TREE, UCM_TJ
from hyperacuity_papers.palou2014.study import PHOTOGRAPHS, PalouSets

TITLE = "Palou & Salembier (2014), Precision–recall–classification for depth order from single images"
COMMAND = "hyperacuity study palou2014 --out palou2014"
MEASURE = "hyperacuity ordering PRED TRUTH"
OWN = "hyperacuity detect IMAGES --with ownership --out MAPS"
SEGMENT = "hyperacuity segment IMAGES --with gpb-ucm --out REGIONS"
PRUNE = "hyperacuity detect IMAGES --with depth-order --out MAPS"

Check = Callable[[PalouSets], Finding]


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


def _worked(ours: Callable[[], Any], by_hand: float) -> Check:
    return lambda _: worked(float(ours()), by_hand)


COUNTS = example.COUNTS

CLAIMS: tuple[Claim[PalouSets], ...] = (
    Claim("Section 1", "convex regions, and the widest angle at a T, are in front", "", COMMAND, check.occlusion),
    Claim("Table 1", "figure/ground accuracy of BPT+TJC, in per cent", "71.3", COMMAND,
          check.quoted(UCM_TJ, f"no BPT with junctions as they built it; {check.QUOTED}")),
    Claim("Table 1", "of UCM+TJC", "69.3", COMMAND, check.quoted(UCM_TJ, check.QUOTED)),
    Claim("Table 1", "of [9], learned", "69.1", COMMAND, check.quoted(CUES, f"another system, also learned; {check.QUOTED}")),
    Claim("Table 1", "of [18], learned", "68.9", COMMAND, check.quoted(NETWORK, f"another system, also learned; {check.QUOTED}")),
    Claim("Table 1", "UCM+TJC, which learns nothing, is as good as what is learned ([9])", "69.3 against 69.1", COMMAND,
          check.learned_or_not),
    Claim("Section 1", "what is learned suffers on kinds of scene that were not seen", "", COMMAND, check.unseen),
    Claim("Fig. 1", "which of four outcomes is the best is difficult to decide", "", COMMAND,
          check.figure("outcomes.png", check.best_is_difficult)),
    Claim("Section 1", "accuracy is much better on perfect regions", "", COMMAND, check.perfect_regions),
    Claim("Section 1", "who is in front is easier to say of confident contours", "", COMMAND, check.confident_is_easier),
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
          check.figure(f"{PHOTOGRAPHS}-ldc.png", check.segments)),
    Claim("Section 2.2", "a wide region means a poor classifier, a thin one a good one", "", COMMAND, check.wide_is_poor),
    Claim("Section 2.2", "the region is narrower where few, confident things are detected", "", COMMAND, check.narrower),
    Claim("Section 3.1", "fg = CD/(CD+ID)", "3/4", MEASURE, _worked(lambda: COUNTS.accuracy, 3 / 4)),
    Claim("Section 3.1", "LDC: contours matched one to one, consistent within 15°", "2, 2, 1, 0", MEASURE, _local),
    Claim("Fig. 3", "sides, normals and matched contours of one picture", "", COMMAND,
          check.figure("measures.png", check.measured_scene(0, "contours"))),
    Claim("Eq. 7", "classes by chance: P(0) is half of P(1)", "2/5", MEASURE,
          _worked(lambda: COUNTS.precision(1) * COUNTS.random_f(0) / COUNTS.f(1), 2 / 5)),
    Claim("Eq. 7", "F(½) by chance is ¾ of F(1)", "6/11", MEASURE, _worked(lambda: COUNTS.random_f(0.5), 6 / 11)),
    Claim("Eq. 7", "at β = 1 classes do not matter", "8/11", MEASURE, _worked(lambda: COUNTS.random_f(1), 8 / 11)),
    Claim("Section 3.1", "any reasoning is better than chance at every operating point", "", COMMAND, check.above_random),
    Claim("Section 3.1", "by chance half of the contours are consistent", "50 %", COMMAND, check.random_half),
    Claim("Section 3.1", "in oversegmented partitions fg can be below one half", "< 50 %", COMMAND, check.oversegmented),
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
          check.figure("measures.png", check.stands_for)),
    Claim("Fig. 5", "tables of all pairs of regions", "", COMMAND,
          check.figure("measures.png", check.measured_scene(1, "pairs"))),
    Claim("Section 3.2", "GDC is more restrictive than LDC: its scores are lower", "", COMMAND, check.lower_globally),
    Claim("Eq. 14", "Z sums densities; 1 is one object, more is nearer", "1", OWN, _ownership),
    Claim("Section 4.1", "the tree merges across the lowest boundary; its root is the image", "", SEGMENT, _tree),
    Claim("Eq. 15", "least energy at λ = 0.1 (values 0, 1, 4, 5): four regions", "3/5", PRUNE,
          _worked(lambda: example.pruned_energy(0.1), 3 / 5)),
    Claim("Eq. 15", "at λ = 1: two regions", "3", PRUNE,
          _worked(lambda: example.pruned_energy(1), 3)),
    Claim("Eq. 15", "at λ = 9: one region", "17", PRUNE,
          _worked(lambda: example.pruned_energy(9), 17)),
    Claim("Section 4.1", "small λ give fine partitions, large λ coarse ones", "", COMMAND, check.nested),
    Claim("Fig. 6", "ownership on the tree for rising λ", "", COMMAND, check.figure("lambda-series.png", check.series)),
    Claim("Fig. 6", "regions resolve errors of ownership at pixels", "", COMMAND, check.resolves_errors),
    Claim("Section 5.1", "Berkeley's figure/ground labels are not always one order", "", COMMAND, check.contradicted),
    Claim("Section 5.1", "all 500 images have depth annotations, one consistent order each", "500", COMMAND,
          check.own_annotations),
    Claim("Section 5.2", "contours match within 3 pixels and 15°", "3 px, 15°", COMMAND, check.tolerances),
    Claim("Fig. 7", "fg over recall: the proposed system is the most consistent", "", COMMAND,
          check.figure(f"{PHOTOGRAPHS}-figure-ground.png", check.most_consistent)),
    Claim("Section 5.2", "at some recalls it is below BPT+TJC, UCM+TJC and AE", "", COMMAND, check.less_at_some_recall),
    Claim("Fig. 8", "LDC: the proposed system has the best F max", "", COMMAND,
          check.figure(f"{PHOTOGRAPHS}-ldc.png", check.best_regions)),
    Claim("Fig. 8", "GDC of all systems: F max and F min", "", COMMAND,
          check.figure(f"{PHOTOGRAPHS}-gdc.png", check.gdc_numbers)),
    Claim("Figs. 8 – 9", "seven systems, among them OB and LD", "7", COMMAND, check.systems_here),
    Claim("Section 5.2", "ORI goes to 0 for oversegmented results such as PO", "0", COMMAND, check.index_vanishes),
    Claim("Section 5.2", "LDC: best F max", "about 0.6", COMMAND, check.number_of(TREE, "ldc", "fmax")),
    Claim("Section 5.2", "LDC: ORI of the proposed system is 0.1 above the second", "> 0.1", COMMAND, check.best_by_a_tenth),
    Claim("Section 5.2", "LDC: best ORI", "about 0.3", COMMAND, check.number_of(TREE, "ldc", "ori")),
    Claim("Section 5.2", "LDC: one person's truth against the others'", "0.78", f"{MEASURE} --human", check.people),
    Claim("Section 5.2", "there is room: ORI is far below 1", "1", COMMAND, check.below_one),
    Claim("Section 5.2", "GDC: precision is much lower than LDC's", "", COMMAND, check.lower_precision),
    Claim("Section 5.2", "GDC: small regions are missed unless much is oversegmented", "", COMMAND, check.small_are_missed),
    Claim("Section 5.2", "GDC: PO has the largest recall of pairs in order", "", COMMAND, check.largest_recall),
    Claim("Section 5.2", "GDC: the proposed system's region is narrow", "", COMMAND, check.thin_globally),
    Claim("Section 5.2", "GDC: UCM+TJC and BPT+TJC have better regions", "", COMMAND, check.better_regions),
    Claim("Section 5.2", "GDC: the proposed system's results are competitive", "", COMMAND, check.competitive),
    Claim("Section 5.2", "it should be the choice, for LDC, ORI and competitive GDC", "", COMMAND, check.the_choice),
    Claim("Fig. 9", "the proposed system is less noisy than PO", "", COMMAND, check.figure("comparison.png", check.less_noise)),
    Claim("Section 6", "people are out of reach", "", COMMAND, check.humans_ahead),
)  # fmt: skip
