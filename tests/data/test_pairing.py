"""Folders of predictions and truths: who belongs to whom, and who is left over."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import pair_folders, pair_truths, read_boundary_truths, write_edges, write_truths
from hyperacuity.errors import InputError, UsageError
from hyperacuity.kinds.contours import ContourKind
from hyperacuity.kinds.regions import RegionKind


@pytest.fixture
def folders(tmp_path):
    """Make two folders of empty files; the result is (predictions, truths)."""

    def make(predictions: list[str], truths: list[str]) -> tuple[Path, Path]:
        for side, names in (("predictions", predictions), ("truths", truths)):
            (tmp_path / side).mkdir()
            for name in names:
                path = tmp_path / side / name
                path.parent.mkdir(exist_ok=True)
                path.touch()
        return tmp_path / "predictions", tmp_path / "truths"

    return make


def found(pairing) -> dict[str, list[str]]:
    return {pair.name: [f"{path.parent.name}/{path.name}" for path in pair.truths] for pair in pairing.pairs}


def names(paths) -> list[str]:
    return [path.name for path in paths]


def test_stems_pair_whatever_the_suffix_and_the_rest_is_listed(folders):
    pairing = pair_folders(
        *folders(["b.png", "a.npy", "extra.png", "100.5"], ["a.mat", "b.PNG", "lost.png", "100.5.mat"])
    )
    assert found(pairing) == {"100.5": ["truths/100.5.mat"], "a": ["truths/a.mat"], "b": ["truths/b.PNG"]}
    assert names(pairing.unpaired_predictions) == ["extra.png"]
    assert names(pairing.unpaired_truths) == ["lost.png"]
    assert pairing.pairs[1].prediction.name == "a.npy"


@pytest.mark.parametrize("separator", ["_", "-", ".", " "])
def test_numbers_at_the_end_are_annotators(folders, separator):
    truths = [f"a{separator}1.png", f"a{separator}2.png", f"b_7{separator}1.png", f"c{separator}1.png"]
    pairing = pair_folders(*folders(["a.png", "b_7.png"], truths))
    assert found(pairing) == {
        "a": [f"truths/a{separator}1.png", f"truths/a{separator}2.png"],
        "b_7": [f"truths/b_7{separator}1.png"],
    }
    assert names(pairing.unpaired_truths) == [f"c{separator}1.png"]


def test_a_number_is_part_of_the_name_where_stems_agree_as_they_stand(folders):
    pairing = pair_folders(*folders(["goat.pgm", "bear_4.pgm"], ["goat.pgm", "goat_2.pgm", "bear_4.pgm"]))
    assert found(pairing) == {"bear_4": ["truths/bear_4.pgm"], "goat": ["truths/goat.pgm"]}
    assert names(pairing.unpaired_truths) == ["goat_2.pgm"]


def test_an_ending_that_all_share_is_taken_off_either_side(folders):
    truths = ["goat_2_gt_binary.pgm", "goat_gt_binary.pgm", "hyena_gt_binary.pgm"]
    pairing = pair_folders(*folders(["goat_2_pred.png", "goat_pred.png"], truths))
    assert found(pairing) == {"goat": ["truths/goat_gt_binary.pgm"], "goat_2": ["truths/goat_2_gt_binary.pgm"]}
    assert names(pairing.unpaired_truths) == ["hyena_gt_binary.pgm"]


def test_a_lone_pair_with_an_ending_is_found_too(folders):
    assert list(found(pair_folders(*folders(["goat_2.png"], ["goat_2_gt_binary.pgm"])))) == ["goat_2"]


def test_ending_and_number_can_stand_together(folders):
    pairing = pair_folders(*folders(["a.png"], ["a_1_edges.png", "a_2_edges.png"]))
    assert found(pairing) == {"a": ["truths/a_1_edges.png", "truths/a_2_edges.png"]}


def test_each_sub_folder_is_an_annotator(folders):
    pairing = pair_folders(*folders(["a.png", "b.png"], ["anna/a.png", "ben/a.png", "ben/b.png", "ben/c.png"]))
    assert found(pairing) == {"a": ["anna/a.png", "ben/a.png"], "b": ["ben/b.png"]}
    assert names(pairing.unpaired_truths) == ["c.png"]


def test_hidden_files_do_not_count(folders):
    pairing = pair_folders(*folders(["a.png", ".DS_Store"], ["a.png", "._a.png"]))
    assert found(pairing) == {"a": ["truths/a.png"]}
    assert pairing.unpaired_predictions == pairing.unpaired_truths == ()


def test_letters_pair_however_the_file_system_spells_them(folders):
    composed, decomposed = (unicodedata.normalize(form, "café ñ.png") for form in ("NFC", "NFD"))
    assert composed != decomposed
    assert len(pair_folders(*folders([composed], [decomposed])).pairs) == 1


def test_an_empty_folder_or_nothing_in_common_is_a_wrong_call(folders, tmp_path):
    predictions, truths = folders(["a.png"], ["b.png"])
    with pytest.raises(UsageError, match=r"like a\.png.*like b\.png"):
        pair_folders(predictions, truths)
    (tmp_path / "empty").mkdir()
    (tmp_path / "hollow" / "inside").mkdir(parents=True)
    for first, second in (("empty", "truths"), ("predictions", "empty"), ("predictions", "hollow")):
        with pytest.raises(UsageError, match=r"holds no file|hold a file"):
            pair_folders(tmp_path / first, tmp_path / second)
    with pytest.raises(UsageError, match=r"missing: cannot be read as a folder \(no such file or directory\)"):
        pair_folders(tmp_path / "missing", truths)


def test_two_predictions_of_one_name_are_a_wrong_call(folders):
    with pytest.raises(UsageError, match=r"a\.npy and a\.png share a stem"):
        pair_folders(*folders(["a.png", "a.npy"], ["a.png"]))


def test_known_truths_pair_by_name(folders):
    predictions, truths = folders(["a_ucm.mat", "b_ucm.mat"], ["x.mat", "y.mat"])
    pairing = pair_truths(predictions, {"a": [truths / "x.mat"], "c": [truths / "y.mat"]})
    assert found(pairing) == {"a": ["truths/x.mat"]}
    assert names(pairing.unpaired_predictions) == ["b_ucm.mat"]
    assert names(pairing.unpaired_truths) == ["y.mat"]


def test_a_link_to_nothing_does_not_make_a_truth_vanish(tmp_path):
    """An annotator whose files were links to nothing was left out, and ODS rose from .80 to .889 without a word."""
    for folder in ("maps", "truth/anna", "truth/ben"):
        (tmp_path / folder).mkdir(parents=True)
        write_edges(tmp_path / folder / "bear.png", np.eye(8, dtype=bool))
    (tmp_path / "truth/ben/bear.png").unlink()
    (tmp_path / "truth/ben/bear.png").symlink_to("nowhere.png")
    (pair,) = pair_folders(tmp_path / "maps", tmp_path / "truth").pairs
    assert [path.parent.name for path in pair.truths] == ["anna", "ben"]
    with pytest.raises(InputError, match=r"truth/ben/bear\.png: cannot be read \(no such file"):
        read_boundary_truths(pair.truths)
    (tmp_path / "truth/carl").symlink_to("nowhere")
    with pytest.raises(InputError, match=r"truth/carl: is a link to nothing; mend it or remove it"):
        pair_folders(tmp_path / "maps", tmp_path / "truth")


@pytest.mark.parametrize("place", ["maps", "truth/ben"])
def test_a_folder_where_a_file_belongs_is_named_and_costs_one_image(tmp_path, place):
    for folder in ("maps", "truth/anna", "truth/ben"):
        (tmp_path / folder).mkdir(parents=True)
        for name in ("bear.png", "goat.png"):
            write_edges(tmp_path / folder / name, np.eye(8, dtype=bool))
    (tmp_path / place / "bear.png").unlink()
    (tmp_path / place / "bear.png").mkdir()
    done = CliRunner().invoke(app, ["boundary", str(tmp_path / "maps"), str(tmp_path / "truth"), "--json"])
    assert done.exit_code == 1
    assert "bear.png: is a folder" in done.stderr
    told = json.loads(done.stdout)
    assert [failure["image"] for failure in told["failed"]] == ["bear"]
    assert told["annotators"] == {"bear": 2, "goat": 2}


def test_annotators_are_counted_where_each_has_a_folder(tmp_path):
    for folder in ("maps", "truth/anna", "truth/ben"):
        (tmp_path / folder).mkdir(parents=True)
        for name in ("bear.png", "goat.png", "kudu.png"):
            write_edges(tmp_path / folder / name, np.eye(8, dtype=bool))
    (tmp_path / "truth" / "ben" / "bear.png").unlink()
    done = CliRunner().invoke(app, ["boundary", str(tmp_path / "maps"), str(tmp_path / "truth")])
    assert done.exit_code == 0, done.output
    assert "annotators per image: 2; 1 of bear" in done.stdout


@pytest.mark.parametrize("kind", [ContourKind, RegionKind])
def test_annotators_are_counted_where_one_file_has_them_all(tmp_path, kind):
    """As the reader finds them; what cannot be read fails its own cell."""
    for folder in ("maps", "truth"):
        (tmp_path / folder).mkdir()
    drawn = [np.tri(8, k=k, dtype=np.int32) for k in range(3)]
    for name, count in (("bear", 3), ("goat", 2), ("kudu", 1), ("lynx", 1)):
        write_edges(tmp_path / "maps" / f"{name}.png", np.eye(8, dtype=bool))
        write_truths(tmp_path / "truth" / f"{name}.mat", drawn[:count])
    (tmp_path / "truth" / "lynx.mat").write_bytes(b"MATLAB 5.0 MAT-file".ljust(128))
    found = kind().find({"a": tmp_path / "maps"}, tmp_path / "truth")
    assert found.annotators() == {"bear": 3, "goat": 2, "kudu": 1}
    assert {cell.image: len(found.kind.truths(cell)) for cell in list(found)[:3]} == found.annotators()


def test_planes_of_a_stack_are_annotators_of_regions(tmp_path):
    for folder in ("maps", "truth"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "bear.npy", np.zeros((4, 8, 8), np.int32))
    assert RegionKind().find({"a": tmp_path / "maps"}, tmp_path / "truth").annotators() == {"bear": 4}
