"""Whom to cite: the papers behind a benchmark, a named protocol, or what a result was measured with, as BibTeX.

The entries stand in ``references.bib`` beside this module. What could not be looked up (pages, volumes) is left out there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from hyperacuity.errors import UsageError
from hyperacuity.run.gather import gather
from hyperacuity.tally import BaseProtocol, Signature
from hyperacuity.tasks import names, task

if TYPE_CHECKING:
    from hyperacuity.evaluation.result import Result

TASKS: dict[str, tuple[str, ...]] = {
    "boundary": ("martin2004", "arbelaez2011"),
    "edges": ("abdulrahman2017",),
    "semantic": ("hariharan2011",),
    "regions": ("arbelaez2011", "unnikrishnan2007", "meila2005"),
    "ordering": ("palou2014", "maire2016"),
    "occlusion": ("wang2016",),
    "whdr": ("bell2014", "zoran2015"),
    "dbe": ("koch2018",),
    "disparity": ("scharstein2002", "cabezas2011"),
    "masks": ("perazzi2016", "cheng2021"),
    "views": ("szeliski1999", "cabezas2011"),
    "audit": ("hou2013", "martin2004"),
    "strength": ("hou2013", "martin2004"),
}
"""The papers that a benchmark is made after."""

PROTOCOLS: dict[tuple[str, str], tuple[str, ...]] = {
    ("boundary", "nyud"): ("silberman2012", "liu2017"),
    ("boundary", "crisp"): ("huan2022",),
    ("boundary", "biped"): ("soria2020",),
    ("boundary", "pascal-context"): ("ponttuset2013", "maninis2019"),
    ("boundary", "nyud-multitask"): ("silberman2012", "ponttuset2013", "bruggemann2021"),
    ("boundary", "multicue-edge"): ("mely2016", "liu2017"),
    ("boundary", "multicue-boundary"): ("mely2016", "liu2017"),
    ("semantic", "sbd-thin"): ("yu2017", "yu2018"),
    ("semantic", "sbd-raw"): ("yu2017", "yu2018"),
    ("semantic", "cityscapes-thin"): ("yu2017", "yu2018", "cordts2016"),
    ("semantic", "cityscapes-raw"): ("yu2017", "yu2018", "cordts2016"),
    ("occlusion", "doobnet"): ("wang2018",),
    ("whdr", "diw"): ("chen2016",),
    ("masks", "davis2017"): ("ponttuset2017",),
}
"""What is cited besides, by task and name, for a protocol that was asked for by its name."""

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
"""Where each measure of edges comes from, as Tables 1 to 3 of Abdulrahman, Magnier & Montesinos (2017) say."""


def cite(what: Result | BaseProtocol | Signature | str) -> str:
    """The references of a result, a benchmark, a protocol or a signature, as BibTeX.

    A text is the name of a benchmark (``"boundary"``), of a protocol (``"nyud"``, or ``"masks davis2017"`` with its benchmark's),
    or a signature. A result adds the bootstrap, and Holm's correction where several systems were tested. ``UsageError`` for
    anything else; nothing for a benchmark of another package, whose papers this one does not know.

    Examples
    --------
    >>> print(cite("crisp").split("@")[-1].splitlines()[0])
    article{huan2022,
    >>> [entry.partition("{")[2].partition(",")[0] for entry in cite("edges|measures:psi|thr:101|v:1").split("\\n\\n")]
    ['abdulrahman2017', 'magnier2017', 'abdulrahman2017normalized']
    """
    return bibtex(keys_of(what))


def bibtex(keys: Iterable[str]) -> str:
    """The entries of these keys, each once, with an empty line between them."""
    return "\n\n".join(_entries()[key] for key in dict.fromkeys(keys)) + "\n"


def keys_of(what: Result | BaseProtocol | Signature | str) -> list[str]:
    """The keys of what :func:`cite` gives, the most general first."""
    if isinstance(what, BaseProtocol):
        return _of_signature(what.signature)
    if isinstance(what, Signature):
        return _of_signature(what)
    if isinstance(what, str):
        return _of_text(what)
    return _of_scores(what.signature, len(what.systems))


def keys_of_run(folder: Path) -> list[str]:
    """The keys of what was measured in a run folder."""
    return [key for grid in gather([folder]) for key in _of_scores(grid.signature, len(grid.sources))]


def _of_scores(signature: Signature, systems: int) -> list[str]:
    """With intervals, and with tests that are corrected where there are several."""
    return [*_of_signature(signature), "efron1993", *(["holm1979"] if systems > 2 else [])]


def _of_signature(signature: Signature) -> list[str]:
    """A benchmark's references, and those of parts that have their own; which data a protocol was named for, it does not say."""
    parts = dict(signature.parts)
    keys = list(TASKS.get(signature.task, ()))
    if parts.get("nms", "none") != "none":
        keys.append("dollar2015")
    if parts.get("precision") == "mean":
        keys.append("hou2013")
    if signature.task == "edges":
        keys += [key for family in _families(parts.get("measures", "paper")) for key in MEASURES.get(family, ())]
    return list(dict.fromkeys(keys))


def _families(measures: str) -> list[str]:
    """The measures that a signature names, without their options; ``paper`` is all of them."""
    return list(MEASURES) if measures == "paper" else re.findall(r"[a-z]\w*(?![\w=])", measures)


def _of_text(text: str) -> list[str]:
    if "|" in text:
        return _of_signature(Signature.parse(text))
    if text in names():
        return _of_signature(task(text).protocol().signature)
    first, _, rest = text.partition(" ")
    found = [
        (own, name) for own in TASKS for name in task(own).protocols if text == name or (first, rest) == (own, name)
    ]
    if not found:
        raise UsageError(
            f"there is no benchmark or protocol {text!r}, and it is no signature; benchmarks: {', '.join(names())}"
        )
    (own, name), *_ = found
    return list(dict.fromkeys([*_of_signature(_signature(own, name)), *PROTOCOLS.get((own, name), ())]))


def _signature(own: str, name: str) -> Signature:
    protocol: BaseProtocol = task(own).protocols[name]
    return protocol.signature


@cache
def _entries() -> dict[str, str]:
    """The entries of the file by key."""
    text = files("hyperacuity.evaluation").joinpath("references.bib").read_text(encoding="utf-8")
    found = (entry.strip() for entry in text.split("\n\n"))
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in found if entry}
