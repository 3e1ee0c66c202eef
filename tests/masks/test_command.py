"""The command: palette images, sequences as DAVIS lays them out, and what is said about files that look like a mistake."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import write_png
from hyperacuity.report.pages import make_sheets

TRUTH = np.zeros((24, 36), np.uint8)
TRUTH[4:12, 4:30] = 1
TRUTH[14:20, 6:30] = 2


def masks(*arguments):
    return CliRunner().invoke(app, ["masks", *map(str, arguments)], env={"COLUMNS": "160"})


def scores(*arguments):
    done = masks(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def write_palette(path, labels):
    """As DAVIS writes its annotations: an index per pixel, and colours that mean nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.fromarray(labels, "L").convert("P")
    picture.putpalette(np.random.default_rng(0).integers(0, 256, 768, np.uint8).tobytes())
    picture.save(path)


@pytest.fixture
def folders(tmp_path):
    """Truths as palette images, predictions as grey levels and as arrays."""
    for name in ("a", "b"):
        write_palette(tmp_path / "truth" / f"{name}.png", TRUTH)
        (tmp_path / "grey").mkdir(exist_ok=True)
        (tmp_path / "array").mkdir(exist_ok=True)
        write_png(tmp_path / "grey" / f"{name}.png", TRUTH)
        np.save(tmp_path / "array" / f"{name}.npy", np.where(TRUTH == 1, 1, 0))
    return tmp_path


def test_indices_of_palette_images_are_labels(folders):
    words = (folders / "grey", folders / "truth", "--system", f"array={folders / 'array'}", "--by", "instance")
    found = scores(*words, "--run", folders / "run")
    assert found["systems"]["grey"]["f"]["mean"] == found["systems"]["grey"]["boundary_iou"]["mean"] == 1.0
    assert found["systems"]["array"]["j"]["mean"] == 0.5
    assert found["systems"]["array"]["missed"] == 2
    assert found["systems"]["array"]["per_image"]["a"]["f"] == 0.5
    assert scores(*words, "--run", folders / "run") == found  # resumed
    table = masks(*words)
    assert "array: of 4 objects, 2 missed" in table.stdout
    assert table.stdout.splitlines()[-1] == found["signature"]


def test_labels_have_rows_of_their_own(folders):
    done = masks(folders / "array", folders / "truth", "--protocol", "labels")
    assert done.exit_code == 0
    rows = [line.split() for line in done.stdout.splitlines() if line.split()[:1] in (["0"], ["1"], ["2"])]
    assert [row[:2] for row in rows] == [["0", "2"], ["1", "2"], ["2", "2"]]
    assert rows[1][2:] == ["1.0000"] * 5
    assert rows[2][2:] == ["0.0000"] * 5
    found = scores(folders / "array", folders / "truth", "--protocol", "labels")["systems"]["array"]
    assert found["labels"]["2"] == {"images": 2, "f": 0, "one_to_one": 0, "boundary_iou": 0, "j": 0, "jf": 0}


def test_labels_that_are_merged_into_one_mask_are_pointed_out(folders):
    done = masks(folders / "grey", folders / "truth")
    assert "holds the labels 1, 2, which count as one mask; use --by instance or --by label" in done.stderr
    assert "1.0000" in done.stdout


def test_soft_and_coloured_pictures_are_pointed_out(tmp_path):
    for name, picture in (("truth", 255 * (TRUTH > 0)), ("soft", 7 * TRUTH + np.arange(36)), ("paint", TRUTH * 100)):
        (tmp_path / name).mkdir()
        channels = np.stack([picture, 0 * picture, 0 * picture], axis=-1) if name == "paint" else picture
        write_png(tmp_path / name / "a.png", channels.astype(np.uint8))
    assert "a soft map? All but 0 count as the mask" in masks(tmp_path / "soft", tmp_path / "truth").stderr
    done = masks(tmp_path / "paint", tmp_path / "truth")
    assert done.exit_code == 1
    assert "a.png: is painted in colours, expected labels" in done.stderr


@pytest.fixture
def davis(tmp_path):
    """Two sequences of four frames; in the second, the prediction of an inner frame is empty."""
    for sequence in ("bear", "dance"):
        for number in range(4):
            write_palette(tmp_path / "Annotations" / "480p" / sequence / f"{number:05}.png", TRUTH)
            lost = sequence == "dance" and number == 1
            write_palette(tmp_path / "mine" / sequence / f"{number:05}.png", TRUTH * (not lost))
    return tmp_path


def test_a_folder_of_folders_is_a_set_of_sequences(davis):
    words = (davis / "mine", davis / "Annotations" / "480p", "--protocol", "davis2017")
    found = scores(*words)
    (system,) = found["systems"].values()
    assert (system["images"], system["objects"]) == (2, 4)  # two sequences with two objects each
    assert system["per_image"]["bear"]["jf"] == 1.0
    assert system["per_image"]["dance"]["j"] == 0.5  # one of the two frames between the first and the last
    assert system["jf"]["mean"] == 0.75
    assert "annotators" not in masks(*words).stdout
    (all_frames,) = scores(*words, "--frames", "all")["systems"].values()
    assert all_frames["per_image"]["dance"]["j"] == 0.75


def test_the_page_shows_sequences_frame_by_frame(davis):
    words = (davis / "mine", davis / "Annotations" / "480p", "--protocol", "davis2017", "--run", davis / "run")
    assert masks(*words).exit_code == 0
    (sheet,) = make_sheets([davis / "run"], progress=False)
    (line,) = sheet.lines
    assert line.values["jf"] == 0.75
    assert sheet.image_scores["dance"] == {"mine": 0.5}
    (shown,) = sheet.viewer.pictures("dance", sheet.grid.cells_of("dance"))["systems"]
    assert (shown["what"], shown["steps"], shown["of"]) == ("Frame", ["00000", "00001", "00002", "00003"], 4)
    assert shown["match"]["count"] == shown["near"]["count"] == 4
    assert shown["numbers"]["J&F"] == "0.500"


def test_a_missing_frame_fails_its_sequence_and_a_missing_sequence_is_named(davis):
    (davis / "mine" / "bear" / "00002.png").unlink()
    done = masks(davis / "mine", davis / "Annotations" / "480p", "--protocol", "davis2017")
    assert done.exit_code == 1
    assert "1 of the 4 frames have no prediction, the first is 00002" in done.stderr
    for path in (davis / "mine" / "bear").iterdir():
        path.unlink()
    done = masks(davis / "mine", davis / "Annotations" / "480p", "--protocol", "davis2017")
    assert done.exit_code == 0
    assert "1 truth has no prediction: bear" in done.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--protocol", "coco"], "there is no protocol 'coco'; there are binary, labels, davis2016, davis2017"),
        (["--ignore", "sky"], "--ignore sky: expected a label such as 255, or none"),
        (["--by", "blob"], "by 'blob': expected 'binary' or 'label' or 'instance'"),
    ],
)
def test_calls_that_make_no_sense_are_refused(folders, options, sentence):
    done = masks(folders / "grey", folders / "truth", *options)
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_pictures_against_sequences_are_refused(davis):
    done = masks(davis / "mine", davis / "mine" / "bear")
    assert done.exit_code == 2
    assert "holds pictures, but the predictions are folders of frames" in done.stderr
