"""Digests of input files: each read once, kept while the file stays the same, never taken for another's."""

from __future__ import annotations

import hashlib
import mmap
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hyperacuity.data.remote import LocalCopies
from hyperacuity.errors import InputError
from hyperacuity.run import Cell, fingerprint
from hyperacuity.run.fingerprint import Digests, combined, stamp


def new_digests(path, digests):
    """The digests worth recording after a cell of one file was looked at."""
    read = []
    digests.of_cell(Cell("system", "image", path, ()), {}, LocalCopies(), read)
    return read


def test_a_file_is_hashed_with_blake2b(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"abc" * 100_000)
    expected = hashlib.blake2b(b"abc" * 100_000, digest_size=20).digest()
    assert Digests().of_file(path, stamp(path), LocalCopies())[0] == expected


def test_a_file_that_many_threads_ask_for_is_read_once(tmp_path, monkeypatch):
    path = tmp_path / "truth.png"
    path.write_bytes(b"x" * 1000)
    reads, together = [], threading.Barrier(8)
    read = fingerprint._read

    def slow(path, seen, copies):
        reads.append(path)
        time.sleep(0.05)
        return read(path, seen, copies)

    monkeypatch.setattr(fingerprint, "_read", slow)
    digests = Digests()

    def ask(_):
        together.wait()
        return digests.of_file(path, stamp(path), LocalCopies())

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(ask, range(8)))
    assert len(found) == 1
    assert not found.pop()[1], "just written, so nobody may record it"
    assert reads == [path]


def test_a_file_just_written_is_hashed_but_its_digest_is_not_kept(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"abc")
    assert new_digests(path, Digests()) == []


def test_the_digest_of_a_settled_file_is_handed_over_once(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "SETTLED_NS", 0)
    path = tmp_path / "a.png"
    path.write_bytes(b"abc")
    time.sleep(0.02)
    digests = Digests()
    digest = hashlib.blake2b(b"abc", digest_size=20).digest()
    assert new_digests(path, digests) == [(str(path), stamp(path), digest)]
    assert new_digests(path, digests) == []


def write_through_a_memory_map(path, data):
    """Change a file twice through one map, and give its stamp in between: some file systems do not note the second time."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        view[:1] = b"?"
        seen = stamp(path)
        view[: len(data)] = data
        return seen


def digest_of(path, recorded):
    """The digest of a cell of one file, with what is recorded of files."""
    return Digests().of_cell(Cell("system", "image", path, ()), recorded, LocalCopies(), [])[0]


@pytest.mark.parametrize("size", [1000, 3_000_000])
def test_bytes_written_through_a_memory_map_are_noticed(tmp_path, size):
    path = tmp_path / "a.npy"
    path.write_bytes(b"a" * size)
    seen = write_through_a_memory_map(path, b"other")
    recorded = {str(path): (seen, hashlib.blake2b(b"?" + b"a" * (size - 1), digest_size=20).digest())}
    fresh = digest_of(path, {})
    assert digest_of(path, recorded) == fresh


SIZE, TIME, LATER = 1_048_577, 1_700_000_000_123_456_789, 1_700_000_001_123_456_789


@pytest.mark.parametrize(
    ("size", "modified", "changed", "trusted"),
    [
        (SIZE, TIME, LATER, True),
        (SIZE - 1, TIME, LATER, False),
        (SIZE, TIME, TIME, False),
        (SIZE, 1_700_000_000_000_000_000, LATER, False),
        (SIZE, TIME, 1_700_000_000_000_000_000, False),
        (SIZE, 0, 0, False),
    ],
    ids=["large", "small", "one time", "modified at a whole second", "changed at a whole second", "an image's epoch"],
)
def test_only_a_large_file_with_two_exact_times_is_not_read_again(
    tmp_path, monkeypatch, size, modified, changed, trusted
):
    path, reads = tmp_path / "a.npy", []
    path.write_bytes(b"abc")
    seen = f"{size}:{modified}:{changed}:7"
    monkeypatch.setattr(fingerprint, "stamp", lambda _: seen)
    monkeypatch.setattr(fingerprint, "_read", lambda *_: reads.append(1) or (b"read", True))
    recorded = {str(path): (seen, b"recorded")}
    expected = combined(Cell("system", "image", path, ()), [b"recorded" if trusted else b"read"])
    assert digest_of(path, recorded) == expected
    assert bool(reads) is not trusted


def test_a_digest_that_is_recorded_already_is_not_recorded_again(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "SETTLED_NS", 0)
    path = tmp_path / "a.png"
    path.write_bytes(b"abc")
    time.sleep(0.02)
    [(name, seen, digest)] = new_digests(path, Digests())
    read = []
    Digests().of_cell(Cell("system", "image", path, ()), {name: (seen, digest)}, LocalCopies(), read)
    assert read == []


def test_a_file_dated_in_the_future_is_never_taken_for_settled(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "SETTLED_NS", 0)
    path = tmp_path / "a.png"
    path.write_bytes(b"abc")
    os.utime(path, (time.time() + 3600,) * 2)
    assert new_digests(path, Digests()) == []


@pytest.mark.parametrize("dated", [True, False])
def test_the_digest_of_a_file_elsewhere_is_kept_only_where_its_server_marks_changes(tmp_path, monkeypatch, dated):
    path = tmp_path / "a.png"
    path.write_bytes(b"abc")
    monkeypatch.setattr(fingerprint, "is_remote", lambda path: True)
    monkeypatch.setattr(fingerprint.remote, "stamp", lambda path: ("etag", dated))
    assert bool(new_digests(path, Digests())) is dated


def test_a_failed_read_is_not_remembered(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_bytes(b"abc")
    seen, digests, read = stamp(path), Digests(), fingerprint._read
    monkeypatch.setattr(fingerprint, "_read", lambda *_: (_ for _ in ()).throw(InputError("server gone")))
    with pytest.raises(InputError, match="server gone"):
        digests.of_file(path, seen, LocalCopies())
    monkeypatch.setattr(fingerprint, "_read", read)
    assert len(digests.of_file(path, seen, LocalCopies())[0]) == 20


def test_no_more_digests_are_at_hand_than_agreed(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "MOST_DIGESTS", 3)
    digests = Digests()
    for name in "abcdef":
        (tmp_path / name).write_text(name)
        new_digests(tmp_path / name, digests)
    assert [Path(path).name for path, _ in digests._known] == ["d", "e", "f"]


@pytest.mark.parametrize(("make", "sentence"), [(Path.mkdir, "is not a file"), (lambda path: None, "cannot be read")])
def test_what_is_not_a_file_is_refused_by_name(tmp_path, make, sentence):
    make(tmp_path / "x")
    with pytest.raises(InputError, match=f"{tmp_path / 'x'}: {sentence}"):
        stamp(tmp_path / "x")
