"""Files that changed after they were evaluated: the page says so, and shows no new picture beside an old score."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from hyperacuity.boundary import Protocol
from hyperacuity.data import write_edges, write_png, write_soft
from hyperacuity.kinds.contours import ContourKind
from hyperacuity.report import write_report
from hyperacuity.report.chosen import _row
from hyperacuity.report.over_time.timelines import WatchedRuns
from hyperacuity.report.pages import make_sheets
from hyperacuity.run import Cell, open_run, open_store, run_grid
from hyperacuity.run.jobs import job_for
from hyperacuity.tasks import task


def files_of(run, system, image):
    with open_run(run) as opened:
        (signature,) = opened.signatures()
        (cell,) = opened.cells(signature, system, image)
    return cell


def report(run, out):
    page = write_report([run], out, progress=False)
    pictures = {}
    for file in sorted((out / "data").glob("s0-*.js")):
        text = file.read_text(encoding="utf-8")
        pictures[len(pictures)] = json.loads(text[text.index(",") + 1 : text.rindex(")")])
    return page.read_text(encoding="utf-8"), pictures


@pytest.fixture
def run(make_run):
    return make_run(("good", "fair"), 3)


def said(pictures):
    return {(image, n): own.get("missing") for image, of in pictures.items() for n, own in enumerate(of["systems"])}


def test_an_unchanged_run_has_nothing_to_say(run, tmp_path):
    text, pictures = report(run, tmp_path / "report")
    assert "changed since" not in text
    assert set(said(pictures).values()) == {None}


def test_a_replaced_prediction_is_not_shown_beside_its_former_score(run, tmp_path):
    prediction = files_of(run, "fair", "image-1").prediction
    write_soft(prediction, np.zeros((48, 64), np.float32))
    text, pictures = report(run, tmp_path / "report")
    assert (
        "Files have changed since they were evaluated (image-1): 1 score is of the former files; evaluate again."
        in text
    )
    found = said(pictures)
    assert found.pop((1, 1)).endswith("has changed since it was evaluated: the score is of the former file")
    assert set(found.values()) == {None}


def test_a_replaced_truth_concerns_every_system(run, tmp_path):
    write_edges(files_of(run, "good", "image-2").truths[1], np.eye(48, 64, dtype=bool))
    text, pictures = report(run, tmp_path / "report")
    assert "2 scores are of the former files" in text
    assert {key for key, reason in said(pictures).items() if reason} == {(2, 0), (2, 1)}
    (sheet,) = make_sheets([run], progress=False)
    (_, truth), *systems = [(told, drawn) for _, told, drawn in _row(sheet, "image-2")[1:]]
    assert truth is None
    for told, drawn in systems:  # and no score beside them
        assert drawn is None
        assert told.endswith("has changed since it was evaluated: the score is of the former file")
    assert all(drawn is not None for _, _, drawn in _row(sheet, "image-1"))


def test_a_replaced_photograph_is_not_shown(run, tmp_path):
    write_png(files_of(run, "good", "image-1").picture, np.zeros((48, 64, 3), np.uint8))
    text, pictures = report(run, tmp_path / "report")
    assert "Photographs have changed since their images were evaluated (image-1) and are not shown." in text
    assert [("photo" in of["shared"]) for of in pictures.values()] == [True, False, True]
    assert set(said(pictures).values()) == {None}  # maps and truths are those that were evaluated
    assert not (tmp_path / "report" / "data" / "s0-1.webp").exists()
    watched = WatchedRuns([run])
    watched.refresh()
    assert set(watched.picture_paths(watched.timelines[0])) == {"image-0", "image-2"}


def test_a_photograph_that_was_replaced_before_another_run_is_the_one_of_that_run(run, tmp_path):
    write_png(files_of(run, "good", "image-1").picture, np.zeros((48, 64, 3), np.uint8))
    with open_run(run) as opened:
        cells = opened.cells(*opened.signatures())
    job = job_for(task("boundary"), Protocol(tolerance=0.02, thresholds=19), ContourKind())
    with open_store(run) as store:
        assert run_grid(job, cells, store=store, progress=False).reused == len(cells)
    assert "changed since" not in report(run, tmp_path / "report")[0]


def test_remote_files_are_said_to_be_unchecked(run, tmp_path):
    pytest.importorskip("fsspec")
    cell = files_of(run, "good", "image-1")
    there = type(cell.prediction)(f"file://{cell.prediction}")
    job = job_for(task("boundary"), Protocol(tolerance=0.02, thresholds=19), ContourKind())
    with open_store(tmp_path / "run") as store:
        run_grid(job, [Cell("far", "image-1", there, cell.truths)], store=store, progress=False)
    text = write_report([tmp_path / "run"], tmp_path / "report", viewer=False, progress=False).read_text("utf-8")
    assert "Remote files are shown as they are now: whether they have changed was not checked." in text


def test_a_file_written_again_with_the_same_bytes_has_not_changed(run, tmp_path):
    prediction = files_of(run, "fair", "image-1").prediction
    prediction.write_bytes(prediction.read_bytes())
    os.utime(prediction, (1, 1))
    assert "changed since" not in report(run, tmp_path / "report")[0]


def test_a_change_that_keeps_size_and_date_is_noticed(run, tmp_path):
    prediction = files_of(run, "fair", "image-1").prediction
    facts, data = prediction.stat(), bytearray(prediction.read_bytes())
    data[-20] ^= 1
    prediction.write_bytes(data)
    os.utime(prediction, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert "changed since" in report(run, tmp_path / "report")[0]


def test_a_file_that_is_gone_is_missing_and_not_changed(run, tmp_path):
    files_of(run, "fair", "image-1").prediction.unlink()
    text, pictures = report(run, tmp_path / "report")
    assert "changed since" not in text
    assert said(pictures)[1, 1]
