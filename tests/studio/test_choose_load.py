"""Fifty people at once, and a server that is killed among them: no error, and nothing lost that was acknowledged."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import sqlite3
import subprocess
import sys

import pytest

httpx = pytest.importorskip("httpx", reason="needs the package httpx")

PEOPLE = 50


@contextlib.contextmanager
def server(folder, *words):
    """The command as a process, what it has said until it serves, and the links of the participants."""
    call = ["studio", "choose", "trials", "--images", "photos", "--no-browser", "--participants", str(PEOPLE), *words]
    command = [sys.executable, "-c", "from hyperacuity.cli import main; main()", *call]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        said = []
        for line in process.stderr:
            said.append(line)
            if "Ctrl-C" in line:
                break
        try:
            yield process, "".join(said), re.findall(r"http\S+/take/\S+", "".join(said))
        finally:
            process.send_signal(signal.SIGINT)
            process.stderr.read()
            process.wait(300)


async def take_part(link, most, told, troubles):
    """Answer questions one after the other; ``told`` gets (link, position, side) of each that was acknowledged."""
    try:
        async with httpx.AsyncClient(timeout=300) as client:
            now = (await client.get(f"{link}/next")).json()
            for _ in range(most):
                if now["question"] is None:
                    return
                position = now["question"]["position"]
                side = ("left", "right")[(position + len(link) + ord(link[-1])) % 2]
                picture = await client.get(f"{link}/picture/{position}")
                body = {"position": position, "side": side, "seconds": 0.5, "away": False}
                response = await client.post(f"{link}/answer", json=body)
                troubles += [one.text for one in (picture, response) if one.status_code != 200]
                told.append((link, position, side))
                now = response.json()
    except httpx.TransportError as error:
        troubles.append(error)


def kept(folder):
    with contextlib.closing(sqlite3.connect(folder / "trials" / "studio.sqlite")) as file:
        return {(p, n): s for p, n, s in file.execute("SELECT person, position, side FROM choose_answers")}


def test_fifty_people_and_a_kill_in_the_middle(make_trials, run_async):
    folder = make_trials(6)
    told, troubles = [], []

    async def killed(process, links):
        everyone = asyncio.gather(*(take_part(link, 9, told, troubles) for link in links))
        while len(told) < 2 * PEOPLE:
            await asyncio.sleep(0.005)
        assert troubles == []
        process.kill()
        await everyone

    with server(folder) as (process, said, links):
        assert len(links) == PEOPLE
        front = re.search(r"http\S+token=\S+", said).group()
        run_async(killed(process, links))
    assert process.returncode == -signal.SIGKILL
    assert all(isinstance(one, httpx.TransportError) for one in troubles)
    assert len(told) < 9 * PEOPLE  # it was in the middle
    found = kept(folder)
    for link, position, side in told:
        assert found[links.index(link) + 1, position] == side

    told.clear()
    troubles.clear()
    before = len(found)
    with server(folder) as (process, said, again):
        assert again == links  # the same port, the same tokens: links that were sent out stay good
        assert front in said
        run_async(everyone_finishes(links, told, troubles))
    assert process.returncode == 0
    assert troubles == []
    assert before + len(told) == len(kept(folder)) == 9 * PEOPLE


async def everyone_finishes(links, told, troubles):
    await asyncio.gather(*(take_part(link, 9, told, troubles) for link in links))
