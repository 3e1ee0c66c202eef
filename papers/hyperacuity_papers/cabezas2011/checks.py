"""Checks of what Cabezas & Trujillo (2011) claim of the model, its measures and its words, row by row of claims.toml."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hyperacuity.compare import Table, average_rank, compare, dominance, groups, optimal
from hyperacuity.compare.pareto import interpretation
from hyperacuity.disparity import bad, disc, nonocc, view_error
from hyperacuity_papers.cabezas2011.checks_tables import scenario_of
from hyperacuity_papers.cabezas2011.stereo_scenarios import DENSE
from hyperacuity_papers.cabezas2011.study import Cabezas2011
from hyperacuity_papers.common.claims import Finding, expect, incomparable, worked

VECTORS = ((1, 5, 3), (2, 4, 3), (2, 5, 4), (1, 5, 3), (3, 3, 9), (9, 9, 9))
"""Error vectors of six systems a to f. By hand: c is dominated by a, b and d, f by all others, the rest by none."""

TRUE = np.array([[5, 5, 5, 9], [5, 5, np.inf, 9]])
GUESS = np.array([[5, 6, 6.5, 7], [5, np.nan, 4, 9]])
"""Seven pixels with a truth: 6.5 and 7 are more than 1 off and one is missing; 6 is off by exactly 1."""

VIEWS = ([[10, 20], [30, 40]], [[10, 22], [29, 44]])
"""Differences 0, 2, 1 and 4: squares sum to 21."""

STEP = [[1, 1, 1, 1, 1, 3, 3, 3, 1, 1, 1, 1]]
"""A near strip: by hand pixel 0 leaves the other view, and 3 and 4 are hidden there."""


def _letters(flags: Sequence[bool]) -> str:
    return " ".join(letter for letter, yes in zip("abcdef", flags, strict=True) if yes)


def one_number(study: Cabezas2011) -> Finding:
    found = average_rank(VECTORS)
    return worked(float(found[2]), 10 / 3)


def process(study: Cabezas2011) -> Finding:
    systems, images, regions = study.table.values.shape
    size = int(scenario_of(study, "dense").concat.optimal.sum())
    return incomparable(
        f"{images} pairs → {regions} regions → {systems} systems → {study.table.values.size} errors → A* of {size} → words",
        "a diagram without numbers",
    )


def test_bed(study: Cabezas2011) -> Finding:
    whole = set(compare(study.table).groups()[0])
    images = study.table.images
    parts = [[name for name in images if name != out] for out in images] if len(images) > 1 else []
    changed = sum(set(compare(study.table.select(images=part)).groups()[0]) != whole for part in parts)
    return expect(changed > 0, f"leaving one pair out changes A* for {changed} of {len(parts)}", "no pair matters")


def tuned(study: Cabezas2011) -> Finding:
    best = {}
    for technique, scenario in study.intra.items():
        systems = list(scenario.concat.systems)
        values = study.table.select(systems=systems, criteria=["nonocc"]).values[:, :, 0]
        best[technique] = len({systems[int(i)] for i in values.argmin(axis=0)})
    several = [name for name, count in best.items() if count > 1]
    return expect(
        bool(several),
        f"the best setting depends on the pair for {len(several)} of {len(best)} techniques",
        "one setting of each technique is best on every pair",
    )


def error_function(study: Cabezas2011) -> Finding:
    return expect(bad(TRUE, TRUE, 1) == 0 and bad(TRUE, GUESS, 1) > 0, "0 of a map against itself", "not 0")


def psnr_and_bad(study: Cabezas2011) -> Finding:
    errors = study.table.select(criteria=["nonocc"]).values[:, :, 0]
    psnr = study.views.select(systems=study.table.systems, criteria=["psnr inverse"]).values[:, :, 0]
    fewer, higher = (np.sign(values[:, None] - values[None]) for values in (errors, psnr))
    decided = (fewer != 0) & (higher != 0)
    against = ((fewer == higher) & decided).sum() / max(decided.sum(), 1)
    return expect(
        0 < against < 0.5,
        f"of two systems the one with fewer bad pixels has the lower PSNR in {100 * against:.0f} % of cases",
        "PSNR and bad pixels always agree"
        if against == 0
        else "what looks for like colours predicts colours well, whether or not the depth is right",
    )


def tolerance_differs(study: Cabezas2011) -> Finding:
    sizes = {delta: int(compare(one).optimal.sum()) for delta, one in study.tables.items()}
    told = ", ".join(f"{size} at δ = {delta:g}" for delta, size in sizes.items())
    return incomparable(f"systems in A*: {told}", "the paper gives no number")


def regions(study: Cabezas2011) -> Finding:
    hidden, near = np.flatnonzero(~nonocc(STEP)), np.flatnonzero(disc(STEP, width=3))
    right = hidden.tolist() == [0, 3, 4] and near.tolist() == [5, 6, 7, 8, 9]
    return expect(
        right, f"a strip hides pixels {hidden.tolist()}, disc is {near.tolist()}", "by hand 0, 3, 4 and 5 to 9"
    )


def vector(study: Cabezas2011) -> Finding:
    size = len(study.table.vectors("concat")[1])
    return incomparable(
        f"{size} components on {len(study.table.images)} pairs, or {len(DENSE)} as means",
        "the paper does not say how pairs are combined",
    )


def linear(study: Cabezas2011) -> Finding:
    order = np.argsort(average_rank(VECTORS), kind="stable")
    return expect(
        "".join("abcdef"[i] for i in order) == "adbcef",
        "average ranks order a and d before b, c, e and f",
        "by hand a, d, b, c, e, f",
    )


def no_weights(study: Cabezas2011) -> Finding:
    scaled = Table(
        study.table.systems, study.table.images, DENSE, ("min",) * 3, study.table.values * np.array([1, 5, 0.2])
    )
    same = set(compare(scaled).groups()[0]) == set(compare(study.table).groups()[0])
    total, changed = (np.argsort(t.values.sum(axis=(1, 2)), kind="stable") for t in (study.table, scaled))
    moved = int((total != changed).sum())
    return expect(
        same and moved > 0,
        f"other units leave A* as it is, and change the place of {moved} systems by summed errors",
        "A* depends on the units" if not same else "sums do not depend on the units either",
    )


def dominates(study: Cabezas2011) -> Finding:
    counts = dominance(VECTORS).sum(axis=0).tolist()
    return expect(counts == [0, 0, 3, 0, 0, 5], f"a to f are dominated by {counts}", "by hand 0, 0, 3, 0, 0, 5")


def optimal_vectors(study: Cabezas2011) -> Finding:
    found = _letters(optimal(VECTORS).tolist())
    return expect(found == "a b d e", f"PA* = {found} of a to f, reading ∄ where print shows ∃", "by hand a b d e")


def optimal_systems(study: Cabezas2011) -> Finding:
    table = Table.flat(list("abcdef"), DENSE, VECTORS)
    found = sorted(compare(table).groups()[0])
    return expect(found == list("abde"), f"A* = {' '.join(found)}", "by hand a b d e")


def proper(study: Cabezas2011) -> Finding:
    whole = optimal([(1, 10), (6, 6), (5, 7)])
    return expect(
        not whole.all(),
        f"of (1, 10), (6, 6), (5, 7) all {whole.sum()} are optimal",
        "A* = A can be, as with a single system: the subset need not be proper",
    )


def model(study: Cabezas2011) -> Finding:
    dense = scenario_of(study, "dense")
    return incomparable(", ".join(dense.optimal()), "other systems than the server's")


def never_empty(study: Cabezas2011) -> Finding:
    random = np.random.default_rng(0)
    sizes = [int(optimal(random.integers(0, 9, (random.integers(1, 30), 4))).sum()) for _ in range(500)]
    return expect(min(sizes) > 0, f"at least {min(sizes)} of 500 random tables", "A* was empty")


def single(study: Cabezas2011) -> Finding:
    said = interpretation(["A", "B"], optimal([(1, 1), (2, 2)]))
    return expect("A is ahead" in said, "(1, 1) beside (2, 2): A is ahead", "the words say otherwise")


def several(study: Cabezas2011) -> Finding:
    said = interpretation(["A", "B"], optimal([(1, 2), (2, 1)]))
    return expect("comparable" in said, "(1, 2) beside (2, 1): comparable", "the words say otherwise")


def someone_beats(study: Cabezas2011) -> Finding:
    ranking = scenario_of(study, "dense").concat
    outside = np.flatnonzero(~ranking.optimal)
    beaten = int(ranking.dominance[np.ix_(ranking.optimal, outside)].any(axis=0).sum())
    return expect(beaten == len(outside), f"{beaten} of {len(outside)} by a member of A*", "some system is not")


def everyone_beats(study: Cabezas2011) -> Finding:
    ranking = scenario_of(study, "dense").concat
    pairs = ranking.dominance[np.ix_(ranking.optimal, ~ranking.optimal)]
    return expect(
        bool(pairs.all()),
        f"{pairs.sum()} of {pairs.size} pairs of a member and another",
        "a system outside A* is dominated by some member of it, and may be better than another in some respect",
    )


def composition(study: Cabezas2011) -> Finding:
    ranking = scenario_of(study, "dense").concat
    whole = {name for name, yes in zip(ranking.systems, ranking.optimal, strict=True) if yes}
    changed = sum(
        set(compare(study.table.select(systems=[n for n in ranking.systems if n != out])).groups()[0]) != whole
        for out in ranking.systems
    )
    return expect(
        changed == len(ranking.systems),
        f"leaving out one of {len(ranking.systems)} systems changes A* in {changed} cases",
        "leaving out a dominated system changes nothing: A* may change, but need not",
    )


def inter(study: Cabezas2011) -> Finding:
    dense = study.inter[0]
    return incomparable(f"of {len(dense.concat.systems)} techniques: {', '.join(dense.optimal())}", "other systems")


def intra(study: Cabezas2011) -> Finding:
    told = (f"{name} {len(one.optimal())}/{len(one.concat.systems)}" for name, one in study.intra.items())
    return incomparable(f"settings in A*: {', '.join(told)}", "the paper shows no such comparison")


def peeling(study: Cabezas2011) -> Finding:
    found = groups(VECTORS).tolist()
    own = int(scenario_of(study, "dense").concat.group.max()) + 1
    return expect(
        found == [0, 0, 1, 0, 0, 2], f"a b d e, then c, then f; {own} groups of our field", "by hand abde, c, f"
    )


def threshold(study: Cabezas2011) -> Finding:
    return expect(study.delta == 1, f"δ = {study.delta:g}", "the study was run with another threshold")


def test_images(study: Cabezas2011) -> Finding:
    images = sorted(study.table.images)
    if not study.on_middlebury:
        return incomparable(", ".join(images), "the four pairs are not at hand")
    return expect(images == ["cones", "teddy", "tsukuba", "venus"], ", ".join(images), "other pairs")


def variants(study: Cabezas2011) -> Finding:
    inter, intra = len(study.inter[0].optimal()), sum(len(one.optimal()) for one in study.intra.values())
    return incomparable(
        f"{inter} techniques among their like, {intra} settings among theirs", "the paper leaves it to later work"
    )


def incomparable_vectors(study: Cabezas2011) -> Finding:
    relation = dominance([(1, 2), (2, 1)])
    return expect(not relation.any(), "(1, 2) and (2, 1): neither dominates", "one dominates the other")


def all_at_once(study: Cabezas2011) -> Finding:
    best = {name: int(i) for name, i in zip(study.table.vectors("concat")[1], _best(study.table), strict=True)}
    winners = {study.table.systems[i] for i in best.values()}
    size = int(compare(study.table).optimal.sum())
    return expect(
        (size == 1) == (len(winners) == 1),
        f"{len(winners)} systems are best by some component, and A* has {size}",
        "a system is best by every component, yet A* has others",
    )


def _best(table: Table) -> list[int]:
    best: list[int] = table.vectors("concat")[0].argmin(axis=0).tolist()
    return best


def unlike_ranks(study: Cabezas2011) -> Finding:
    ranking = scenario_of(study, "dense").concat
    members = ranking.groups()[0]
    order = [ranking.systems[i] for i in np.argsort(ranking.average_rank, kind="stable")]
    top = order[: len(members)]
    other = sorted(set(members) - set(top))
    last = max(order.index(name) + 1 for name in members)
    return expect(
        bool(other),
        f"A* reaches to place {last} by average rank; {len(other)} of its {len(members)} are not among the first {len(members)}",
        "A* is just the first by average rank",
    )


def tolerance(study: Cabezas2011) -> Finding:
    found = _letters(optimal(VECTORS, epsilon=1).tolist())
    sizes = [int(compare(study.table, epsilon=epsilon).optimal.sum()) for epsilon in (0.0, 0.5, 1.0)]
    return expect(
        found == "a b c d",
        f"with ε = 1, {found} of a to f; of our field {sizes[0]}, {sizes[1]}, {sizes[2]} at ε = 0, 0.5, 1 %",
        "by hand a b c d",
    )


EXAMPLES: dict[str, Callable[[], float]] = {
    "bad, exactly δ off": lambda: bad([[5.0]], [[6.0]], 1),
    "bad": lambda: bad(TRUE, GUESS, 1),
    "MSE of a view itself": lambda: view_error(VIEWS[0], VIEWS[0]).mse,
    "MSE": lambda: view_error(*VIEWS).mse,
    "RMSE": lambda: view_error(*VIEWS).rmse,
    "PSNR": lambda: view_error(*VIEWS).psnr,
}
"""Numbers that can be worked out by hand."""


def worked_out(study: Cabezas2011, of: str, by_hand: float | str) -> Finding:
    """Compare one of :data:`EXAMPLES` with its value by hand."""
    return worked(EXAMPLES[of](), by_hand)


def unanswered(study: Cabezas2011, because: str) -> Finding:
    """State that there is no number of ours."""
    return incomparable("", because)
