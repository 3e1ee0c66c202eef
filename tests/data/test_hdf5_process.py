"""HDF5 files made to harm: what the library would do to this process is done, at worst, to a child of it."""

from __future__ import annotations

import os
import signal
import zlib

import h5py
import numpy as np
import pytest

from hyperacuity.data import read_soft
from hyperacuity.data.formats import hdf5_process
from hyperacuity.errors import InputError


@pytest.fixture
def hdf5(tmp_path):
    """A file whose only variable ``ucm2`` is a data set made by the given call."""

    def make(change, **options):
        path = tmp_path / "file.mat"
        with h5py.File(path, "w") as file:
            change(file.create_dataset("ucm2", **options))
        return path

    return make


def values(rows=7, columns=9):
    return np.random.default_rng(0).integers(0, 256, (rows, columns)) / 255


@pytest.mark.parametrize("packed", [{}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True}])
@pytest.mark.parametrize("chunks", [None, (7, 9), (2, 4), (1, 1)])
@pytest.mark.parametrize("kind", ["f8", ">f4"])
def test_chunks_are_unpacked_as_the_library_does(hdf5, packed, chunks, kind):
    options = {"chunks": chunks, **packed} if chunks or packed else {}
    path = hdf5(lambda item: None, data=values().astype(kind), **options)
    with h5py.File(path) as file:
        expected = file["ucm2"][2::2, 2::2]
    assert np.array_equal(read_soft(path), expected.astype(np.float32))


def test_a_chunk_that_was_never_written_holds_the_filling_value(hdf5):
    path = hdf5(lambda item: item.__setitem__((0, 0), 1.0), shape=(7, 9), chunks=(3, 3), fillvalue=0.25, dtype="f4")
    expected = np.full((3, 4), 0.25)
    assert np.array_equal(read_soft(path), expected)


def test_a_chunk_that_unpacks_to_gigabytes_is_refused(hdf5):
    stream = zlib.compressobj(9)
    bomb = b"".join([*(stream.compress(bytes(1 << 24)) for _ in range(8)), stream.flush()])
    path = hdf5(
        lambda item: item.id.write_direct_chunk((0, 0), bomb),
        shape=(7, 9), chunks=(7, 9), dtype="f8", compression="gzip",
    )  # fmt: skip
    with pytest.raises(InputError, match=r"compressed to .* bytes, more than unpacked"):
        read_soft(path)


def test_a_small_bomb_is_refused_too(hdf5):
    path = hdf5(
        lambda item: item.id.write_direct_chunk((0, 0), zlib.compress(bytes(100_000), 9)),
        shape=(7, 9), chunks=(7, 9), dtype="f8", compression="gzip",
    )  # fmt: skip
    with pytest.raises(InputError, match=r"cannot be unpacked|holds 100000 bytes where 504 are declared"):
        read_soft(path)


def test_memory_that_nobody_wrote_is_never_read(hdf5):
    path = hdf5(
        lambda item: item.id.write_direct_chunk((0, 0), zlib.compress(bytes(30), 9)),
        shape=(7, 9), chunks=(7, 9), dtype="f8", compression="gzip",
    )  # fmt: skip
    with pytest.raises(InputError, match=r"cannot be unpacked|holds 30 bytes where 504 are declared"):
        read_soft(path)


def test_a_chunk_larger_than_the_limit_is_refused(hdf5):
    path = hdf5(lambda item: None, shape=(7, 9), maxshape=(None, None), chunks=(20_000, 20_000), dtype="f8")
    with pytest.raises(InputError, match="more than the limit"):
        read_soft(path)


def test_a_child_that_dies_fails_its_file_and_no_other(hdf5, monkeypatch):
    path = hdf5(lambda item: None, data=values())
    assert np.array_equal(read_soft(path), values()[2::2, 2::2].astype(np.float32))
    with monkeypatch.context() as patch:
        patch.setattr(hdf5_process, "_idle", [])
        patch.setattr(hdf5_process, "_START", "import os; input(); os.kill(os.getpid(), 11)")
        with pytest.raises(
            InputError, match=r"file\.mat: is a damaged MAT file \(the HDF5 library fails on it: SIGSEGV\)"
        ):
            read_soft(path)
        patch.setattr(hdf5_process, "_START", "import os, signal; input(); os.kill(os.getpid(), signal.SIGXCPU)")
        with pytest.raises(InputError, match="it takes more than 60 s to read"):
            read_soft(path)
        patch.setattr(hdf5_process, "_START", "input(); raise SystemExit(3)")
        with pytest.raises(InputError, match="the HDF5 library fails on it: status 3"):
            read_soft(path)
    assert np.array_equal(read_soft(path), values()[2::2, 2::2].astype(np.float32))


def test_a_child_that_was_killed_while_idle_is_replaced(hdf5):
    path = hdf5(lambda item: None, data=values())
    read_soft(path)
    for child in hdf5_process._idle:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    assert np.array_equal(read_soft(path), values()[2::2, 2::2].astype(np.float32))


def test_a_child_runs_within_limits(hdf5, monkeypatch):
    probe = """
import resource
from hyperacuity.data.formats import hdf5_process
from hyperacuity.data.formats import mat73
def tell(path):
    raise ValueError(str([resource.getrlimit(r)[0] for r in (resource.RLIMIT_AS, resource.RLIMIT_CPU)]))
mat73.variables = tell
hdf5_process.serve()
"""
    path = hdf5(lambda item: None, data=values())
    monkeypatch.setattr(hdf5_process, "_idle", [])
    monkeypatch.setattr(hdf5_process, "_START", probe)
    with pytest.raises(InputError) as caught:
        read_soft(path)
    memory, seconds = map(int, str(caught.value).rpartition("[")[2].rstrip("])").split(","))
    assert 3 << 30 < memory < 16 << 30
    assert 60 < seconds < 120
    hdf5_process._end_children()


def test_a_forked_process_asks_children_of_its_own(hdf5):
    path = hdf5(lambda item: None, data=values())
    expected = read_soft(path)
    before = [child.pid for child in hdf5_process._idle]
    assert before
    pid = os.fork()
    if pid == 0:
        fine = not hdf5_process._idle and np.array_equal(read_soft(path), expected)
        fine = fine and not {child.pid for child in hdf5_process._idle} & set(before)
        hdf5_process._end_children()
        os._exit(0 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert np.array_equal(read_soft(path), expected)
    assert [child.pid for child in hdf5_process._idle] == before
