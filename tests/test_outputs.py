"""Output files: ours are listed with their bytes; all others stay, whatever lies where the list should be."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest

from hyperacuity.errors import UsageError
from hyperacuity.outputs import (
    LIST,
    check_output,
    is_current,
    output_file,
    output_folder,
    remove_outputs,
    write_output,
)

posix = pytest.mark.skipif(os.name != "posix", reason="needs links, pipes and owners of files")


def refused(path: Path) -> bool:
    """Whether a file is not overwritten; then the error names it."""
    before = path.read_bytes()
    complaint = ""
    try:
        write_output(path, b"new")
    except UsageError as error:
        complaint = str(error)
    if complaint:
        assert path.read_bytes() == before
        assert str(path.resolve()) in complaint
    return bool(complaint)


def test_what_was_written_is_written_again_and_the_rest_is_not(tmp_path):
    ours, theirs, empty = (tmp_path / name for name in ("ours", "theirs", "empty"))
    write_output(ours, b"one")
    theirs.write_bytes(b"one")
    empty.touch()
    assert [refused(path) for path in (ours, theirs, empty)] == [False, True, False]
    ours.write_bytes(b"edited")
    assert refused(ours)


def test_a_claimed_folder_has_one_list_for_all_below_it(tmp_path):
    out = output_folder(tmp_path / "out")
    inner = output_folder(out / "deep" / "er")
    write_output(inner / "a.png", b"1")
    write_output(out / "b", b"2")
    assert [path.relative_to(out) for path in out.rglob(LIST)] == [Path(LIST)]
    assert not refused(inner / "a.png")
    moved = tmp_path / "moved"
    out.rename(moved)
    assert not refused(moved / "deep" / "er" / "a.png"), "the list moves with its folder"


def test_keys_are_of_the_bytes(tmp_path):
    path = tmp_path / "a"
    write_output(path, b"1", key="one")
    assert (is_current(path, "one"), is_current(path, "two")) == (True, False)
    write_output(path, b"2", key="two")
    assert (is_current(path, "one"), is_current(path, "two")) == (False, True)
    path.write_bytes(b"1")
    assert is_current(path, "one"), "these bytes were written under that key"
    path.write_bytes(b"3")
    assert not is_current(path, "two")


def test_only_ours_is_removed(tmp_path):
    out = output_folder(tmp_path / "out")
    (out / "data").mkdir()
    for name in ("a.html", "data/a.js", "data/b.js", "kept.csv"):
        write_output(out / name, b"ours")
    (out / "data" / "b.js").write_bytes(b"edited")
    (out / "data" / "c.js").write_bytes(b"theirs")
    remove_outputs(out, "*.html", "data/*.js")
    left = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file() and path.name != LIST}
    assert left == {"data/b.js", "data/c.js", "kept.csv"}
    assert [refused(out / name) for name in sorted(left)] == [True, True, False]


@posix
def test_links_lead_to_what_is_written_or_refused(tmp_path):
    (tmp_path / "theirs").write_bytes(b"theirs")
    for name, target in (("link", "theirs"), ("new", "nothing-yet")):
        (tmp_path / name).symlink_to(tmp_path / target)
    assert refused(tmp_path / "link")
    write_output(tmp_path / "new", b"1")
    assert (tmp_path / "nothing-yet").read_bytes() == b"1"
    assert (tmp_path / "new").is_symlink()


@posix
def test_devices_and_pipes_are_written_to(tmp_path):
    write_output(Path(os.devnull), b"1")
    assert not Path(os.devnull).is_file()
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_output(tmp_path / "pipe", b"through")
    reader.join(10)
    assert read == [b"through"]


@posix
@pytest.mark.parametrize("what", ["folder", "pipe", "link"])
def test_a_list_that_is_none_makes_nothing_ours(tmp_path, what):
    (tmp_path / "theirs").write_bytes(b"theirs")
    (tmp_path / "victim").write_bytes(b"victim")
    place = tmp_path / LIST
    {"folder": place.mkdir, "pipe": lambda: os.mkfifo(place), "link": lambda: place.symlink_to(tmp_path / "victim")}[
        what
    ]()
    assert refused(tmp_path / "theirs")
    with pytest.raises(UsageError):
        write_output(tmp_path / "new", b"1")
    assert (tmp_path / "victim").read_bytes() == b"victim"


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the rights to give files away")
def test_a_list_of_another_user_makes_nothing_ours(tmp_path):
    write_output(tmp_path / "a", b"1")
    os.chown(tmp_path / LIST, 4321, 4321)
    assert refused(tmp_path / "a")
    os.chown(tmp_path, 4321, 4321)
    assert not refused(tmp_path / "a"), "the folder is theirs, and so is the list"


def test_damaged_lists_make_files_nobodys_and_never_a_strangers_file_ours(tmp_path):
    chance = random.Random(2)  # noqa: S311
    for turn in range(200):
        folder = tmp_path / str(turn)
        folder.mkdir()
        write_output(folder / "ours", b"ours")
        write_output(folder / "more", b"more")
        (folder / "theirs").write_bytes(b"theirs")
        data = bytearray((folder / LIST).read_bytes())
        for _ in range(chance.randint(1, 5)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        (folder / LIST).write_bytes(data[: chance.randint(0, len(data))])
        assert refused(folder / "theirs")
        refused(folder / "ours")
        remove_outputs(folder, "*")
        assert (folder / "theirs").read_bytes() == b"theirs"


def test_many_threads_list_all_that_they_write(tmp_path):
    out = output_folder(tmp_path / "out")

    def write(turn):
        for number in range(25):
            write_output(out / f"{turn}-{number}", b"1")

    threads = [threading.Thread(target=write, args=(turn,)) for turn in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(refused(path) for path in out.iterdir() if path.name != LIST)


def test_an_error_leaves_the_old_file_and_names_it(tmp_path):
    path = tmp_path / "a.png"
    write_output(path, b"old")

    def write():
        with output_file(path) as part:
            part.write_bytes(b"half")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        write()
    assert sorted(one.name for one in tmp_path.iterdir()) == [LIST, "a.png"]
    assert path.read_bytes() == b"old"
    with pytest.raises(UsageError, match="is a folder"):
        check_output(tmp_path)
