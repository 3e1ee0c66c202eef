"""The command on folders as people have them: scores, resuming, gaps, and making truths."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

import hyperacuity as ha
from hyperacuity.cli import app
from hyperacuity.data import write_png
from hyperacuity.data.formats.matlab import encode
from hyperacuity.semantic import masks2edges

FEW = ("--thresholds", "0.3,0.5,0.7", "--workers", "1")


def call(*words, status=0):
    done = CliRunner().invoke(app, ["semantic", *map(str, words)])
    assert done.exit_code == status, done.output
    return done


def found(*words, status=0):
    return json.loads(call(*words, *FEW, "--json", status=status).stdout)


def numbers(result, system):
    mean = result["systems"][system]["mean"]
    return [mean[name] for name in ("ods", "ois", "ap")]


def test_folders_of_classes_stacks_and_arrays_have_the_same_scores(folders, small):
    classes, stacks = (found(folders / name, folders / "truth") for name in ("maps", "stacks"))
    assert numbers(classes, "maps") == numbers(stacks, "stacks")
    soft = [image.soft / np.float32(255) for image in small.values()]
    truths = [ha.semantic.semantic_truth(image.labels, instances=image.objects) for image in small.values()]
    result = ha.evaluate("semantic", soft, truths, thresholds=(0.3, 0.5, 0.7))
    assert numbers(result.json(), "prediction") == numbers(classes, "maps")
    person = classes["systems"]["maps"]["classes"]["class_001"]
    assert person["ods"].keys() == {"threshold", "recall", "precision", "f", "ci"}
    assert person["images"] == 2
    assert classes["systems"]["maps"]["classes"]["class_002"]["images"] == 1


def test_bits_in_a_picture_are_read_as_pyedgeeval_writes_them(folders, small):
    """Class k is bit k − 1, the first eight in blue."""
    for name, image in small.items():
        marks = (image.soft > 127).astype(np.uint8)
        bits = np.zeros((40, 60, 3), np.uint8)
        bits[..., 2] = marks[0] | marks[1] << 1
        (folders / "bits").mkdir(exist_ok=True)
        write_png(folders / "bits" / f"{name}.png", bits)
        for c in range(2):
            (folders / "hard" / f"class_{c + 1:03d}").mkdir(parents=True, exist_ok=True)
            write_png(folders / "hard" / f"class_{c + 1:03d}" / f"{name}.png", marks[c] * np.uint8(255))
    (folders / "names.txt").write_text("goat\nbear\n", encoding="utf-8")
    named = ("--classes", folders / "names.txt")
    bits, hard = (found(folders / name, folders / "truth", *named) for name in ("bits", "hard"))
    assert numbers(bits, "bits") == numbers(hard, "hard")
    assert list(bits["systems"]["bits"]["classes"]) == ["goat", "bear"]


def test_truths_that_were_made_of_labels_score_as_the_labels_do(folders):
    call("truth", folders / "truth", "--out", folders / "edges", "--json")
    labels, edges = (found(folders / "maps", folders / name) for name in ("truth", "edges"))
    assert numbers(labels, "maps") == numbers(edges, "maps")
    made = json.loads(
        call("truth", folders / "truth", "--out", folders / "raw", "--raw", "--radius", "2", "--json").stdout
    )
    assert made["classes"] == {"class_001": 2, "class_002": 1}


def test_a_run_is_resumed_and_counts_again_only_what_changed(folders, small):
    words = (folders / "maps", folders / "truth", *FEW, "--run", folders / "run")
    assert "2 computed" in call(*words).stderr
    assert "2 reused" in call(*words).stderr
    write_png(folders / "maps" / "class_002" / "bear.png", small["goat"].soft[1])
    again = call(*words).stderr
    assert "1 computed" in again
    assert "1 reused" in again


def test_what_is_missing_is_said(folders):
    shutil.rmtree(folders / "maps" / "class_002")
    (folders / "names.txt").write_text("goat\nbear\nchair\n", encoding="utf-8")
    printed = call(folders / "maps", folders / "truth", *FEW, "--classes", folders / "names.txt").stdout
    assert "no map of 1 class of the truth, left out of the means: bear" in printed
    assert "1 class occurs in no image, left out of the means: chair" in printed
    (folders / "maps" / "class_001" / "bear.png").unlink()
    wanted = (folders / "maps", folders / "truth", "--classes", folders / "names.txt")
    assert "1 truth has no prediction: bear" in call(*wanted, *FEW).stderr


def test_a_map_that_is_missing_of_some_images_detects_nothing_there(folders):
    (folders / "maps" / "class_001" / "bear.png").unlink()
    result = found(folders / "maps", folders / "truth")
    assert result["systems"]["maps"]["classes"]["class_001"]["missing"] == 1
    assert "class_001: no map of 1 image, where nothing counts as detected" in result["notes"]


def test_cityscapes_as_distributed(folders, small):
    """Label ids 24 (person) and 26 (car); a strip at the right is out of the region of interest, id 3."""
    city = folders / "cityscapes" / "gtFine" / "val" / "ulm"
    city.mkdir(parents=True)
    ids = np.array([1, 24, 26])[small["bear"].labels]
    ids[:, 50:] = 3
    instances = np.where(ids >= 24, ids * 1000 + small["bear"].objects, ids)
    write_png(city / "ulm_000000_000019_gtFine_labelIds.png", ids.astype(np.uint8))
    write_png(city / "ulm_000000_000019_gtFine_instanceIds.png", instances.astype(np.uint16))
    for c, plane in zip((12, 14), small["bear"].soft, strict=True):
        place = folders / "city-maps" / f"class_{c:03d}" / "ulm"
        place.mkdir(parents=True)
        write_png(place / "ulm_000000_000019_leftImg8bit.png", plane)
    result = ha.evaluate(
        "semantic", folders / "city-maps", folders / "cityscapes", protocol="cityscapes-raw", half=False, progress=False
    )
    (tally,) = result.tallies("city-maps").values()
    labels = np.where(ids == 3, 255, small["bear"].labels)
    edges = masks2edges(labels, [1, 2], instances=small["bear"].objects, ignore=[255], radius=2)
    assert tally.truth[[11, 13]].tolist() == [edges[0].sum(), edges[1].sum()]
    assert list(result.score().classes) == ["person", "car"]
    (city / "ulm_000000_000019_gtFine_instanceIds.png").rename(city / "ulm_000000_000019_gtFine_labelTrainIds.png")
    write_png(
        city / "ulm_000000_000019_gtFine_labelTrainIds.png",
        np.select([ids == 24, ids == 26], [11, 13], 255).astype(np.uint8),
    )
    (city / "ulm_000000_000019_gtFine_labelIds.png").unlink()
    assert found(folders / "city-maps", city, "--protocol", "cityscapes-thin")["systems"]["city-maps"]["images"] == 1


def test_sbd_as_distributed(folders, small):
    """One file with the classes, one with the objects; only the images that the list names are expected."""
    for folder in ("cls", "inst"):
        (folders / "sbd" / folder).mkdir(parents=True)
    for name, image in small.items():
        edges = masks2edges(image.labels, [1, 2], radius=1, thin=True)
        classes = {"Boundaries": list(edges), "Segmentation": image.labels.astype(np.uint8)}
        (folders / "sbd" / "cls" / f"{name}.mat").write_bytes(encode({"GTcls": classes}))
        objects = [edges[0], edges[1] | edges[0]]
        inst = {
            "Boundaries": objects,
            "Segmentation": image.objects.astype(np.uint8),
            "Categories": np.array([[1], [1]]),
        }
        (folders / "sbd" / "inst" / f"{name}.mat").write_bytes(encode({"GTinst": inst}))
    (folders / "sbd" / "val.txt").write_text("bear\n", encoding="utf-8")
    sbd, plain = (
        found(folders / "maps", folders / "sbd", "--no-instances"),
        found(folders / "maps", folders / "truth", "--no-instances"),
    )
    assert sbd["images"] == 1
    assert plain["images"] == 2
    every = found(folders / "maps", folders / "sbd", "--no-instances", "--split", "all")
    assert numbers(every, "maps") == numbers(plain, "maps")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("maps", "nowhere"), "there is no file or folder"),
        (("maps", "truth", "--protocol", "city"), "there is no protocol 'city'; there are plain, sbd,"),
        (("maps", "truth", "--split", "val"), "has no parts; SBD and Cityscapes have train and val"),
        (("maps", "truth", "--classes", "truth"), "is not a plain file, expected one class per line"),
        (("truth/labels", "maps"), "is a grey picture, expected one for each class"),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_one_sentence(folders, monkeypatch, words, sentence):
    monkeypatch.chdir(folders)
    done = CliRunner().invoke(app, ["semantic", *words, *FEW])
    assert done.exit_code in (1, 2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
