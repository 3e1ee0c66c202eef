"""Files that users give and that are not what they should be: one sentence with the name, never a traceback, never a wait."""

from __future__ import annotations

import os

import pytest
from typer.testing import CliRunner

from hyperacuity.board.checks import check_site
from hyperacuity.cards.making import read_about
from hyperacuity.cli import app
from hyperacuity.detect.depth.cue_model import load_cue_model
from hyperacuity.detect.global_pb.model import load_gpb
from hyperacuity.detect.pb_detector import load_model
from hyperacuity.errors import HyperacuityError, InputError
from hyperacuity.small_files import read_json, read_small, read_text

DEEP = "[" * 200_000
BAD = {
    "deep": DEEP.encode(),
    "deep in an object": b'{"sets": ' + DEEP.encode() + b"]" * 200_000 + b"}",
    "empty": b"",
    "no text": b"\xff\xfe\x00",
    "a list": b"[]",
    "a large number": b'{"about": "", "weights": {"constant": ' + b"9" * 5000 + b"}}",
    "an infinite number": b'{"about": "", "local": {"constant": 1e999}, "weights": {"constant": 1e999}}',
}
READERS = {"pb": load_model, "gpb": load_gpb, "cues": load_cue_model}


@pytest.mark.parametrize("content", BAD)
@pytest.mark.parametrize("reader", READERS)
def test_a_model_that_is_none_is_named(tmp_path, content, reader):
    path = tmp_path / "model.json"
    path.write_bytes(BAD[content])
    with pytest.raises(InputError, match=r"model\.json: ") as told:
        READERS[reader](path)
    assert "\n" not in str(told.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("read", [*READERS.values(), read_about, lambda path: read_small(path, "anything")])
def test_nobody_waits_at_a_pipe(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: is not a plain file"):
        read(tmp_path / "pipe")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["about", "model", "consent", "classes", "network"])
def test_no_command_waits_at_a_pipe(world, tmp_path, name):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    call = {
        "about": f"card {world}/run --about {pipe} --out {tmp_path}/a.card",
        "model": f"detect {world}/images --with pb(model='{pipe}') --out {tmp_path}/maps",
        "consent": f"studio choose {world} --images {world}/images --consent {pipe}",
        "classes": f"semantic truth {world}/labels --classes {pipe} --out {tmp_path}/edges",
        "network": f"see {world}/images --model {pipe} --out {tmp_path}/seen",
    }[name]
    done = CliRunner().invoke(app, call.split())
    assert isinstance(done.exception, SystemExit)
    assert done.exit_code in (1, 2)
    assert "pipe" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_board_of_deep_json_is_named(tmp_path):
    (tmp_path / "board.json").write_text(DEEP)
    with pytest.raises(HyperacuityError, match=r"board\.json: holds no numbers of a board \(not valid JSON"):
        check_site(tmp_path)


def test_limits_and_texts(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbf{}")
    assert read_text(path, "anything") == "{}"
    with pytest.raises(InputError, match="a: is larger than 3 bytes, expected a word"):
        read_small(path, "a word", most=3)
    with pytest.raises(InputError, match="cannot be read"):
        read_json(tmp_path / "b", "anything")
    with pytest.raises(InputError, match="cannot be read"):
        read_json(tmp_path / "b\0", "anything")
