"""The edge measures as a task."""

import re

from hyperacuity.edges.benchmark import EdgeScore, EdgeTally, Protocol, collect, criteria, tally
from hyperacuity.edges.columns import columns
from hyperacuity.tally import Signature, Task

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
