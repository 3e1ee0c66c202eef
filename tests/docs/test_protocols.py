"""The page of protocols is true: every protocol that has a name, and every default, stands there with its signature."""

from __future__ import annotations

import re
import runpy
from dataclasses import fields
from pathlib import Path

import pytest

from hyperacuity import tasks
from hyperacuity.boundary import Suppression
from hyperacuity.errors import UsageError
from hyperacuity.tally import Signature

PAGE = Path(__file__).parents[2] / "docs" / "protocols.md"
TEXT = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""

pytestmark = pytest.mark.skipif(not TEXT, reason="needs the documentation's source")

SIGNATURES = {
    (task, name): f"{task}|{rest}"
    for name, task, rest in re.findall(r"^(\S+) +([a-z]+)\|(.*\|v:\d+)$", TEXT, re.MULTILINE)
}
ROWS = {
    name: [cell.strip() for cell in rest.split("|")]
    for name, rest in re.findall(r"^\| `([\w-]+)` \|(.*)\|$", TEXT, re.MULTILINE)
}


@pytest.mark.parametrize("name", tasks.BUILT_IN)
def test_every_protocol_is_listed_with_its_true_signature(name):
    task = tasks.task(name)
    known = {"default": task.protocol(), **task.protocols}
    listed = {protocol: line for (of, protocol), line in SIGNATURES.items() if of == name}
    assert listed == {protocol: str(agreed.signature) for protocol, agreed in known.items()}
    assert task.protocols.keys() <= ROWS.keys()


@pytest.mark.parametrize("name", tasks.task("boundary").protocols)
def test_the_table_of_boundaries_says_what_the_protocols_are(name):
    tolerance, suppression, thinning, *_ = ROWS[name]
    agreed = tasks.task("boundary").protocols[name]
    assert float(tolerance) == agreed.tolerance
    assert suppression == str(agreed.nms or "none")
    assert thinning == ("yes" if agreed.thin else "no")


def test_whatever_stands_on_the_page_can_be_typed():
    for task, name in SIGNATURES:
        assert Signature.parse(SIGNATURES[task, name]).task == task
    for kind in re.findall(r"structured[\w-]*", TEXT):
        Suppression.parse(kind)
    with pytest.raises(UsageError):
        Suppression.parse("structured-s0-r2-4bit")


def test_the_tables_of_options_are_what_the_protocols_say():
    written = runpy.run_path(str(PAGE.parents[1] / "scripts" / "protocols.py"))["page"]()
    assert written == TEXT, "docs/protocols.md is behind: run python scripts/protocols.py"


@pytest.mark.parametrize("name", tasks.BUILT_IN)
def test_every_option_says_what_it_is_for_in_a_sentence(name):
    protocol = tasks.task(name).protocol
    told = protocol.descriptions()
    assert {*told, "reading"} == {part.name for part in fields(protocol)}
    for option, text in told.items():
        assert re.fullmatch(r"[A-Z].*\.", text.partition("\n\n")[0], re.DOTALL), f"{option}: {text!r}"
    assert all(one.__doc__ != protocol.__doc__ for one in tasks.task(name).protocols.values())
