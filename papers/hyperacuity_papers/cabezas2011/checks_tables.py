"""Tables 1 to 4 of Cabezas & Trujillo (2011), and what is said about them.

What the tables say of each other is checked on the tables as printed. Whether they come out of the server's errors needs these
errors, which are not public: :mod:`~hyperacuity_papers.cabezas2011.server_table` takes them as a file.
"""

from __future__ import annotations

import itertools

import numpy as np

from hyperacuity_papers.cabezas2011.server_table import NAMES, PAPER_TABLES, READINGS, ServerTable, names_of, plain
from hyperacuity_papers.cabezas2011.stereo_scenarios import Scenario
from hyperacuity_papers.cabezas2011.study import Cabezas2011
from hyperacuity_papers.common.claims import Finding, NotRunError, expect, incomparable


def scenario_of(study: Cabezas2011, name: str) -> Scenario:
    """The field's scenario of that name."""
    found = next((one for one in study.field if one.name == name), None)
    if found is None:
        raise NotRunError(f"no system takes part in the scenario {name}")
    return found


def _server(study: Cabezas2011) -> ServerTable:
    if study.server is None:
        raise NotRunError("needs a table of the server (--table)")
    return study.server


def membership(study: Cabezas2011, table: str) -> Finding:
    """Compare the expected and the actual sets under both readings; holds if one of them gives just the paper's set."""
    server = _server(study)
    found = [one for reading in READINGS if (one := server.membership(table, reading)) is not None]
    if not found:
        raise NotRunError("the server's table has no local system")
    there, count = len(found[0].expected), len(found[0].expected) + len(found[0].absent)
    ours = f"{there} of the {count} are in {server.path.name}"
    if not there:
        sizes = " and ".join(f"{len(one.found)} by {NAMES[one.reading]}" for one in found)
        ours += f", where {sizes} are optimal"
        return incomparable(ours, "the rows of 2011 are not public any more; --table takes them")
    ours += "; optimal " + ", ".join(f"{there - len(one.lost)} by {NAMES[one.reading]}" for one in found)
    if all(one.status == "contradicted" for one in found):
        lost = ", ".join(sorted({name for one in found for name in one.lost}))
        return Finding(ours, "fails", f"dominated in this table, so not optimal in any larger one: {lost}")
    if any(one.status == "reproduced" for one in found):
        return Finding(ours, "holds")
    return incomparable(ours, "the table differs from the paper's; what of the paper's set is there is optimal")


def top_fifteen(study: Cabezas2011) -> Finding:
    server = _server(study)
    there = {plain(name) for name in server.table.systems}
    present = [name for name in names_of("Table 1") if plain(name) in there]
    top = {plain(name) for name in server.top}
    right = sum(plain(name) in top for name in present)
    ours = f"{len(present)} of the 15 are in {server.path.name}, {right} of them among its first {len(server.top)}"
    if len(present) < len(PAPER_TABLES["Table 1"]):
        return incomparable(ours, "the rows of 2011 are not public any more; --table takes them")
    return expect(right == len(present), ours, "others rank before some of them in this table")


def decision(study: Cabezas2011) -> Finding:
    server = _server(study)
    contradicted = {
        reading: any(one.status == "contradicted" for one in server.memberships if one.reading == reading)
        for reading in READINGS
    }
    checked = any(one.expected for one in server.memberships)
    sets = {
        reading: sum(len(one.found) for one in server.memberships if one.reading == reading) for reading in READINGS
    }
    ours = f"members of all sets: {sets['concat']} concatenated, {sets['mean']} as means. {server.verdict()}"
    if checked and sum(contradicted.values()) == 1:
        return Finding(ours, "holds")
    return incomparable(ours, "only the rows of 2011 can tell, and they are not public any more")


def ascending(study: Cabezas2011, table: str) -> Finding:
    rows = PAPER_TABLES[table]
    wrong = [after.name for before, after in itertools.pairwise(rows) if after.average_rank < before.average_rank]
    return expect(
        not wrong,
        f"{len(rows) - len(wrong)} of {len(rows)} in order",
        f"{', '.join(wrong)} has a smaller average rank than the system before it: a misprint, probably of 34.0",
    )


def beyond_the_top(study: Cabezas2011, table: str) -> Finding:
    other = [name for name in names_of(table) if name not in names_of("Table 1")]
    return expect(bool(other), f"{', '.join(other)} by the tables", "none")


def missing_from_top(study: Cabezas2011, table: str) -> Finding:
    gone = [name for name in names_of("Table 1") if name not in names_of(table)]
    return expect(bool(gone), f"{', '.join(gone)} by the tables", "none")


def distant(study: Cabezas2011) -> Finding:
    ranks = [row.rank for row in PAPER_TABLES["Table 2"]]
    ranking = scenario_of(study, "dense").concat
    places = ranking.place[ranking.optimal]
    own = f"in our field places {places.min()} to {places.max()} of {len(ranking.systems)}"
    return expect(
        max(ranks) > 2 * len(ranks), f"ranks {min(ranks)} to {max(ranks)} by the table; {own}", "they are close"
    )


def nested(study: Cabezas2011) -> Finding:
    inside = set(names_of("Table 3")) <= set(names_of("Table 2"))
    dense, semi = (scenario_of(study, name) for name in ("dense", "semi-dense"))
    both = set(semi.optimal()) <= set(dense.optimal()) | {name for name, _ in dense.left_out}
    own = f"our {len(semi.optimal())} of {len(dense.optimal())}" if both else "ours not"
    return expect(inside and both, f"all 13 by the tables; {own}", "a system is optimal by fewer criteria only")


def own_scenario(study: Cabezas2011, name: str) -> Finding:
    one = scenario_of(study, name)
    sizes = [len(one.optimal(reading)) for reading in READINGS]
    return incomparable(
        f"{sizes[0]} of {len(one.concat.systems)} concatenated, {sizes[1]} as means",
        "other systems than the server's",
    )


def best_local(study: Cabezas2011, kind: str) -> Finding:
    one = study.parts()[kind][-1]
    order = np.argsort(one.concat.average_rank, kind="stable")
    first, members = one.concat.systems[int(order[0])], one.optimal()
    return expect(
        len(members) > 1,
        f"{first} ranks first of {len(order)} techniques; optimal: {', '.join(members)}",
        f"{first} ranks first and dominates all others: rank and dominance agree here",
    )


def adaptive(study: Cabezas2011) -> Finding:
    """Check that techniques come in the order of what they look at: windows, census, then windows that keep to surfaces."""
    names = ("cost-filter", "adaptive-weights", "census", "sad")
    chosen = study.table.select(systems=list(names), criteria=["nonocc"])
    errors = dict(zip(chosen.systems, chosen.values[:, :, 0], strict=True))
    means = ", ".join(f"{name} {errors[name].mean():.2f} %" for name in names)
    kept = {
        "cost-filter before adaptive-weights": errors["cost-filter"] < errors["adaptive-weights"],
        "both before census": np.maximum(errors["cost-filter"], errors["adaptive-weights"]) < errors["census"],
        "census before sad": errors["census"] < errors["sad"],
    }
    told = ", ".join(f"{what} on {int(holds.sum())}" for what, holds in kept.items())
    ours = f"bad({study.delta:g}) nonocc {means}; of {len(study.table.images)} pairs {told}"
    if not study.on_middlebury:
        return incomparable(ours, "other pairs than the paper's")
    first = errors["cost-filter"].mean() < errors["adaptive-weights"].mean()
    return expect(bool(first), ours, "adaptive weights have fewer bad pixels here")
