"""Reading a run folder while it is written, afterwards, and from a read-only copy."""

from __future__ import annotations

import shutil

import pytest

from hyperacuity.errors import UsageError
from hyperacuity.run import open_run, open_store, run_grid

SIGNATURE = "numbers|v:1"


@pytest.fixture
def folder(tmp_path, cells, make_job):
    with open_store(tmp_path / "run") as store:
        run_grid(make_job(), cells, store=store, progress=False)
    return tmp_path / "run"


def test_a_run_tells_protocols_systems_images_and_tallies_in_the_order_given(folder, cells, make_job, tally_type):
    expected = run_grid(make_job(), cells, progress=False)
    with open_run(folder) as run:
        assert run.signatures() == [SIGNATURE]
        assert run.systems(SIGNATURE) == ["canny", "sobel", "größer"]
        assert run.images(SIGNATURE) == [f"image {k}" for k in range(8)]
        for system, tallies in expected.tallies.items():
            assert run.tallies(SIGNATURE, system, tally_type) == tallies
            assert list(run.tallies(SIGNATURE, system, tally_type)) == list(tallies)
        assert (run.failures(SIGNATURE), run.waiting(SIGNATURE)) == ([], [])


def test_the_file_itself_may_be_named(folder):
    with open_run(folder / "run.sqlite") as run:
        assert run.signatures() == [SIGNATURE]


def test_what_was_never_run_is_empty_or_refused(folder, tally_type):
    with open_run(folder) as run:
        assert run.systems("other|v:1") == []
        assert run.tallies(SIGNATURE, "nobody", tally_type) == {}
        with pytest.raises(ValueError, match=r"holds no run of other\|v:1"):
            run.metadata("other|v:1")


def test_a_later_run_adds_systems_and_replaces_the_images_of_those_it_names(folder, cells, make_job):
    with open_store(folder) as store:
        run_grid(make_job(), [c for c in cells if c.system == "sobel"][:3], store=store, progress=False)
    with open_run(folder) as run:
        assert run.systems(SIGNATURE) == ["canny", "größer", "sobel"]
        assert list(run.packed(SIGNATURE, "sobel")) == ["image 0", "image 1", "image 2"]
        assert len(run.packed(SIGNATURE, "canny")) == 8


def test_a_reader_sees_one_moment_of_a_run_that_goes_on(tmp_path, cells, make_job, monkeypatch):
    monkeypatch.setattr("hyperacuity.run.store.BATCH", 1)  # every tally is written at once
    seen = []

    def look():
        with open_run(tmp_path / "run") as run:
            before = (run.waiting(SIGNATURE), len(run.packed(SIGNATURE, "canny")), run.metadata(SIGNATURE)["status"])
            seen.append((run, *before))

    job = make_job(special={("canny", "image 5"): look, ("größer", "image 7"): look})
    with open_store(tmp_path / "run") as store:
        run_grid(job, cells, store=store, workers=1, progress=False)
    (_, early, canny, status), (_, late, _, _) = seen
    assert status == "running"
    assert 3 <= canny <= 5, "tallies of cells that ended before are there"
    assert ("größer", "image 7") in early
    assert len(late) < len(early)


def test_an_open_reader_keeps_its_moment(folder, cells, make_job):
    with open_run(folder) as run, open_store(folder) as store:
        run_grid(make_job(signature="numbers|v:2"), cells, store=store, progress=False)
        assert run.signatures() == [SIGNATURE]
        with open_run(folder) as later:
            assert len(later.signatures()) == 2


def test_a_read_only_copy_can_be_read(folder, open_folder, read_only_folder, tally_type):
    shutil.copy(folder / "run.sqlite", open_folder)
    (open_folder / "run.sqlite").chmod(0o444)
    read_only_folder(open_folder)
    with open_run(open_folder) as run:
        assert len(run.tallies(SIGNATURE, "sobel", tally_type)) == 8


@pytest.mark.parametrize("where", [".", "nowhere"])
def test_a_folder_without_a_run_is_refused(tmp_path, where):
    with pytest.raises(UsageError, match=r"there is no run in .*expected a folder that holds run\.sqlite"):
        open_run(tmp_path / where)
