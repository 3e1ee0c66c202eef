"""Damage run folders at random and call every command on them: ``python fuzz/folders.py --folders 100``.

A small run is made, finished, with a part of it still in SQLite's log. In each copy one to three of its files are changed: bytes
flipped, cut, inserted or overwritten, pages exchanged, a folder, a pipe or a link to nothing in place of a file. Each command has
to end within a minute with status 0, 1 or 2, and with a sentence unless that is 0; no other exception may come up. The
command that made the run, where it ends with status 0, must print the scores that it printed before the damage. Exit status 1 if
something else happened.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from fuzz_changes import some_file
from typer.testing import CliRunner

from hyperacuity.cli import app

SECONDS_A_COMMAND = 60
PAGE = 4096
NAMES = ["run.sqlite"] * 6 + ["run.sqlite-wal"] * 3 + ["run.sqlite-shm", "run.sqlite-journal", "run.lock"]

Calls = dict[str, list[str]]


def make_run(place: Path) -> str:
    """Two systems × three images under ``place``, evaluated into ``place/run``; what the command prints."""
    rng = np.random.default_rng(5)
    for folder in ("truth", "maps/one", "maps/two"):
        (place / folder).mkdir(parents=True)
        for name in "abc":
            values = rng.random((16, 20))
            np.save(place / folder / f"{name}.npy", values < 0.1 if folder == "truth" else values.astype(np.float32))
    done = CliRunner().invoke(app, calls(place)["boundary"])
    if done.exit_code:
        raise RuntimeError(done.output)
    # The rows of the second system once more, so that a log lies beside the file as after a kill.
    with contextlib.closing(sqlite3.connect(place / "run/run.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("UPDATE tallies SET tally = tally WHERE system = 'two'")
        shutil.copytree(place / "run", place / "sound")
    return done.stdout


def calls(place: Path) -> Calls:
    """Every command that opens a run folder."""
    run, out = str(place / "run"), place / "out"
    data = [str(place / "maps/one"), str(place / "truth"), "--system", f"two={place / 'maps/two'}"]
    return {
        "run show": ["run", "show", run],
        "run check": ["run", "check", run],
        "run export": ["run", "export", run, "--format", "csv", "--out", str(out / "tables")],
        "run merge": ["run", "merge", run, "--out", str(out / "merged")],
        "run salvage": ["run", "salvage", run, "--out", str(out / "saved")],
        "compare": ["compare", run, "--json"],
        "report": ["report", run, "--no-viewer", "--out", str(out / "page")],
        "run gc": ["run", "gc", run],
        "boundary": ["boundary", *data, "--thresholds", "5", "--workers", "1", "--run", run, "--json"],
    }


def damage(folder: Path, chance: random.Random) -> list[str]:
    """Change one to three files of a run folder; what was done."""
    done = []
    for _ in range(chance.randint(1, 3)):
        file = folder / chance.choice(NAMES)
        how = chance.choice(
            ["bytes"] * 8 + ["page"] * 3 + ["exchange", "cut", "empty", "folder", "pipe", "link", "gone"]
        )
        data = file.read_bytes() if file.is_file() and not file.is_fifo() else b""
        _remove(file)
        if how == "folder":
            file.mkdir()
        elif how == "pipe":
            os.mkfifo(file)
        elif how == "link":
            file.symlink_to(folder / "nothing")
        elif how != "gone":
            file.write_bytes(_changed(data, how, chance))
        done.append(f"{file.name}: {how}")
    return done


def _remove(file: Path) -> None:
    if file.is_dir() and not file.is_symlink():
        file.rmdir()
    else:
        file.unlink(missing_ok=True)


def _changed(data: bytes, how: str, chance: random.Random) -> bytes:
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
    if how == "bytes":
        return some_file([data or b"0"], chance)
    if how == "cut":
        return data[: chance.randrange(len(data) + 1)]
    if how == "page" and pages:
        pages[chance.randrange(len(pages))] = chance.choice([bytes(PAGE), chance.randbytes(PAGE), b"\xff" * PAGE])
    if how == "exchange":
        chance.shuffle(pages)
    return b"" if how == "empty" else b"".join(pages)


def broken_promise(name: str, call: list[str], expected: str) -> tuple[str, str]:
    """How a command ended, and what it did that it must not, if anything."""
    with time_limit(SECONDS_A_COMMAND):
        done = CliRunner().invoke(app, call)
    raised = done.exception
    if raised is not None and not isinstance(raised, SystemExit):
        return "raised", f"{type(raised).__name__}: {raised}"
    if done.exit_code not in (0, 1, 2) or (done.exit_code and not done.stderr.strip() and not done.stdout.strip()):
        return "odd", f"status {done.exit_code}: {done.stderr!r}"
    if (
        name == "boundary"
        and done.exit_code == 0
        and json.loads(done.stdout)["systems"] != json.loads(expected)["systems"]
    ):
        return "other scores", done.stdout
    return f"status {done.exit_code}", ""


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """End the whole program, with a note of where it was, if the block takes longer: the reader may hang in C code."""
    import faulthandler

    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def fuzz(folders: int, seed: int, *, only: Callable[[str], bool] = lambda name: True) -> tuple[Counter[str], list[str]]:
    """How often each command ended how, and what broke a promise."""
    chance = random.Random(seed)  # noqa: S311
    endings: Counter[str] = Counter()
    found = []
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        place = Path(name)
        expected = make_run(place)
        for number in range(folders):
            damaged = place / "damaged"
            shutil.copytree(place / "sound", damaged)
            done = damage(damaged, chance)
            for command, call in calls(place).items():
                if not only(command):
                    continue
                for folder in ("run", "out"):
                    shutil.rmtree(place / folder, ignore_errors=True)
                _copy(damaged, place / "run")
                ending, reason = broken_promise(command, call, expected)
                endings[f"{command}: {ending}"] += 1
                if reason:
                    found.append(f"folder {number} ({', '.join(done)}): {command}: {reason}")
            shutil.rmtree(damaged)
    return endings, found


def _copy(folder: Path, to: Path) -> None:
    """Pipes and links as they are."""
    to.mkdir()
    for file in folder.iterdir():
        if file.is_symlink():
            (to / file.name).symlink_to(file.readlink())
        elif file.is_dir():
            (to / file.name).mkdir()
        elif file.is_fifo():
            os.mkfifo(to / file.name)
        else:
            shutil.copy(file, to / file.name)


def main() -> int:
    """Damage folders and print how the commands ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folders", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    endings, found = fuzz(options.folders, options.seed)
    for ending, count in sorted(endings.items()):
        print(f"{ending:28} {count:>6}")
    print(f"{options.folders} damaged folders, {endings.total()} commands, {len(found)} found")
    print(*found[:20], sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
