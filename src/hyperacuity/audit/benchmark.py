"""Scores of a system under other labels: fewer and stronger ones, an arbitrary part of them, a stricter precision.

:func:`tally_audit` benchmarks one image under many truths at once: the labels of at least each strength, and partial labels as a
control. :func:`collect_audit` makes a data set's curves of them, the precision bonus, and how well the output predicts strength.

References
----------
Hou, Yuille & Koch (2013), sections 4 and 5, Figs. 4 to 7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hyperacuity.audit.partial import PARTIAL_KINDS
from hyperacuity.audit.strength import strength_class
from hyperacuity.audit.truths import truths_of
from hyperacuity.boundary.matching import tolerance_in_pixels
from hyperacuity.boundary.protocols import Protocol
from hyperacuity.boundary.scores import BoundaryScore, collect, compare_systems, recall_precision, resampled_scores
from hyperacuity.boundary.tallies import BoundaryTally, require_possible_pairs
from hyperacuity.errors import UsageError
from hyperacuity.kernels.pairs import reach
from hyperacuity.kernels.parts import partners_at_levels, partners_by_level, sweep_parts
from hyperacuity.kernels.sweep import History, trace
from hyperacuity.maps import EdgeMap, SoftMap, edge_map, same_size, soft_map
from hyperacuity.resampling import Bootstrap, holm, percentile_interval, resample
from hyperacuity.tally import Arrays, BaseProtocol, Counts, Scores, Tally, Weights, number, protocol_of, total
from hyperacuity.tasks import Criteria

STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
OUTPUT_LEVELS = 20
"""Number of equal steps of [0, 1] into which a detector's output is divided."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class AuditProtocol(BaseProtocol):
    """A boundary benchmark and the truths that it is repeated with."""

    task: ClassVar[str] = "audit"
    protocol: Protocol = field(default_factory=Protocol)
    """The boundary benchmark to repeat; for soft maps."""
    strengths: tuple[float, ...] = STRENGTHS
    """Labels of at least these strengths, rising; the first is 0 (all labels), the last 1 (consensus)."""
    repeats: int = 3
    """Number of partial truths of each kind."""
    seed: int = 0
    """Seed of partial labels."""

    def __post_init__(self) -> None:
        """Validate the options."""
        if self.protocol.thresholds == "levels":
            raise UsageError("an audit needs soft boundary maps, not stacks of segmentations")
        if self.strengths[:1] != (0,) or self.strengths[-1:] != (1,) or list(self.strengths) != sorted(self.strengths):
            raise UsageError("strengths must rise from 0 (all labels) to 1 (consensus labels)")
        if self.repeats < 1 or self.seed < 0:
            raise UsageError(f"{self.repeats} repeats with seed {self.seed}: expected at least one, and a seed from 0")

    @property
    def truths(self) -> tuple[tuple[str, float | int], ...]:
        """The truths in the order of the tallies: ("strength", s), then (kind of partial labels, which repeat)."""
        partial = [(kind, repeat) for kind in PARTIAL_KINDS for repeat in range(self.repeats)]
        return (*(("strength", strength) for strength in self.strengths), *partial)

    def parts(self) -> dict[str, object]:
        """Parts of the signature."""
        return {
            **self.protocol.parts(),
            "strengths": ",".join(map(number, self.strengths)),
            "partial": self.repeats,
            "seed": self.seed,
            "boundary": self.protocol.version,
        }


@dataclass(frozen=True, eq=False)
class AuditTally(Tally):
    """Counts of one image, or of several with the same number N of annotators.

    The first six are those of :class:`~hyperacuity.boundary.BoundaryTally`, a row per truth of the protocol. ``output`` says how
    output and strength go together: a row per level of output, a column for 0, 1, … N annotators who drew what was detected.
    """

    truth_matched: Counts
    truth: Counts
    detected_matched: Counts
    detected: Counts
    detected_shown: Counts
    marked: Counts
    output: Counts

    def validate(self) -> None:
        """Require that pairs are no more than either side has, under every truth."""
        super().validate()
        protocol = protocol_of([self], AuditProtocol)
        self.require_shape((len(protocol.truths), protocol.protocol.levels.size), *BoundaryTally.names())
        self.require_shape((OUTPUT_LEVELS, max(np.shape(self.output)[-1:], default=0)), "output")
        require_possible_pairs(self)

    def truth_counts(self) -> Arrays:
        """The true pixels under each truth of the protocol."""
        return {"truth": self.truth[:, :1]}

    def under(self, truth: int, benchmark: Protocol) -> BoundaryTally:
        """The benchmark's tally under one of the protocol's truths."""
        return BoundaryTally(*(getattr(self, name)[truth] for name in BoundaryTally.names()), protocol=benchmark)


def tally_audit(
    prediction: SoftMap, truths: Sequence[EdgeMap], protocol: AuditProtocol = AuditProtocol(), *, image: str = ""
) -> AuditTally:
    """Benchmark one image under all truths of the protocol. ``image`` is its name, which the partial labels depend on.

    Examples
    --------
    >>> truth = np.zeros((8, 8), dtype=bool)
    >>> truth[4] = True
    >>> more = truth.copy()
    >>> more[0, :5] = True
    >>> agreed = AuditProtocol(Protocol(thresholds=(0.5,)), strengths=(0, 1), repeats=1)
    >>> counts = tally_audit(more.astype(np.float32), [truth, more], agreed)
    >>> counts.truth.ravel(), counts.detected_matched[:2].ravel()
    (array([21, 16, 16, 16, 16]), array([13,  8]))
    """
    benchmark = protocol.protocol
    maps = [edge_map(truth, name=f"truth of annotator {number}") for number, truth in enumerate(truths, 1)]
    asked = truths_of(maps, protocol, image)
    soft = soft_map(prediction, name="prediction")
    for truth in maps:
        same_size(soft, truth)
    soft = benchmark.suppressed(soft)
    history = trace(soft, benchmark.levels, thin=benchmark.thin)
    within = reach(tolerance_in_pixels(soft.shape, benchmark.tolerance))
    level, steps = _levels_of_output(soft, benchmark, history)
    drawn = [np.flatnonzero(truth) for truth in maps]
    swept = sweep_parts(history, drawn, asked.parts, maps[0].shape, within, chosen=steps or ())
    if steps is None:
        output = partners_by_level(level, maps, OUTPUT_LEVELS, within, thin=benchmark.thin)
    else:
        output = partners_at_levels(history, swept.partners, steps, level, len(maps))
    counts = [swept.counts[part] for part in asked.part_of_truth]
    shown = np.repeat(asked.labels[:, np.newaxis], benchmark.levels.size, axis=1)
    detected = np.stack([one.detected for one in counts])
    return AuditTally(
        truth_matched=np.stack([one.matched.sum(axis=0) for one in counts]),
        truth=shown,
        detected_matched=np.stack([one.matched_by_any for one in counts]),
        detected=detected,
        detected_shown=detected * len(maps),
        marked=np.stack([one.marked for one in counts]),
        output=output,
        protocol=protocol,
    )


def _levels_of_output(
    soft: SoftMap, protocol: Protocol, history: History
) -> tuple[NDArray[np.uint8], list[int] | None]:
    """The level of output of each pixel, 0 where nothing is marked, and the steps of a history at which each level ends.

    As in the benchmark, a level is what is detected when its lower end is the threshold: stronger pixels compete for partners,
    weaker ones do not. There are no such steps (None) where the lower ends are not among the benchmark's thresholds, or where
    rounding takes a pixel across one of them.
    """
    level = np.minimum((soft * np.float32(OUTPUT_LEVELS)).astype(np.int64), OUTPUT_LEVELS - 1) + 1
    level[soft < np.float32(protocol.levels[0])] = 0
    thresholds = protocol.levels.astype(np.float32)
    ends = (np.arange(1, OUTPUT_LEVELS) / OUTPUT_LEVELS).astype(np.float32)
    at = np.concatenate([np.zeros(1, np.int64), np.searchsorted(thresholds, ends)])
    marked = soft >= thresholds[0]
    reached = np.searchsorted(thresholds, soft[marked], side="right")
    same = bool((at < thresholds.size).all()) and np.array_equal(
        level[marked],
        np.searchsorted(at, reached),  # a level for each lower end whose threshold is reached
    )
    return level.astype(np.uint8), history.step_of_threshold[at].tolist() if same else None


@dataclass(frozen=True)
class Bonus:
    """Gain from counting a detected pixel as right when any annotator drew it, at the best threshold of the usual precision.

    ``f_any`` and ``f_mean`` are the best F with either precision, each at its best threshold.
    """

    precision_any: float
    precision_mean: float
    f_any: float
    f_mean: float


@dataclass(frozen=True, eq=False)
class OutputStrength:
    """Relation between a detector's output and label strength.

    ``shares`` has a row per level of output and a column per class of strength; rows sum to 1 (NaN: nothing matched), and
    ``matched`` is how many pixels each row is about. Pixels without a partner are not in them: ``unmatched`` is their share of
    all pixels of the level. ``spearman`` is the rank correlation of output and strength over the matched pixels, ``interval`` its
    bootstrap over images, and ``spearman_all`` the correlation over all detected pixels, unmatched ones having strength 0.
    """

    shares: Floats
    matched: Counts
    unmatched: Floats
    spearman: float
    interval: tuple[float, float]
    spearman_all: float


@dataclass(frozen=True, eq=False)
class SystemAudit:
    """A system under all truths.

    ``by_strength`` has a score per strength of the protocol, ``partial`` a list of them per kind of partial labels.
    """

    protocol: AuditProtocol
    by_strength: tuple[BoundaryScore, ...]
    partial: dict[str, tuple[BoundaryScore, ...]]
    mean: BoundaryScore
    bonus: Bonus
    output: OutputStrength

    @property
    def all(self) -> BoundaryScore:
        """The usual score, with all labels."""
        return self.by_strength[0]

    @property
    def consensus(self) -> BoundaryScore:
        """The score with the labels that everybody drew."""
        return self.by_strength[-1]

    @property
    def partial_f(self) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation of F over the repeats of each kind of partial labels; NaN for one repeat's deviation."""
        return {kind: _mean_and_spread([score.ods.f for score in scores]) for kind, scores in self.partial.items()}

    @property
    def f_by_truth(self) -> dict[str, float]:
        """The best F under each truth that systems are ranked by; the precision ``mean`` is one of them, on all labels."""
        names = ["all", *(f"strength {strength:g}" for strength in self.protocol.strengths[1:-1]), "consensus"]
        by_strength = {name: score.ods.f for name, score in zip(names, self.by_strength, strict=True)}
        partial = {f"partial ({kind})": mean for kind, (mean, _) in self.partial_f.items()}
        return {**by_strength, **partial, "precision mean": self.mean.ods.f}


def collect_audit(tallies: Mapping[str, AuditTally], *, resamples: int = 1000, seed: int = 0) -> SystemAudit:
    """A system's scores under each truth, the precision bonus, and output against strength. ``UsageError`` without images."""
    protocol = protocol_of(tallies.values(), AuditProtocol)
    usual, strict = replace(protocol.protocol, precision="any"), replace(protocol.protocol, precision="mean")

    def score(truth: int, benchmark: Protocol, samples: int = 0) -> BoundaryScore:
        return collect(tallies_under(tallies, truth, benchmark), resamples=samples, seed=seed)

    levels = len(protocol.strengths)
    by_strength = tuple(score(truth, usual, resamples) for truth in range(levels))
    partial: dict[str, list[BoundaryScore]] = {kind: [] for kind in PARTIAL_KINDS}
    for truth, (kind, _) in enumerate(protocol.truths):
        if kind in partial:
            partial[kind].append(score(truth, usual))
    mean = score(0, strict, resamples)
    whole = total(list(tallies_under(tallies, 0, usual).values()))
    ods = by_strength[0].ods
    precision = float(np.interp(ods.threshold, usual.levels, recall_precision(whole, "mean")[1]))
    return SystemAudit(
        protocol=protocol,
        by_strength=by_strength,
        partial={kind: tuple(scores) for kind, scores in partial.items()},
        mean=mean,
        bonus=Bonus(ods.precision, precision, ods.f, mean.ods.f),
        output=_collect_output([tallies[image].output for image in sorted(tallies)], resamples, seed),
    )


def tallies_under(tallies: Mapping[str, AuditTally], truth: int, benchmark: Protocol) -> dict[str, BoundaryTally]:
    """The benchmark's tallies of all images under one of the protocol's truths."""
    return {image: one.under(truth, benchmark) for image, one in tallies.items()}


@dataclass(frozen=True)
class Change:
    """Two systems that swap ranks under a truth: how far ahead is the one that was behind?

    ``p_value`` is that of a paired bootstrap over images, with Holm's correction for all changes; NaN for the mean over
    repeated partial labels.
    """

    truth: str
    ahead: str
    behind: str
    difference: float
    p_value: float


def rankings(audits: Mapping[str, SystemAudit]) -> dict[str, list[str]]:
    """The systems from best to worst under each truth."""
    scores = {system: audit.f_by_truth for system, audit in audits.items()}
    truths = next(iter(scores.values()), {})
    return {truth: sorted(scores, key=lambda system: -scores[system][truth]) for truth in truths}


def ranking_changes(
    audits: Mapping[str, SystemAudit], tallies: Mapping[str, Mapping[str, AuditTally]], *, resamples: int = 1000
) -> list[Change]:
    """The pairs of systems that swap ranks when the labels or the precision do, and whether that may be chance."""
    orders = rankings(audits)
    usual = {system: rank for rank, system in enumerate(orders.get("all", []))}
    changes = []
    for truth, order in orders.items():
        for rank, ahead in enumerate(order):
            for behind in order[rank + 1 :]:
                if usual[ahead] > usual[behind]:
                    difference = audits[ahead].f_by_truth[truth] - audits[behind].f_by_truth[truth]
                    p_value = _p_value(audits[ahead], truth, tallies[ahead], tallies[behind], resamples)
                    changes.append(Change(truth, ahead, behind, difference, p_value))
    tested = [n for n, change in enumerate(changes) if not math.isnan(change.p_value)]
    for n, p_value in zip(tested, holm([changes[n].p_value for n in tested]).tolist(), strict=True):
        changes[n] = replace(changes[n], p_value=p_value)
    return changes


def _p_value(
    audit: SystemAudit, truth: str, first: Mapping[str, AuditTally], second: Mapping[str, AuditTally], resamples: int
) -> float:
    if truth.startswith("partial") or not first.keys() & second.keys():
        return float("nan")
    indices = {f"strength {strength:g}": n for n, strength in enumerate(audit.protocol.strengths)}
    index = {"precision mean": 0, "consensus": len(indices) - 1}.get(truth, indices.get(truth, 0))
    benchmark = audit.mean.protocol if truth == "precision mean" else audit.all.protocol
    compared = compare_systems(
        tallies_under(first, index, benchmark), tallies_under(second, index, benchmark), resamples=resamples
    )
    return compared["ods"].p_value


def _collect_output(tables: Sequence[Counts], resamples: int, seed: int) -> OutputStrength:
    """Tables of images with different numbers of annotators are brought together by the strength that a column stands for."""
    ratios = sorted({Fraction(m, table.shape[1] - 1) for table in tables for m in range(table.shape[1])})
    column_of = {ratio: n for n, ratio in enumerate(ratios)}
    joint = np.zeros((len(tables), OUTPUT_LEVELS, len(ratios)), np.int64)
    for one, table in zip(joint, tables, strict=True):
        n = table.shape[1] - 1
        one[:, [column_of[Fraction(m, n)] for m in range(n + 1)]] = table
    total = joint.sum(axis=0)
    classes = np.zeros((OUTPUT_LEVELS, 6))
    for column, ratio in enumerate(ratios[1:], 1):
        classes[:, strength_class(np.array([ratio.numerator]), ratio.denominator)] += total[:, column, None]
    with np.errstate(invalid="ignore"):
        shares = classes / classes.sum(axis=1, keepdims=True)
        unmatched = total[:, 0] / total.sum(axis=1)
    interval = (float("nan"), float("nan"))
    if resamples:
        drawn = resample(Bootstrap(len(tables), resamples, seed), joint)
        interval = percentile_interval(spearman_of_table(drawn[:, :, 1:]))
    return OutputStrength(
        shares,
        total[:, 1:].sum(axis=1),
        unmatched,
        float(spearman_of_table(total[:, 1:])),
        interval,
        float(spearman_of_table(total)),
    )


def spearman_of_table(table: NDArray[np.int64]) -> Floats:
    r"""Spearman's ρ of two ordered variables from the counts of their values (last two axes); NaN if either does not vary.

    Each value's rank is the mean rank of its ties; ρ is the correlation of the ranks.

    >>> spearman_of_table(np.array([[0, 2], [3, 0]])).item()
    -1.0
    """
    counts = table.astype(np.float64)
    total = counts.sum(axis=(-2, -1))

    def centred(margin: Floats) -> Floats:
        ranks = np.cumsum(margin, axis=-1) - margin / 2
        return np.asarray(ranks - total[..., None] / 2)

    rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
    by_row, by_column = centred(rows), centred(columns)
    product = (by_row[..., :, None] * by_column[..., None, :] * counts).sum(axis=(-2, -1))
    spread = (rows * by_row**2).sum(axis=-1) * (columns * by_column**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(spread > 0, product / np.sqrt(spread), np.nan), np.float64)


def _mean_and_spread(values: Sequence[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def criteria(protocol: AuditProtocol) -> Criteria:
    """The best F with all labels, and with those that everybody drew."""
    benchmark, last = replace(protocol.protocol, precision="any"), len(protocol.strengths) - 1

    def rescore(tallies: Sequence[AuditTally], weights: Weights) -> Scores:
        under = ([one.under(truth, benchmark) for one in tallies] for truth in (0, last))
        return np.column_stack([resampled_scores(column, weights)["ods"] for column in under])

    return Criteria(("all", "consensus"), ("max", "max"), rescore, ("all", "consensus"))
