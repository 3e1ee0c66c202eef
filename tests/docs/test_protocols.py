"""The page of protocols is true: every protocol that has a name, and every default, stands there with its signature."""

from __future__ import annotations

import re
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
