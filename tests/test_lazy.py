"""Packages load a module when one of its names is asked for, and no other."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import hyperacuity.ordering as package

SAY = "import json, sys; {0}; print(json.dumps([name for name in sys.modules if name.startswith('hyperacuity.ordering')]))"


def loaded(statement: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", SAY.format(statement)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_only_what_is_asked_for_is_loaded():
    assert loaded("import hyperacuity.ordering") == ["hyperacuity.ordering"]
    asked = loaded("from hyperacuity.ordering import ordering")
    assert "hyperacuity.ordering.orderings" in asked
    assert not [name for name in asked if "whdr" in name or "dbe" in name]


@pytest.mark.parametrize("name", package.__all__)
def test_every_name_of_a_package_is_there(name):
    assert getattr(package, name) is not None


def test_names_that_are_not_there_are_missing_as_ever():
    with pytest.raises(AttributeError, match=r"module 'hyperacuity\.ordering' has no attribute 'orderring'"):
        _ = package.orderring
    with pytest.raises(ImportError):
        from hyperacuity.ordering import orderring  # noqa: F401


def test_modules_of_a_package_are_its_attributes_as_ever():
    assert "hyperacuity.ordering.prc" in loaded("import hyperacuity.ordering as o; o.prc.over_random_index")
