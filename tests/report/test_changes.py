"""Files that changed after they were evaluated: the page says so, and shows no new picture beside an old score."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from hyperacuity.data import write_edges, write_soft
from hyperacuity.report import write_report
from hyperacuity.run import open_run


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
