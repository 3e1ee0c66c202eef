"""The edge measures as a task, and the columns of its tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hyperacuity.columns import Column, Columns, Lines
from hyperacuity.edges.benchmark import EdgeScore, EdgeTally, Protocol, collect, criteria, tally, wins
from hyperacuity.edges.names import measure
from hyperacuity.tally import Signature
from hyperacuity.tasks import Task


def columns(protocol: Protocol) -> Columns:
    """The measures, by the papers' symbols, with the mean threshold of each."""
    widest = max(map(len, protocol.names))
    return Columns(
        tuple(_minimum(m, name) for m, name in enumerate(protocol.names)),
        tuple(column for m, name in enumerate(protocol.names) for column in _more(m, name)),
        Lines(
            "measure",
            ("minimum", "threshold", "wins"),
            {
                f"{name.ljust(widest)}  {measure(name).symbol}": (name, f"threshold of {name}", f"wins of {name}")
                for name in protocol.names
            },
            by_line=True,
        ),
        across=_wins,
        as_dict=as_dict,
    )


def _minimum(m: int, name: str) -> Column:
    return Column(
        name,
        measure(name).symbol,
        "min",
        4,
        f"{name}: mean over images of the least score",
        value=lambda score: float(score.minimum[m]),
        interval=lambda score: score.interval[m],
        screen_digits=4,
    )


def _more(m: int, name: str) -> tuple[Column, Column]:
    threshold, won = f"threshold of {name}", f"wins of {name}"
    return (
        Column(threshold, threshold, "", 1, value=lambda score: float(score.threshold[m])),
        Column(won, won, "", 1, screen_digits=1),
    )


def _wins(systems: Mapping[str, Mapping[str, EdgeTally]]) -> dict[str, dict[str, float]]:
    """Images on which each system has the lowest minimum, by measure; nothing for one system."""
    if len(systems) < 2:
        return {}
    names = next(iter(next(iter(systems.values())).values())).protocol.names  # type: ignore[attr-defined]  # of edges
    return {
        system: {f"wins of {name}": float(won) for name, won in zip(names, row, strict=True)}
        for system, row in wins(systems).items()
    }


def as_dict(score: EdgeScore, system: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A system's least score by each measure, with its interval and threshold."""
    measures: dict[str, Any] = {}
    for m, name in enumerate(score.protocol.names):
        best = {"minimum": float(score.minimum[m]), "interval": score.interval[m].tolist()}
        won = {"wins": values[f"wins of {name}"]} if f"wins of {name}" in values else {}
        measures[name] = best | {"threshold": float(score.threshold[m])} | won
    return {"images": score.images, "measures": measures}


MEASURES: dict[str, tuple[str, ...]] = {
    "pm": ("grigorescu2003",),
    "phi": ("venkatesh1995",),
    "chi2": ("yitzhaky2003",),
    "f_alpha": ("martin2004",),
    "fom": ("abdou1979",),
    "fom_e": ("strasters1991",),
    "f_pinho": ("pinho1995",),
    "d4": ("boaventura2009",),
    "sfom": ("abdulrahman2017normalized",),
    "mfom": ("abdulrahman2017normalized",),
    "dp": ("panetta2016",),
    "yasnoff": ("yasnoff1978",),
    "hausdorff": ("huttenlocher1993",),
    "dk": ("peli1982", "dubuisson1994", "lopezmolina2013"),
    "f2d6": ("dubuisson1994",),
    "theta": ("haralick1984", "odet2002"),
    "omega": ("haralick1984", "odet2002"),
    "baddeley": ("baddeley1992",),
    "sk": ("dubuisson1994", "lopezmolina2013"),
    "gamma": ("magnier2016",),
    "psi": ("magnier2017", "abdulrahman2017normalized"),
}
"""Sources of the measures of edges, after Tables 1 to 3 of Abdulrahman, Magnier & Montesinos (2017)."""


def references(signature: Signature) -> list[str]:
    """The paper of the study, and those that the measures in a signature come from; ``paper`` is all of them."""
    measures = dict(signature.parts).get("measures", "paper")
    families = MEASURES if measures == "paper" else re.findall(r"[a-z]\w*(?![\w=])", measures)
    return ["abdulrahman2017", *(key for family in families for key in MEASURES.get(family, ()))]


TASK: Task[Protocol, EdgeTally, EdgeScore] = Task(
    "edges",
    "Edges",
    Protocol,
    EdgeTally,
    tally,
    collect,
    criteria,
    references=references,
    examples=lambda scene: [(scene.soft, scene.boundaries, {})],
    columns=columns,
)
