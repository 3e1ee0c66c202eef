"""Files of finished work: on the disk when they are called done, and whole again when the studio is started."""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing

import numpy as np
import pytest

from hyperacuity.data import read_image, write_png
from hyperacuity.studio import actions, people
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.map import find_candidates
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import find_inputs
from hyperacuity.studio.state import State

from .labelling import replay

LABEL_FILES = ("edges/Ada/one.png", "groundTruth/one.mat", "provenance/Ada/one.json")
ORDER_FILES = tuple(
    f"{kind}/Ada/squares.{suffix}"
    for kind, suffix in (("order", "npy"), ("ownership", "npy"), ("labels", "npy"), ("pairs", "csv"), ("provenance", "json"))
)  # fmt: skip


class Finished:
    """Work that someone is done with: its files, its state, and a page over both."""

    def __init__(self, page, out, path):
        self.page, self.out, self.path = page, out, path

    def contents(self):
        return {str(p.relative_to(self.out)): p.read_bytes() for p in sorted(self.out.rglob("*")) if p.is_file()}

    def forget(self):
        """Make the state that of a version that did not store digests."""
        with closing(sqlite3.connect(self.path)) as file, file:
            file.execute("DELETE FROM studio_outputs")


@pytest.fixture
def labelled(tmp_path, client_of):
    """Someone who is done with an image of edges."""
    photo = tmp_path / "one.png"
    picture = np.zeros((24, 32, 3), np.uint8)
    picture[6:18, 9:] = 200
    write_png(photo, picture)
    with State(tmp_path / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        labels = LabelPage(items_of([photo]), state, tmp_path / "out")
        client = client_of(labels.page)
        client.post("/people", json={"name": "Ada"})
        edges, _ = replay(find_candidates(read_image(photo)), ())
        body = {
            "number": 1,
            "key": "key-of-done",
            "seconds": 2,
            "checksum": zlib.crc32(edges.tobytes()),
            "anyway": True,
        }
        assert client.post(f"/image/{item_id('one')}/done", json=body).json()["unwritten"] is None
        yield Finished(LabelPage(items_of([photo]), state, tmp_path / "out"), tmp_path / "out", state.path)


@pytest.fixture
def ordered(world, open_page):
    """Someone who is done with ordering the squares, and has gone on a little."""
    relate = {"kind": "relate", "relation": "front"}
    open_page().do(
        {**relate, "a": 0, "b": 1},
        {**relate, "a": 1, "b": 3},
        {"kind": "done", "anyway": True},
        {**relate, "a": 2, "b": 3},
    )
    with State(world / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        inputs = find_inputs(world / "images", world / "labels")
        yield Finished(OrderPage(inputs, state, world / "out"), world / "out", state.path)


DAMAGE = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "torn": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "zeros at its end": lambda path: path.write_bytes(path.read_bytes()[:-7] + bytes(7)),
}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize(("kind", "files"), [("labelled", LABEL_FILES), ("ordered", ORDER_FILES)])
def test_what_is_damaged_is_whole_again_and_the_rest_is_left_alone(request, kind, files, how):
    done = request.getfixturevalue(kind)
    before = done.contents()
    assert sorted(before) == sorted(files)
    for damaged in files:
        times = {name: (done.out / name).stat().st_mtime_ns for name in files if name != damaged}
        DAMAGE[how](done.out / damaged)
        assert done.page.write_missing() == []
        assert {name: data for name, data in done.contents().items() if not name.startswith("replaced/")} == before
        assert {name: (done.out / name).stat().st_mtime_ns for name in times} == times


@pytest.mark.parametrize(("kind", "files"), [("labelled", LABEL_FILES), ("ordered", ORDER_FILES)])
def test_nothing_is_touched_where_all_is_well(request, kind, files):
    done = request.getfixturevalue(kind)
    times = {name: (done.out / name).stat().st_mtime_ns for name in files}
    for _ in range(2):
        assert done.page.write_missing() == []
        done.forget()  # then what can be read is right
    assert {name: (done.out / name).stat().st_mtime_ns for name in files} == times


@pytest.mark.parametrize(("kind", "files"), [("labelled", LABEL_FILES), ("ordered", ORDER_FILES)])
def test_without_digests_what_cannot_be_read_is_made_again_and_nothing_is_thrown_away(request, kind, files):
    done = request.getfixturevalue(kind)
    before = done.contents()
    for damaged in (name for name in files if not name.endswith(".csv")):
        done.forget()
        DAMAGE["torn"](done.out / damaged)
        torn = (done.out / damaged).read_bytes()
        assert done.page.write_missing() == []
        now = done.contents()
        assert now.pop(f"replaced/{damaged}") == torn, "without a digest it may be somebody else's"
        (done.out / "replaced" / damaged).unlink()
        assert now == before


def test_what_somebody_changed_is_kept_beside(labelled, caplog):
    changed = labelled.out / LABEL_FILES[0]
    before = changed.read_bytes()
    write_png(changed, np.full((24, 32), 255, np.uint8))
    theirs = changed.read_bytes()
    assert labelled.page.write_missing() == []
    assert changed.read_bytes() == before
    assert (labelled.out / "replaced" / LABEL_FILES[0]).read_bytes() == theirs
    assert f"{changed}: was damaged or changed" in caplog.text


def test_an_order_of_other_regions_is_told_and_not_written(ordered, world):
    (world / "out" / ORDER_FILES[0]).unlink()
    write_png(world / "labels" / "squares.png", np.eye(24, 32, dtype=np.uint8))
    with State(world / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as state:
        page = OrderPage(find_inputs(world / "images", world / "labels"), state, world / "out")
        assert page.write_missing() == [("squares", "its regions are not those that were ordered before")]


@pytest.mark.skipif(os.name != "posix", reason="only POSIX systems sync folders")
@pytest.mark.parametrize(("kind", "files"), [("labelled", LABEL_FILES), ("ordered", ORDER_FILES)])
def test_files_and_their_folders_are_synced(request, kind, files, monkeypatch):
    done = request.getfixturevalue(kind)
    for name in files:
        (done.out / name).unlink()
        (done.out / name).parent.rmdir()
    synced, sync = [], os.fsync

    def note(opened):
        synced.append(os.fstat(opened).st_ino)
        sync(opened)

    monkeypatch.setattr(os, "fsync", note)
    assert done.page.write_missing() == []
    for name in files:
        path = done.out / name
        at = synced.index(path.stat().st_ino)  # a file keeps its number when it takes its name
        assert path.parent.stat().st_ino in synced[at + 1 :]
        assert path.parent.parent.stat().st_ino in synced[:at], "where the folder is new, its name is synced too"
