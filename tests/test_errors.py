"""Errors name options in the language of who reads them: Python's keyword arguments, or the options of a command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hyperacuity as ha
from hyperacuity.cli import app
from hyperacuity.errors import UsageError, option


def test_an_error_carries_the_option_and_its_value(tmp_path: Path) -> None:
    for name in ("maps", "truth"):
        (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match=re.escape("`split='test'` is for known data sets")) as caught:
        ha.evaluate("boundary", tmp_path / "maps", tmp_path / "truth", split="test")
    assert caught.value.options == {"split": "test"}
    assert "--" not in str(caught.value)


def test_the_command_line_writes_the_dashes(tmp_path: Path) -> None:
    for name in ("maps", "truth"):
        (tmp_path / name).mkdir()
    done = CliRunner().invoke(app, ["boundary", str(tmp_path / "maps"), str(tmp_path / "truth"), "--split", "test"])
    assert done.exit_code == 2
    assert "--split test is for known data sets" in done.output
    assert "`" not in done.output


def test_values_are_those_that_were_given() -> None:
    given = {"value_range": (0, 255), "masks": {"sky": "a b"}, "level": 0.5, "run": "it's"}
    error = UsageError(", ".join(option(name, value) for name, value in given.items()))
    assert error.options == given
