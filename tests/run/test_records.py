"""Reading a run folder while it is written, afterwards, and from a read-only copy."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hyperacuity.errors import UsageError
from hyperacuity.run import open_run, open_store, run_grid

SIGNATURE = "numbers|v:1"


@pytest.fixture
def folder(tmp_path, cells, make_job):
    with open_store(tmp_path / "run") as store:
        run_grid(make_job(), cells, store=store, progress=False)
    return tmp_path / "run"


def test_a_run_tells_protocols_systems_images_and_tallies_in_the_order_given(
    folder, cells, make_job, tally_type, protocol
):
    expected = run_grid(make_job(), cells, progress=False)
    with open_run(folder) as run:
        assert run.signatures() == [SIGNATURE]
        assert run.systems(SIGNATURE) == ["canny", "sobel", "größer"]
        assert run.images(SIGNATURE) == [f"image {k}" for k in range(8)]
        for system, tallies in expected.tallies.items():
            assert run.tallies(SIGNATURE, system, tally_type, protocol) == tallies
            assert list(run.tallies(SIGNATURE, system, tally_type, protocol)) == list(tallies)
        assert (run.failures(SIGNATURE), run.waiting(SIGNATURE)) == ([], [])


def test_a_system_has_another_version_when_one_of_its_cells_has_changed(folder, cells, make_job):
    with open_run(folder) as run:
        before = {state.system: state for state in run.system_states()}
    assert [(one.done, one.failed, one.waiting) for one in before.values()] == [(8, 0, 0)] * 3

    def fail():
        raise ValueError("no")

    changed = [cell for cell in cells if cell.system == "sobel"]
    changed[2].prediction.write_text("7 7")
    with open_store(folder) as store:
        run_grid(make_job(special={("sobel", "image 2"): fail}), changed, store=store, progress=False)
    with open_run(folder) as run:
        after = {state.system: state for state in run.system_states()}
    assert (after["sobel"].done, after["sobel"].failed) == (7, 1)
    assert {name for name in before if before[name].version != after[name].version} == {"sobel"}


def test_cells_come_back_with_their_files_and_their_picture(tmp_path, cells, make_job, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pictured = [
        replace(cell, picture=Path("photos") / f"{cell.image}.jpg", extras=(("regions", cell.truths[0]),))
        for cell in cells
    ]
    with open_store(Path("run")) as store:
        run_grid(make_job(), pictured, store=store, progress=False)
    with open_run(Path("run")) as run:
        found = run.cells(SIGNATURE)
    assert [(cell.system, cell.image) for cell in found] == [(cell.system, cell.image) for cell in cells]
    assert found[0].files == (cells[0].prediction, *cells[0].truths, cells[0].truths[0])
    assert dict(found[0].extras)["regions"] == cells[0].truths[0]
    assert found[0].picture == tmp_path / "photos" / "image 0.jpg"


def test_one_system_and_one_cell_can_be_read_alone(tmp_path, cells, make_job, tally_type, protocol):
    def fail():
        raise ValueError("no")

    job = make_job(special={("sobel", "image 2"): fail})
    with open_store(tmp_path / "run") as store:
        outcome = run_grid(job, cells, store=store, progress=False)
    with open_run(tmp_path / "run") as run:
        assert run.images_of(SIGNATURE, "sobel") == [f"image {k}" for k in range(8)]
        assert run.images_of(SIGNATURE, "sobel", done=True) == [f"image {k}" for k in range(8) if k != 2]
        assert [cell.image for cell in run.cells(SIGNATURE, "sobel")] == [f"image {k}" for k in range(8)]
        (cell,) = run.cells(SIGNATURE, "sobel", "image 5")
        assert cell == next(c for c in cells if (c.system, c.image) == ("sobel", "image 5"))
        assert run.cells(SIGNATURE, "sobel", "nowhere") == []
        found = run.tally(SIGNATURE, "sobel", "image 5", tally_type, protocol)
        assert found == outcome.tallies["sobel"]["image 5"] != outcome.tallies["sobel"]["image 4"]
        assert run.tally(SIGNATURE, "sobel", "image 2", tally_type, protocol) is None


def test_a_picture_decides_nothing(folder, cells, make_job):
    with open_store(folder) as store:
        pictured = [replace(cell, picture=cell.prediction) for cell in cells]
        assert run_grid(make_job(), pictured, store=store, progress=False).computed == 0


def test_the_fingerprint_depends_on_contents_not_on_places_or_order(folder, tmp_path, cells, make_job):
    with open_run(folder) as run:
        before = run.fingerprint(SIGNATURE)
    shutil.copytree(tmp_path / "files", tmp_path / "moved")
    moved = [
        replace(
            cell,
            prediction=tmp_path / "moved" / cell.prediction.name,
            truths=tuple(tmp_path / "moved" / path.name for path in cell.truths),
        )
        for cell in cells
    ]
    with open_store(tmp_path / "other") as store:
        run_grid(make_job(), moved[::-1], store=store, progress=False)
    with open_run(tmp_path / "other") as run:
        assert run.fingerprint(SIGNATURE) == before
    moved[0].prediction.write_text("7 7")
    with open_store(tmp_path / "other") as store:
        run_grid(make_job(), moved, store=store, progress=False)
    with open_run(tmp_path / "other") as run:
        assert run.fingerprint(SIGNATURE) != before


def test_how_the_job_was_set_up_is_recorded(tmp_path, cells, make_job, protocol):
    class Choosy(make_job):
        def as_dict(self):
            return {"protocol": self.protocol.to_dict(), "reader": {"inverted": True}}

    for job in (make_job(), Choosy(replace(protocol, base=16))):
        with open_store(tmp_path / "run") as store:
            run_grid(job, cells[:1], store=store, progress=False)
    with open_run(tmp_path / "run") as run:
        assert run.metadata(SIGNATURE)["job"] == {"protocol": {"base": 10, "reading": []}}
        assert run.metadata("numbers|base:16|v:1")["job"] == {
            "protocol": {"base": 16, "reading": []},
            "reader": {"inverted": True},
        }


def test_the_file_itself_may_be_named(folder):
    with open_run(folder / "run.sqlite") as run:
        assert run.signatures() == [SIGNATURE]


def test_what_was_never_run_is_empty_or_refused(folder, tally_type, protocol):
    with open_run(folder) as run:
        assert run.systems("other|v:1") == []
        assert run.tallies(SIGNATURE, "nobody", tally_type, protocol) == {}
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


def test_an_open_reader_keeps_its_moment(folder, cells, make_job, protocol):
    with open_run(folder) as run, open_store(folder) as store:
        run_grid(make_job(replace(protocol, base=16)), cells, store=store, progress=False)
        assert run.signatures() == [SIGNATURE]
        with open_run(folder) as later:
            assert len(later.signatures()) == 2


def test_a_read_only_copy_can_be_read(folder, open_folder, read_only_folder, tally_type, protocol):
    shutil.copy(folder / "run.sqlite", open_folder)
    (open_folder / "run.sqlite").chmod(0o444)
    read_only_folder(open_folder)
    with open_run(open_folder) as run:
        assert len(run.tallies(SIGNATURE, "sobel", tally_type, protocol)) == 8


@pytest.mark.parametrize("where", [".", "nowhere"])
def test_a_folder_without_a_run_is_refused(tmp_path, where):
    with pytest.raises(UsageError, match=r"there is no run in .*expected a folder that holds run\.sqlite"):
        open_run(tmp_path / where)
