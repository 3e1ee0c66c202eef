"""References: the papers behind a benchmark, a named protocol, or the measures of a result, as BibTeX.

The entries stand in ``references.bib`` beside this module. What could not be looked up (pages, volumes) is left out there.
"""

from __future__ import annotations

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


def cite(what: Result | BaseProtocol | Signature | str) -> str:
    """The references of a result, a benchmark, a protocol or a signature, as BibTeX.

    A text is the name of a benchmark (``"boundary"``), of a protocol (``"nyud"``, or ``"masks davis2017"`` with its benchmark's),
    or a signature. A result adds the bootstrap, and Holm's correction where several systems were tested. ``UsageError`` for
    anything else; nothing for a benchmark that names no papers.

    Examples
    --------
    >>> print(cite("crisp").split("@")[-1].splitlines()[0])
    article{huan2022,
    >>> [entry.partition("{")[2].partition(",")[0] for entry in cite("edges|measures:psi|thr:101|v:1").split("\\n\\n")]
    ['abdulrahman2017', 'magnier2017', 'abdulrahman2017normalized']
    """
    return bibtex(keys_of(what))


def bibtex(keys: Iterable[str]) -> str:
    """The entries of these keys, or entries as they are, each once, with an empty line between them."""
    return "\n\n".join(key if key.startswith("@") else _entries()[key] for key in dict.fromkeys(keys)) + "\n"


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
    """A benchmark's references, and those of parts that several share; which data a protocol was named for, it does not say."""
    parts = dict(signature.parts)
    given = task(signature.task).references if signature.task in names() else ()
    keys = list(given(signature) if callable(given) else given)
    if parts.get("nms", "none") != "none":
        keys.append("dollar2015")
    if parts.get("precision") == "mean":
        keys.append("hou2013")
    return list(dict.fromkeys(keys))


def _of_text(text: str) -> list[str]:
    if "|" in text:
        return _of_signature(Signature.parse(text))
    known = names()
    if text in known:
        return _of_signature(task(text).protocol().signature)
    for one in map(task, known):
        for name, protocol in one.protocols.items():
            if text in (name, f"{one.name} {name}"):
                return list(dict.fromkeys([*_of_signature(protocol.signature), *one.protocol_references.get(name, ())]))
    raise UsageError(
        f"there is no benchmark or protocol {text!r}, and it is no signature; benchmarks: {', '.join(known)}"
    )


@cache
def _entries() -> dict[str, str]:
    """The entries of the file by key."""
    text = files("hyperacuity.evaluation").joinpath("references.bib").read_text(encoding="utf-8")
    found = (entry.strip() for entry in text.split("\n\n"))
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in found if entry}
