"""Trials of all systems for depth order on one picture: how often the nearer side is right, and tallies over each parameter.

This is what takes the time, so it is cached in a study's folder and used again as long as picture and code are the same.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect.depth.ownership import order_along_contours
from hyperacuity.maps import LabelMap
from hyperacuity.ordering import OrderingTally, Protocol, match_regions, tally, tally_humans
from hyperacuity.ordering.figure_ground import REACH, neighbours, order_of_pairs, whole_order, with_whole_order
from hyperacuity.ordering.orderings import Ordering, Sides, consecutive, partition, region_medians
from hyperacuity.run.keeping import Kept, code_key, kept, key_of
from hyperacuity.run.many import PictureSource
from hyperacuity_papers.common.depth_pictures import Loaded
from hyperacuity_papers.palou2014.depth_views import CUES, LEVEL, LEVELS, NETWORK, SYSTEMS, TJC, UCM_TJ, SystemViews

COLUMNS = tuple(f"{kind} regions, {reading}" for kind in ("true", "own") for reading in ("median", "along"))
"""Regions, and whether the order is read from their medians or along their common border."""


class OrderSums(NamedTuple):
    """Length of boundary whose nearer side is right, of all boundary; pairs of regions that are right, of all."""

    right_length: float = 0.0
    length: float = 0.0
    right_pairs: float = 0.0
    pairs: float = 0.0

    def plus(self, other: OrderSums) -> OrderSums:
        """The sums of both."""
        return OrderSums(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def bacc(self) -> float:
        """B-ACC; NaN without a question."""
        return self.right_length / self.length if self.length else float("nan")

    @property
    def racc(self) -> float:
        """R-ACC."""
        return self.right_pairs / self.pairs if self.pairs else float("nan")


class MatchSums(NamedTuple):
    """True regions that some region of a system stands for, of all: small ones (of at most median area), and the others."""

    small_matched: int = 0
    small: int = 0
    large_matched: int = 0
    large: int = 0
    regions: int = 0

    def plus(self, other: MatchSums) -> MatchSums:
        """The sums of both."""
        return MatchSums(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True, eq=False)
class OrderFindings:
    """Results on one picture; ``people`` only where there are several. ``matches`` are by level of the hierarchy.

    ``contradicted`` counts the labellings, of which there are ``labellings``, that no order of the regions agrees with.
    """

    people: OrderingTally | None = None
    sums: dict[tuple[str, str], OrderSums] = field(default_factory=dict)
    sweeps: dict[tuple[str, str], OrderingTally] = field(default_factory=dict)
    matches: dict[str, MatchSums] = field(default_factory=dict)
    contradicted: int = 0
    labellings: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return what goes into a file; the tallies are all of the default protocol."""
        return {
            "people": None if self.people is None else _text(self.people),
            "sums": [[*key, *sums] for key, sums in self.sums.items()],
            "sweeps": [[*key, _text(counts)] for key, counts in self.sweeps.items()],
            "matches": [[level, *sums] for level, sums in self.matches.items()],
            "labels": [self.contradicted, self.labellings],
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> OrderFindings:
        """The inverse of :meth:`to_json`."""
        return cls(
            None if given["people"] is None else _tally(given["people"]),
            {(system, column): OrderSums(*sums) for system, column, *sums in given["sums"]},
            {(system, parameter): _tally(text) for system, parameter, text in given["sweeps"]},
            {level: MatchSums(*sums) for level, *sums in given["matches"]},
            *given["labels"],
        )


def _text(counts: OrderingTally) -> str:
    return base64.b64encode(counts.pack()).decode()


def _tally(text: str) -> OrderingTally:
    return OrderingTally.unpack(base64.b64decode(text), Protocol())


def examine_kept(picture: PictureSource[Loaded], folder: Path | None, sights: Kept | None = None) -> OrderFindings:
    """:func:`examine` a picture, or read its cached results of the same picture and code from ``folder``.

    What systems see in it is cached among ``sights``, for others.
    """
    loaded = picture.load()
    image, truths, regions = loaded
    parts = [part for truth in truths for part in (_values(truth), truth.labels)]
    systems = [NETWORK in _available()]
    key = key_of(code_key(__name__, SystemViews.__module__), image, regions, *parts, systems)
    path = None if folder is None else folder / f"{picture.name}.json"
    return kept(path, key, lambda: examine(loaded, sights), OrderFindings.to_json, OrderFindings.from_json)


def _values(given: Ordering) -> NDArray[Any]:
    return given.sides if isinstance(given, Sides) else given.order


def _available() -> list[str]:
    """The systems that can be run here."""
    return [name for name in SYSTEMS if name != NETWORK or find_spec("onnxruntime")]


def examine(loaded: Loaded, sights: Kept | None = None) -> OrderFindings:
    """Try all systems on one picture. A truth of labelled contours knows neighbours only; then pairs of regions do not count."""
    image, truths, true_regions = loaded
    views = SystemViews(image, sights)
    dense = views.dense()
    views.keep()
    orders = [whole_order(truth) for truth in truths if isinstance(truth, Sides)]
    found = OrderFindings(
        tally_humans(truths) if len(truths) > 1 else None,
        contradicted=sum(one.violated_pairs > 0 for one in orders),
        labellings=len(orders),
    )
    for regions, kind, reach in ((true_regions, "true", 0), (views.tree.at(LEVEL), "own", REACH)):
        labels = consecutive(regions)
        beside = neighbours(labels)
        by_all, by_tjc = views.ordered(labels)
        given = {CUES: by_all, TJC: by_tjc, UCM_TJ: views.layered(labels)}
        maps = {**dense, **{system: ordered.order for system, ordered in given.items()}}
        for truth in truths:
            true = order_of_pairs(truth, beside, reach=reach)
            for system, order in maps.items():
                middle = region_medians(np.asarray(order, np.float32), beside.labels)
                answers = {
                    "median": np.sign(middle[beside.first] - middle[beside.second]),
                    "along": order_along_contours(order, beside),
                }
                for reading, answer in answers.items():
                    key = (system, f"{kind} regions, {reading}")
                    found.sums[key] = found.sums.get(key, OrderSums()).plus(_sums(answer, true, beside.cracks))
    for level in LEVELS:
        found.matches[f"level {level:g}"] = matched_regions(views.tree.at(level), true_regions)
    known = [with_whole_order(truth) for truth in truths]
    for system, parameter, ordered in views.sweeps(truths[0]):
        found.sweeps[system, parameter] = tally(ordered, known)
    return found


def matched_regions(regions: LabelMap, true_regions: LabelMap) -> MatchSums:
    """Count the small true regions, and the others, that have a region that stands for them (eq. 9 of the paper).

    >>> true = np.array([[0, 0, 0, 0, 1, 2]], np.int32)
    >>> matched_regions(np.array([[0, 0, 0, 0, 0, 1]], np.int32), true)
    MatchSums(small_matched=1, small=2, large_matched=1, large=1, regions=2)
    """
    system, truth = (partition(labels.astype(np.float32), labels) for labels in (regions, true_regions))
    area = np.bincount(truth.labels[truth.labels >= 0], minlength=truth.regions)
    small = area <= np.median(area)
    matched = np.isin(np.arange(truth.regions), match_regions(system, truth))
    counts = (matched & small, small, matched & ~small, ~small)
    return MatchSums(*(int(one.sum()) for one in counts))._replace(regions=system.regions)


def _sums(answer: NDArray[Any], true: NDArray[np.int64], length: NDArray[np.float64]) -> OrderSums:
    asked = np.abs(true) == 1
    right = asked & (answer == true)
    return OrderSums(float(length[right].sum()), float(length[asked].sum()), float(right.sum()), float(asked.sum()))
