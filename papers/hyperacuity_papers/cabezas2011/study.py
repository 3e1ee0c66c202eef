"""The experiments of Cabezas & Trujillo (2011): Pareto dominance in stereo vision, on this package's systems and the server's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.compare import Table, stability
from hyperacuity.compare.criteria import table_of
from hyperacuity.data import Sample
from hyperacuity.data.scenes import write_scenes
from hyperacuity.detect.stereo import LOCAL, Matcher, matcher
from hyperacuity.disparity import Protocol, ViewProtocol
from hyperacuity.errors import UsageError
from hyperacuity.kinds import Inputs
from hyperacuity.kinds.disparity import DisparityKind, ViewKind, stereo_samples
from hyperacuity.run.jobs import job_for
from hyperacuity.run.many import Failures, failures_of, tally_cells, write_csv
from hyperacuity.systems.maps import match_scenes
from hyperacuity.tally import BaseProtocol, number
from hyperacuity.tasks import task
from hyperacuity_papers.cabezas2011.one_pair import SIGMAS, OnePair, one_pair
from hyperacuity_papers.cabezas2011.server_table import ServerTable, read_server_table
from hyperacuity_papers.cabezas2011.stereo_scenarios import DENSE, HEADINGS, Scenario, scenarios

MIDDLEBURY = "middlebury-v2"
DELTAS = (0.5, 1.0, 2.0)
"""Error thresholds in pixels; the paper's is 1."""

SCENE_COUNT, SCENE_SIZE = 4, (240, 160)
"""Scenes made when Middlebury's pairs are not at hand."""

FIELD: Mapping[str, tuple[dict[str, float], ...]] = {
    "sad": ({"window": 5}, {"window": 13}, {"window": 21}),
    "ssd": ({"window": 5}, {"window": 13}),
    "census": ({"window": 3}, {"window": 5}, {"window": 15}),
    "adaptive-weights": ({"window": 21},),
    "cost-filter": ({"window": 9}, {"epsilon": 0.01}),
    "dp": ({"small": 15, "large": 60}, {"small": 60, "large": 240}),
    "sgm": ({"small": 15, "large": 60}, {"small": 60, "large": 240}, {"paths": 4}),
    "bp": ({"smooth": 1}, {"smooth": 4}),
}
"""The techniques, and their settings besides the default and ``fill=1``."""

FIELD_HEADINGS = ("system", *(f"bad(δ) {region} %" for region in DENSE), "covered %", "s per pair", "in A*", "group")


def settings(technique: str) -> list[Matcher]:
    """A technique as it is by default, filled, and under other parameters: the systems of an intra-technique comparison.

    >>> [str(one) for one in settings("bp")]
    ['bp', 'bp(fill=1)', 'bp(smooth=1)', 'bp(smooth=4)']
    """
    others = [matcher(technique, **options) for options in FIELD[technique]]
    return [matcher(technique), matcher(technique, fill=1), *others]


@dataclass(frozen=True, eq=False)
class Cabezas2011:
    """All results.

    ``tables`` holds, by error threshold, the percentages of bad pixels, systems × images × regions; ``delta`` is the threshold
    that the scenarios are about. ``views`` are the errors of views predicted from the maps. ``cover`` is the share of pixels
    with an answer, on the image where that is least, and ``seconds`` how long a pair takes. ``field`` are the scenarios of all
    systems, ``inter`` of the techniques as they are by default, ``filled`` of the techniques with holes checked and filled, and
    ``intra`` the dense scenario of each technique's settings. ``stability`` is how often a resampled set of images leaves each
    system of the field optimal. ``notes`` say what was left out.
    """

    data_set: str
    signature: str
    delta: float
    tables: dict[float, Table]
    views: Table
    cover: dict[str, float]
    seconds: dict[str, float]
    field: list[Scenario]
    inter: list[Scenario]
    filled: list[Scenario]
    intra: dict[str, Scenario]
    stability: dict[str, float]
    pair: OnePair
    server: ServerTable | None
    notes: tuple[str, ...]
    failures: Failures

    @property
    def table(self) -> Table:
        """The percentages of bad pixels that the scenarios are about."""
        return self.tables[self.delta]

    @property
    def on_middlebury(self) -> bool:
        """True if the pairs are the paper's."""
        return self.data_set == MIDDLEBURY

    def errors(self, system: str) -> NDArray[np.float64]:
        """Mean over the pairs of the percentage of bad pixels in nonocc, all and disc."""
        mean: NDArray[np.float64] = self.table.select(systems=[system]).values[0].mean(axis=0)
        return mean

    def field_rows(self) -> list[list[str]]:
        """The cells below :data:`FIELD_HEADINGS`, techniques in their order; a system with holes has no group."""
        dense = next((one for one in self.field if one.name == "dense"), None)
        names = () if dense is None else dense.concat.systems
        group = {} if dense is None else dict(zip(names, dense.concat.group.tolist(), strict=True))
        return [
            [
                name,
                *(f"{value:.2f}" for value in self.errors(name)),
                f"{100 * self.cover[name]:.1f}",
                f"{self.seconds[name]:.2f}",
                "yes" if group.get(name) == 0 else "",
                str(group[name] + 1) if name in group else "has holes",
            ]
            for name in self.table.systems
        ]

    def parts(self) -> dict[str, list[Scenario]]:
        """Collect all comparisons of this package's systems."""
        return {"field": self.field, "inter": self.inter, "filled": self.filled, "intra": [*self.intra.values()]}

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""
        return {
            "data set": self.data_set,
            "signature": self.signature,
            "systems": [dict(zip(FIELD_HEADINGS, row, strict=True)) for row in self.field_rows()],
            **{kind: [one.as_dict() for one in found] for kind, found in self.parts().items()},
            "intra": {name: one.as_dict() for name, one in self.intra.items()},
            "server": None if self.server is None else self.server.as_dict(),
            "stability": self.stability,
            "roc": {name: vars(one) for name, one in self.pair.standing.items()},
            "consistency": {"sigma": SIGMAS, **self.pair.consistency},
            "notes": self.notes,
        }

    def write_tables(self, folder: Path) -> None:
        """Write CSV files: one per scenario, one of all systems, and one of the paper's memberships."""
        write_csv(folder / "systems.csv", [dict(zip(FIELD_HEADINGS, row, strict=True)) for row in self.field_rows()])
        named = {f"{kind}-{one.name}": one for kind in ("field", "inter", "filled") for one in self.parts()[kind]}
        named |= {f"intra-{name}": one for name, one in self.intra.items()}
        if self.server is not None:
            named |= {f"server-{one.name}": one for one in self.server.scenarios}
        for name, one in named.items():
            records = [dict(zip(HEADINGS, row, strict=True)) for row in one.rows()]
            write_csv(folder / f"{name.replace(', ', '-')}.csv", records)
        if self.server is not None and self.server.memberships:
            rows = [
                {key: "; ".join(value) if isinstance(value, tuple) else value for key, value in one.as_dict().items()}
                for one in self.server.memberships
            ]
            write_csv(folder / "memberships.csv", rows)


def cabezas2011(
    folder: Path,
    *,
    data_set: str | None = None,
    data: Path | None = None,
    delta: float = 1.0,
    table: Path | None = None,
    systems: Sequence[Matcher] = (),
    workers: int | None = None,
) -> Cabezas2011:
    """Judge the field of stereo systems, and a table of the Middlebury server.

    Maps and runs go to ``folder``, where they are resumed. ``data_set`` is by default Middlebury's four pairs or, where these are
    not found, scenes made for the purpose. ``delta`` is the error threshold in pixels, ``table`` the server's table (by
    default the ten rows next to the pairs, if they are there), and ``systems`` takes part besides the field.
    """
    server = None if table is None else read_server_table(table)
    pairs = _pairs(data_set, data, folder)
    everyone = {str(one): one for one in (*(one for name in FIELD for one in settings(name)), *systems)}
    matched = match_scenes(pairs.scenes, list(everyone.values()), folder / "maps", workers, reuse=True)
    inputs, viewed = (kind().find(matched.folders, pairs.source, data=data) for kind in (DisparityKind, ViewKind))
    protocol: Protocol = inputs.agree(Protocol(DELTAS if delta == 1 else (delta,), DENSE))
    whole, unscored = _scores(inputs, protocol, folder / "run", workers)
    views, unseen = _scores(viewed, ViewProtocol(), folder / "views", workers)
    tables = {one: _bad_pixels(whole, one) for one in protocol.deltas}
    judged, cover = tables[delta], _cover(whole)
    kinds = {name: everyone[name].base for name in judged.systems}
    return Cabezas2011(
        pairs.name,
        str(protocol.signature),
        delta,
        tables,
        views,
        cover,
        {name: matched.mean_seconds(name) for name in judged.systems},
        _compared(judged, kinds, cover),
        _compared(judged, {name: base for name, base in kinds.items() if name == base}, cover),
        _compared(judged, {name: base for name, base in kinds.items() if name == f"{base}(fill=1)"}, cover),
        {technique: _compared(judged, _settings_of(technique, kinds), cover)[0] for technique in FIELD},
        dict(zip(judged.systems, stability(judged).tolist(), strict=True)),
        one_pair(pairs.scenes, inputs, matched.folders, folder, delta=delta, workers=workers),
        server or pairs.server(),
        pairs.notes,
        [*matched.failures, *unscored, *unseen],
    )


@dataclass(frozen=True)
class StereoPairs:
    """The pairs that a study runs on: the data set's name, what to look it up by, its scenes, and what was left out."""

    name: str
    source: str
    scenes: Mapping[str, Sample]
    notes: tuple[str, ...] = ()

    def server(self) -> ServerTable | None:
        """The table of ten systems next to the pairs, if there is one."""
        path = next(iter(self.scenes.values())).truths[0].parents[1] / "server-table-10.csv"
        return read_server_table(path) if path.is_file() else None


def _pairs(data_set: str | None, data: Path | None, folder: Path) -> StereoPairs:
    """Return the pairs of the data set asked for, else Middlebury's pairs, else scenes."""
    if data_set is not None:
        return StereoPairs(Path(data_set).name, data_set, stereo_samples(data_set, data))
    try:
        return StereoPairs(MIDDLEBURY, MIDDLEBURY, stereo_samples(MIDDLEBURY, data))
    except UsageError:
        made = folder / "scenes"
        write_scenes(made, range(1, 1 + SCENE_COUNT), size=SCENE_SIZE)
        note = f"Middlebury's four pairs are not at hand: {SCENE_COUNT} made scenes instead, and no server table"
        return StereoPairs("scenes", str(made), stereo_samples(str(made)), (note,))


def _scores(inputs: Inputs, protocol: BaseProtocol, run: Path, workers: int | None) -> tuple[Table, Failures]:
    """Collect all criteria of all systems, and what failed."""
    outcome = tally_cells(job_for(task(protocol.task), protocol, inputs.kind), list(inputs), run, workers)
    return table_of(outcome.tallies), failures_of(outcome)


def _bad_pixels(table: Table, delta: float) -> Table:
    """The percentages of bad pixels, criteria named after the regions."""
    return replace(table.select(criteria=[f"bad({number(delta)}) {region}" for region in DENSE]), criteria=DENSE)


def _cover(table: Table) -> dict[str, float]:
    """The share of the pixels of known truth with an answer, on the image where that is least."""
    shares = table.select(criteria=["density all"]).values[:, :, 0].min(axis=1) / 100
    return dict(zip(table.systems, shares.tolist(), strict=True))


def _settings_of(technique: str, kinds: Mapping[str, str]) -> dict[str, str]:
    return {name: base for name, base in kinds.items() if base == technique}


def _compared(table: Table, kinds: Mapping[str, str], cover: Mapping[str, float]) -> list[Scenario]:
    """The scenarios of some systems; ``kinds`` is system → technique."""
    part = table.select(systems=list(kinds))
    return scenarios(part, [name for name, base in kinds.items() if base in LOCAL], cover=cover)
