"""``hyperacuity studio`` on the command line: where it listens, what it says, how it stops."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import uvicorn
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.cli.studio import app as pages
from hyperacuity.studio.choose.plan import SCHEMA
from hyperacuity.studio.server import (
    Address,
    is_loopback,
    last_address,
    last_or_free,
    listen,
    prepared,
    reachable_name,
    serve,
    store_address,
)
from hyperacuity.studio.state import State
from hyperacuity.studio.web import Page

EVERYWHERE = "0.0.0.0"  # noqa: S104 (what a token is for)


@contextlib.contextmanager
def studio(folder, *words):
    """The command as a process, and what it said until it serves."""
    call = ["studio", "choose", "trials", "--images", "photos", "--no-browser", *words]
    command = [sys.executable, "-c", "from hyperacuity.cli import main; main()", *call]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = ""
        for line in process.stderr:
            said += line
            if "Ctrl-C" in line:
                break
        try:
            yield process, said
        finally:
            if process.poll() is None:
                process.kill()


def call(*words):
    return CliRunner().invoke(app, ["studio", *map(str, words)])


def test_it_serves_until_ctrl_c_and_then_ends_well(make_trials):
    with studio(make_trials(2), "--participants", "2") as (process, said):
        front = re.search(r"Choose the stronger boundary: (http://127\.0\.0\.1:\d+/\?token=\S+)", said).group(1)
        links = re.findall(r"invitation \d: (\S+)", said)
        assert len(set(links)) == 2
        assert "Which boundary is stronger?" in urllib.request.urlopen(links[0]).read().decode()  # noqa: S310
        assert urllib.request.urlopen(front).status == 200  # noqa: S310
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(front.partition("?")[0])  # noqa: S310
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=300)
        assert process.returncode == 0
        assert out == ""
        assert rest == "stopped\n"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs permissions of files")
def test_no_other_user_sees_the_token_of_a_browser_that_is_opened(tmp_path, monkeypatch):
    """What a program is called with stands in ``ps``; the file that it is called with is for its owner alone."""
    seen, opened = {}, threading.Event()

    def called_with(address):
        file = Path(urlsplit(address).path)
        seen.update(address=address, mode=stat.S_IMODE(file.stat().st_mode), text=file.read_text())
        opened.set()

    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: opened.wait(10))
    monkeypatch.setattr(webbrowser, "open", called_with)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    front = []
    serve(Page("None", []), token="a&b-token-nobody-guesses", announce=lambda address: front.append(address.front))  # noqa: S106
    assert "token" not in seen["address"]
    assert seen["mode"] == 0o600
    assert f'url={front[0].replace("&", "&amp;")}"' in seen["text"]
    assert list(tmp_path.iterdir()) == [], "it is gone with the server"


def test_a_port_that_is_taken_by_now_gives_way_to_a_free_one(tmp_path, caplog):
    with State(tmp_path / "studio.sqlite", [SCHEMA]) as state, listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert last_address(state, "choose") is None
        assert last_or_free("127.0.0.1", 0, None) == 0
        store_address(state, "choose", Address(f"http://127.0.0.1:{port}", "a-token-of-last-time", port))
        last = last_address(state, "choose")
        assert (last.token, last.port) == ("a-token-of-last-time", port)
        assert last_or_free("127.0.0.1", 0, last) == 0
        assert f"port {port}, which earlier links name, is taken" in caplog.text
        assert last_or_free("127.0.0.1", 4321, last) == 4321
        taken.close()
        assert last_or_free("127.0.0.1", 0, last) == port


def test_a_host_that_others_can_reach_has_a_token_and_a_real_address():
    with prepared(Page("None", []), host=EVERYWHERE, token="chosen-by-the-experimenter") as (_, _, address):  # noqa: S106
        assert re.fullmatch(r"http://[^:/]+:\d+/\?token=chosen-by-the-experimenter", address.front)
        assert EVERYWHERE not in address.front


def test_hosts_are_told_apart():
    assert [is_loopback(host) for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost")] == [True] * 4
    assert not any(
        is_loopback(host) for host in (EVERYWHERE, "::", "192.168.1.2", "example.org", "127.0.0.1.example.org")
    )
    assert reachable_name(EVERYWHERE) != EVERYWHERE
    assert reachable_name("example.org") == "example.org"


def test_a_call_that_cannot_be_carried_out_says_why(make_trials, tmp_path):
    folder = make_trials(2)
    trials, photos = folder / "trials", folder / "photos"
    for words, sentence in (
        ((trials, "--images", photos, "--token", "short"), "--token: expected at least 16"),
        ((trials, "--images", photos, "--host", "no.such.host.invalid"), "there is no such address"),
        ((trials, "--images", tmp_path / "nowhere"), "cannot be read as a folder"),
        ((photos, "--images", photos), "key.csv: cannot be read"),
        ((trials, "--images", photos, "--export", trials / "key.csv" / "where.csv"), "it is a file, expected a folder"),
    ):
        done = call("choose", *words, "--no-browser")
        assert done.exit_code in (1, 2)
        assert sentence in done.stderr
        assert done.stdout == ""
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        done = call("choose", trials, "--images", photos, "--port", port, "--no-browser")
        assert done.exit_code == 2
        assert f"cannot listen on 127.0.0.1, port {port}" in done.stderr


def test_answers_are_exported_without_a_server(make_trials, tmp_path):
    folder = make_trials(2)
    done = call("choose", folder / "trials", "--images", folder / "photos", "--export", tmp_path / "answers.csv")
    assert done.exit_code == 0
    assert (tmp_path / "answers.csv").read_text().startswith("subject,trial,choice,seconds,")


def test_without_its_packages_it_says_what_to_install(make_trials, monkeypatch):
    folder = make_trials(2)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = call("choose", folder / "trials", "--images", folder / "photos")
    assert done.exit_code == 2
    assert re.search(r"pip install 'altair>=.*' 'starlette>=.*' 'uvicorn>=.*'", done.stderr)


def test_every_page_has_help_with_an_example():
    for command in pages.registered_commands:
        shown = CliRunner().invoke(app, ["studio", command.name, "-h"], env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
        assert shown.exit_code == 0
        assert f"hyperacuity studio {command.name} " in shown.output
