"""What Hou, Yuille & Koch (2013) say, in the paper's order.

How it is checked stands in :mod:`.hou2013_labels` (labels alone) and :mod:`.hou2013_checks` (the rest).
"""

from __future__ import annotations

from hyperacuity.audit.benchmark import AuditProtocol
from hyperacuity.boundary import match
from hyperacuity_papers.common.claims import Claim, Finding, NotRunError, worked
from hyperacuity_papers.hou2013 import checks as find
from hyperacuity_papers.hou2013 import checks_labels as labels
from hyperacuity_papers.hou2013.study import NEW, OLD, TEST, TRAIN, UCM, Hou2013
from hyperacuity_papers.hou2013.table import DEVIATION, DIFFERENCE, DROPS, PUBLISHED, RISKS, lost

TITLE = "Hou, Yuille & Koch (2013), Boundary detection benchmarking: beyond F-measures"

STUDY = "hyperacuity study hou2013 --out hou2013"
AUDIT = "hyperacuity audit bsds500"
BOUNDARY = "hyperacuity boundary hou2013/maps/bsds300-test/pb bsds300"
TRIALS = "hyperacuity audit bsds300 --system pb=hou2013/maps/bsds300-test/pb --trials trials"
RISK = "hyperacuity study risk trials"
NAMES = {
    "pB": "pb",
    "UCM": "ucm",
    "Mincover": "mincover",
    "BEL": "bel",
    "gPB": "gpb",
    "XRen": "xren",
    "NMX": "nmx",
    "cCut": "ccut",
    "SCG": "scg",
}
KIN = {"gPB": ("gpb-ucm", UCM), "UCM": ("gpb-ucm", UCM)}
"""What is here of a system that is not: the regions of gPb, and the authors' own maps of the new images."""


def _needs_people(study: Hou2013) -> Finding:
    raise NotRunError("needs people: hyperacuity studio choose")


def _table_1(name: str) -> Claim[Hou2013]:
    theirs = PUBLISHED[NAMES[name]]
    ours = {"pB": "pb", "gPB": "gpb"}.get(name, name)
    check = find.score_of(ours, theirs, *KIN.get(name, ()))
    return Claim("Table 1", f"F of {name} on BSDS300's test set", f"{theirs:.2f}", STUDY, check)


CLAIMS: tuple[Claim[Hou2013], ...] = (
    Claim("Fig. 1", "people draw different boundaries in the same picture", "6 maps", STUDY, labels.figure_1),
    Claim("Section 1.1", "BSDS300: images to learn from", "200", STUDY, labels.counted(TRAIN)),
    Claim("Section 1.1", "BSDS300: images to test on", "100", STUDY, labels.counted(TEST)),
    Claim("Section 1.1", "BSDS300: boundary maps of all people", "1667", STUDY, labels.maps_drawn),
    Claim("Section 1.1", "people who drew BSDS300", "28", STUDY, labels.people),
    Claim("Section 1.1", "hardly an image on which people agree perfectly", "", STUDY, labels.perfect_matches),
    Claim("Section 1.1", "each boundary seems to be aligned to some edge in the image", "", STUDY, labels.on_edges),
    Claim("Section 1.1", "dense labels refine sparse ones without contradicting them", "", STUDY, labels.refined),
    Claim(
        "Section 1.2",
        "strength (M + 1)/N: what 2 of 3 people drew has 2/3",
        "2/3",
        AUDIT,
        lambda _: worked(float(find.strip().maps[0][0, 3]), 2 / 3),
    ),
    Claim(
        "Section 1.2",
        "maps are matched one to one within a tolerance: two pixels beside one give one pair",
        "1",
        AUDIT,
        lambda _: worked(match([[1, 1, 0, 0]], [[0, 1, 0, 0]], tolerance_px=1).count, 1),
    ),
    Claim(
        "Section 1.2",
        "orphan labels are those of one person alone: 2 of 4 boundaries of the strip",
        "1/2",
        AUDIT,
        lambda _: worked(find.strip().boundaries.orphan, 0.5),
    ),
    Claim(
        "Section 1.2",
        "consensus labels are those of everyone: 1 of 4 boundaries of the strip",
        "1/4",
        AUDIT,
        lambda _: worked(find.strip().boundaries.consensus, 0.25),
    ),
    Claim("Section 1.2", "orphan labels of BSDS300", "29.40 %", STUDY, labels.label_share(OLD, "orphan", 29.40)),
    Claim("Section 1.2", "consensus labels of BSDS300", "28.99 %", STUDY, labels.label_share(OLD, "consensus", 28.99)),
    Claim("Section 1.2", "orphans are most frequent, consensus labels next", "", STUDY, labels.two_largest),
    Claim(
        "Section 1.2",
        "all systems lose significantly on strong labels alone",
        "9 of 9",
        STUDY,
        find.in_words(find.drops, "the intervals overlap for a system"),
    ),
    Claim(
        "Section 1.2",
        "no system finds strong boundaries better than an arbitrary part",
        "0 of 9",
        STUDY,
        find.no_better,
    ),
    Claim("Section 2", "F of pB, with its decimals", "64.82 %", STUDY, find.score_of("pb", 0.6482)),
    Claim("Section 2", "F of SCG, with its decimals", "71.43 %", STUDY, find.score_of("SCG", 0.7143)),
    Claim(
        "Section 2",
        "F is the harmonic mean: precision 3/5 and recall 6/7 give 12/17",
        "12/17",
        BOUNDARY,
        lambda _: worked(find.on_strip(0)[2], 12 / 17),
    ),
    *map(_table_1, NAMES),
    Claim("Table 1", "F rises over the years", "0.65 → 0.71", STUDY, find.by_year),
    Claim("Section 3", "orphan labels, a second number", "31.39 %", STUDY, labels.recognised),
    Claim(
        "Section 3",
        "people take 5 s for a trial",
        "5 s",
        "hyperacuity studio choose trials --images photos",
        _needs_people,
    ),
    Claim(
        "Section 3",
        "systems in the trials draw thin lines (BEL did not and was left out)",
        "8 of 9",
        STUDY,
        find.in_words(
            find.each_system(lambda a: a.all.thickness, lambda px: px < 1.5),
            "a system marks 1.5 pixels or more per thin one",
        ),
    ),
    Claim("Fig. 2A", "a trial: two pieces of boundary, and the photograph", "", TRIALS, find.figure_2a),
    Claim("Fig. 2B", "orphans are a part of the labels, false alarms of what is detected", "", STUDY, find.figure_2b),
    Claim("Fig. 2C", "orphans and false alarms are hard to tell apart", "", STUDY, find.figure_2c),
    Claim(
        "Section 3.1",
        "with consensus labels the best thresholds are higher",
        "",
        STUDY,
        find.in_words(
            find.each_system(lambda a: a.consensus.ods.threshold - a.all.ods.threshold, lambda step: step > 0),
            "a system's threshold is not higher",
        ),
    ),
    Claim("Section 3.1", "a trial per image, system and mode, 5 answers each", "8000", TRIALS, find.responses),
    Claim(
        "Section 3.1",
        "the majority decides: votes of 3, 2, 4 and 1 of 5 make a risk of 1/2",
        "1/2",
        RISK,
        lambda _: worked(find.risk_of([3, 2, 4, 1]), 0.5),
    ),
    Claim(
        "Section 3.1", "a perfect data set has no risk", "0", RISK, lambda _: worked(find.risk_of([0, 1, 2, 0]), 0.0)
    ),
    Claim("Fig. 3", "mean risk of orphan labels (hard)", f"{RISKS['hard']:.4f}", STUDY, find.mean_risk("hard")),
    Claim("Fig. 3", "mean risk of consensus labels (easy)", f"{RISKS['easy']:.4f}", STUDY, find.mean_risk("easy")),
    Claim("Section 3.2", "the hard risk is high for every system", "8 of 8", STUDY, find.high_risks),
    Claim("Section 3.2", "systems that pass: a hard risk of 0.5 or more", "", STUDY, find.passed),
    Claim("Section 3.2", "the risk of consensus labels is much lower", "8 of 8", STUDY, find.hard_and_easy),
    Claim(
        "Section 4",
        "recall counts every annotator: 6 of 7 labels of the strip are found",
        "6/7",
        BOUNDARY,
        lambda _: worked(find.on_strip(0)[1], 6 / 7),
    ),
    Claim(
        "Section 4",
        "precision counts any annotator: 3 of 5 detected pixels of the strip are right",
        "3/5",
        BOUNDARY,
        lambda _: worked(find.on_strip(0)[0], 3 / 5),
    ),
    Claim(
        "Section 4",
        "without the bonus: 6 of 15 pairs of pixel and annotator are right",
        "2/5",
        f"{BOUNDARY} --precision mean",
        lambda _: worked(find.on_strip(0, "mean")[0], 2 / 5),
    ),
    Claim(
        "Section 4",
        "any annotator's word exaggerates precision",
        "",
        STUDY,
        find.in_words(
            find.each_system(lambda a: a.bonus.precision_any - a.bonus.precision_mean, lambda gain: gain > 0),
            "a system gains nothing",
        ),
    ),
    Claim(
        "Section 4",
        "the bonus rewards playing safe: the best threshold is lower with it",
        "",
        STUDY,
        find.in_words(
            find.each_system(lambda a: a.mean.ods.threshold - a.all.ods.threshold, lambda step: step > 0),
            "a system's threshold is not lower",
        ),
    ),
    Claim(
        "Section 4",
        "labels are thresholded at six strengths",
        "6",
        STUDY,
        lambda _: worked(len(AuditProtocol().strengths), 6),
    ),
    Claim(
        "Section 4",
        "labels of 2/3 and more of the strip: F 4/7, precision falls and recall does not",
        "4/7",
        AUDIT,
        lambda _: worked(find.on_strip(2 / 3)[2], 4 / 7),
    ),
    Claim(
        "Section 4",
        "consensus labels of the strip: precision 1/5, recall 1, F 1/3",
        "1/3",
        AUDIT,
        lambda _: worked(find.on_strip(1)[2], 1 / 3),
    ),
    Claim(
        "Fig. 4",
        "precision lost from all to consensus labels",
        f"{DROPS['precision']} %",
        STUDY,
        find.mean_loss("precision"),
    ),
    Claim(
        "Fig. 4", "recall lost from all to consensus labels", f"{DROPS['recall']:g} %", STUDY, find.mean_loss("recall")
    ),
    Claim(
        "Fig. 4",
        "precision falls with the strength of the labels",
        "",
        STUDY,
        find.in_words(find.never_rises("precision"), "it rises somewhere"),
    ),
    Claim(
        "Fig. 4",
        "recall loses less than precision",
        "9 of 9",
        STUDY,
        find.in_words(
            find.each_system(lambda a: lost(a, "precision") - lost(a, "recall"), lambda gap: gap > 0, 0),
            "a system loses as much recall",
        ),
    ),
    Claim(
        "Section 5",
        "partial labels have as many pixels as consensus labels: no difference on the strip",
        "0",
        AUDIT,
        lambda _: worked(find.partial_counts(), 0.0),
    ),
    Claim("Fig. 5", "precision over recall on original, consensus and partial labels", "", STUDY, find.figure_5_curves),
    Claim("Fig. 5", "the labels of a picture: original, consensus, partial", "", STUDY, labels.figure_5_labels),
    Claim(
        "Fig. 6",
        "all but cCut lose severely from all to consensus labels",
        "8 of 9",
        STUDY,
        find.in_words(find.drops, "the intervals overlap for a system"),
    ),
    Claim("Fig. 6", "F on consensus labels is no better than on partial ones", "9 of 9", STUDY, find.no_better),
    Claim("Fig. 6", "pB is even worse on consensus than on partial labels", "below 0", STUDY, find.pb_behind),
    Claim("Fig. 6", "cCut loses most on partial labels", "", STUDY, find.most_lost_on_part),
    Claim("Section 5", "cCut is behind the best even on consensus labels", "", STUDY, find.behind_on_consensus),
    Claim(
        "Fig. 7",
        "output and strength correlate only weakly",
        "",
        STUDY,
        find.in_words(
            find.each_system(lambda a: a.output.spearman, lambda rho: rho < find.WEAK),
            f"a rank correlation is {find.WEAK:g} or more, moderate by convention",
        ),
    ),
    Claim(
        "Fig. 7",
        "ideally the share of consensus would grow with the output; XRen comes closest",
        "",
        STUDY,
        find.consensus_grows,
    ),
    Claim("Fig. 8", "pB learned from consensus labels, on all labels: not better", "", STUDY, find.retrained("all")),
    Claim(
        "Fig. 8",
        "pB learned from consensus labels, on consensus labels: not better",
        "",
        STUDY,
        find.retrained("consensus"),
    ),
    Claim("Section 5.2", "images that BSDS500 adds", "200", STUDY, labels.counted(NEW)),
    Claim("Section 5.2", "orphan labels of the new images", "30.58 %", STUDY, labels.label_share(NEW, "orphan", 30.58)),
    Claim(
        "Section 5.2",
        "consensus labels of the new images",
        "30.15 %",
        STUDY,
        labels.label_share(NEW, "consensus", 30.15),
    ),
    Claim("Fig. 9", "F on the new images less F on the old ones", f"{DIFFERENCE}", STUDY, find.difference),
    Claim("Fig. 9", "the deviation of these differences", f"{DEVIATION}", STUDY, find.deviation),
    Claim("Fig. 9", "the difference has one sign throughout: the new images are easier", "4 of 4", STUDY, find.easier),
    Claim("Section 6", "consensus labels are more reliable", "", STUDY, find.agreement),
    Claim(
        "Section 6",
        "output is not useless: it does say something about strength",
        "",
        STUDY,
        find.in_words(
            find.each_system(lambda a: a.output.spearman, lambda rho: rho > 0), "a correlation is not above 0"
        ),
    ),
)
