"""Tables 1 to 4 of Cabezas & Trujillo (2011) against a table of the Middlebury server: expected and actual sets.

The errors that the paper evaluated were the server's of early 2011, and are not public any more. Whoever has them gives them as
a CSV file: a row per system, its name first, and a column ``IMAGE_nonocc``, ``IMAGE_all`` and ``IMAGE_disc`` per image with the
percentage of bad pixels; a column ``local`` (1 or 0) says which systems are local, and further columns do no harm.

A system that nothing dominates among all systems is dominated by none of any part of them. So those of the paper's
optimal sets that a table has must be optimal there, whatever else is missing (*lost* systems contradict the paper);
others may become optimal where what dominates them is missing (*extra* systems contradict it only if none is).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hyperacuity.compare import Table, average_rank
from hyperacuity.data import read_table
from hyperacuity.errors import InputError
from hyperacuity_papers.cabezas2011.stereo_scenarios import DENSE, Scenario, scenarios

Reading = Literal["concat", "mean"]
READINGS: tuple[Reading, ...] = ("concat", "mean")
NAMES = {"concat": "concatenated vectors", "mean": "mean vectors"}

Status = Literal["reproduced", "consistent", "contradicted", "nothing to check"]


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper's tables: a system with its average rank and its rank on the server."""

    name: str
    average_rank: float
    rank: int


_RANKED = tuple(
    PaperRow(name, average, rank)
    for name, average, rank in (
        ("ADCensus", 5.3, 1),
        ("AdaptingBP", 6.6, 2),
        ("CoopRegion", 6.7, 3),
        ("DoubleBP", 9.1, 4),
        ("RDP", 9.7, 5),
        ("OutlierConf", 10.2, 6),
        ("SubPixDoubleBP", 13.6, 7),
        ("SurfaceStereo", 14.3, 8),
        ("WarpMat", 15.9, 9),
        ("ObjectStereo", 16.2, 10),
        ("Undr+OvrSeg", 21.0, 11),
        ("GC+SegmBorder", 21.5, 12),
        ("GlobalGCP", 22.1, 13),
        ("CostFilter", 22.4, 14),
        ("AdaptOvrSegBP", 23.3, 15),
        ("P-LinearS", 23.6, 16),
        ("GeoSup", 25.5, 18),
        ("AdaptDispCalib", 28.4, 22),
        ("DistinctSM", 32.3, 28),
        ("LocallyConsist", 24.0, 32),
        ("CostAggr+occ", 35.3, 34),
        ("PUTV3", 38.8, 37),
        ("GradAdaptWeight", 40.1, 38),
        ("AdaptWeight", 41.6, 40),
    )
)


def _of_ranks(*ranks: int) -> tuple[PaperRow, ...]:
    return tuple(row for row in _RANKED if row.rank in ranks)


PAPER_TABLES: dict[str, tuple[PaperRow, ...]] = {
    "Table 1": _of_ranks(*range(1, 16)),
    "Table 2": _of_ranks(*range(1, 14), 15, 16, 37),
    "Table 3": _of_ranks(*range(1, 9), 10, 11, 15, 16, 37),
    "Table 4": _of_ranks(18, 22, 28, 32, 34, 38, 40),
}
"""Tables as printed, except for the sign in CostAggr+occ, which is lost there."""

SCENARIO_OF = {"Table 2": "dense", "Table 3": "semi-dense", "Table 4": "local, semi-dense"}

LOCAL_SYSTEMS = (*(row.name for row in PAPER_TABLES["Table 4"]), "SAD", "SSD", "BMS")
"""Systems of the server that are known to be local, where a table does not say so."""


def names_of(table: str) -> tuple[str, ...]:
    """The systems in a table of the paper."""
    return tuple(row.name for row in PAPER_TABLES[table])


def plain(name: str) -> str:
    """A system's name without what is written differently in different places: case, spaces, dashes, a reference.

    >>> plain("AdaptOvrSegBP [33]"), plain("P-LinearS")
    ('adaptovrsegbp', 'plinears')
    """
    return re.sub(r"[\s_*–-]+", "", re.sub(r"\s*\[\d+\]\s*$", "", name)).lower()


@dataclass(frozen=True)
class Membership:
    """A table of the paper under one reading: which of its systems the server table has, and which are found in the set."""

    table: str
    reading: Reading
    expected: tuple[str, ...]
    absent: tuple[str, ...]
    found: tuple[str, ...]

    @property
    def lost(self) -> tuple[str, ...]:
        """Expected and there, but dominated."""
        there = {plain(name) for name in self.found}
        return tuple(name for name in self.expected if plain(name) not in there)

    @property
    def extra(self) -> tuple[str, ...]:
        """Found, but not expected: what dominates them may be missing."""
        wanted = {plain(name) for name in (*self.expected, *self.absent)}
        return tuple(name for name in self.found if plain(name) not in wanted)

    @property
    def status(self) -> Status:
        """Verdict on the paper's table."""
        if not self.expected:
            return "nothing to check"
        if self.lost:
            return "contradicted"
        return "consistent" if self.absent or self.extra else "reproduced"

    def as_dict(self) -> dict[str, Any]:
        """Return a record for JSON and CSV."""
        parts = ("table", "reading", "status", "expected", "absent", "found", "lost", "extra")
        return {name: getattr(self, name) for name in parts}


@dataclass(frozen=True, eq=False)
class ServerTable:
    """A server table, evaluated in each scenario; ``top`` are the fifteen of least average rank, by name."""

    path: Path
    table: Table
    scenarios: list[Scenario]
    top: tuple[str, ...]
    memberships: tuple[Membership, ...]

    def membership(self, table: str, reading: Reading = "concat") -> Membership | None:
        """One table of the paper under one reading; None where its scenario was not evaluated."""
        return next((one for one in self.memberships if (one.table, one.reading) == (table, reading)), None)

    def verdict(self) -> str:
        """Say which way to make vectors gives the paper's sets."""
        return decided({reading: [one for one in self.memberships if one.reading == reading] for reading in READINGS})

    def as_dict(self) -> dict[str, Any]:
        """Return a dict for JSON."""
        return {
            "file": self.path,
            "scenarios": [one.as_dict() for one in self.scenarios],
            "top": self.top,
            "memberships": [one.as_dict() for one in self.memberships],
            "verdict": self.verdict(),
        }


def decided(memberships: dict[Reading, list[Membership]]) -> str:
    """Return the reading of the paper that its tables support.

    >>> table = Membership("Table 2", "concat", ("A", "B"), (), ("A", "B"))
    >>> decided({"concat": [table], "mean": [Membership("Table 2", "mean", ("A", "B"), (), ("A",))]})
    'Concatenated vectors reproduce Table 2; mean vectors contradict Table 2, without B: the paper has concatenated vectors.'
    """
    told = {reading: _told(found) for reading, found in memberships.items()}
    if not any(one.expected for found in memberships.values() for one in found):
        return "None of the systems in the paper's optimal sets is in this table: it cannot tell how the paper made its vectors."
    contradicted = [name for name, found in memberships.items() if any(one.status == "contradicted" for one in found)]
    left = [NAMES[name] for name in memberships if name not in contradicted]
    end = {
        0: "these are not the errors that the paper had",
        1: f"the paper has {left[0]}" if left else "",
        2: "both ways to make vectors agree with the paper, so this table does not decide",
    }[len(left)]
    sentence = "; ".join(f"{NAMES[name]} {what}" for name, what in told.items())
    return f"{sentence[0].upper()}{sentence[1:]}: {end}."


def _told(found: Sequence[Membership]) -> str:
    parts: list[str] = []
    verbs = {"reproduced": "reproduce", "consistent": "agree with", "contradicted": "contradict"}
    for status, verb in verbs.items():
        tables = [one for one in found if one.status == status]
        if tables:
            lost = sorted({name for one in tables for name in one.lost})
            without = f", without {', '.join(lost)}" if lost else ""
            parts.append(f"{verb} {' and '.join(one.table for one in tables)}{without}")
    return " and ".join(parts) or "have nothing to be checked by"


def read_server_table(path: Path) -> ServerTable:
    """Read and evaluate a server table; ``InputError`` where a column is missing or a percentage cannot be one."""
    rows = read_table(path)
    images = [column.removesuffix("_nonocc") for column in rows.columns if column.endswith("_nonocc")]
    if not images:
        raise InputError(
            f"{path}: has no column such as tsukuba_nonocc, expected IMAGE_nonocc, IMAGE_all and IMAGE_disc"
        )
    for image in images:
        if missing := [f"{image}_{region}" for region in DENSE if f"{image}_{region}" not in rows.columns]:
            raise InputError(f"{path}: has no column {missing[0]}, expected nonocc, all and disc of each image")
    values = np.stack([[rows.column(f"{image}_{region}") for region in DENSE] for image in images]).transpose(2, 0, 1)
    wrong = ~((values >= 0) & (values <= 100))
    if wrong.any():
        s, i, r = np.argwhere(wrong)[0].tolist()
        cell = f"{images[i]}_{DENSE[r]} of {rows.names[s]}"
        raise InputError(f"{path}: {cell} is {values[s, i, r]:g}, expected a percentage from 0 to 100")
    table = Table(rows.names, tuple(images), DENSE, ("min",) * 3, values.copy(), "server table, δ = 1")
    known = {plain(name) for name in LOCAL_SYSTEMS}
    is_local = rows.column("local") == 1 if "local" in rows.columns else [plain(name) in known for name in rows.names]
    found = scenarios(table, [name for name, yes in zip(rows.names, is_local, strict=True) if yes])
    order = np.argsort(average_rank(table.vectors("concat")[0]), kind="stable")[:15]
    top = tuple(rows.names[i] for i in order)
    return ServerTable(path, table, found, top, tuple(_memberships(rows.names, found)))


def _memberships(systems: Sequence[str], found: Sequence[Scenario]) -> list[Membership]:
    there = {plain(name) for name in systems}
    by_name = {scenario.name: scenario for scenario in found}
    return [
        Membership(
            table,
            reading,
            tuple(name for name in names_of(table) if plain(name) in there),
            tuple(name for name in names_of(table) if plain(name) not in there),
            tuple(by_name[scenario].optimal(reading)),
        )
        for table, scenario in SCENARIO_OF.items()
        if scenario in by_name
        for reading in READINGS
    ]
