"""Results that are kept: used again under the same key, made again under another or where a file is damaged."""

from __future__ import annotations

import json
import os

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperacuity.data import Sample, write_png
from hyperacuity.data.datasets.pairing import files_in
from hyperacuity.run.keeping import code_key, fresh_folder, kept, kept_files, key_of
from hyperacuity.systems.maps import detect_samples


def made(path, key, values):
    """What is kept, made from the first of ``values`` that is left."""
    return kept(path, key, values.pop, lambda value: [value], lambda found: found[0])


def test_a_result_is_made_once_per_key(tmp_path):
    path, values = tmp_path / "deep" / "one.json", [3, 2, 1]
    assert [made(path, "a", values), made(path, "a", values)] == [1, 1]
    assert made(path, "b", values) == 2
    assert made(path, "b", values) == 2


def test_a_damaged_file_is_made_again_and_without_a_path_nothing_is_kept(tmp_path):
    path = tmp_path / "one.json"
    for text in ("", "{", "[1]", '{"key": "a"}', json.dumps({"key": "a", "result": None})):
        path.write_text(text, encoding="utf-8")
        assert made(path, "a", [7]) == 7
    assert made(None, "a", [5]) == 5


def test_files_are_made_again_where_one_is_missing_or_the_key_is_another(tmp_path):
    files = [tmp_path / name for name in ("a", "b")]

    def make():
        for file in files:
            file.write_text("x", encoding="utf-8")

    record = tmp_path / "record"
    assert kept_files(record, "1", files, make)
    assert not kept_files(record, "1", files, make)
    files[0].unlink()
    assert kept_files(record, "1", files, make)
    assert kept_files(record, "2", files, make)


def test_a_folder_of_another_key_is_emptied(tmp_path):
    folder = fresh_folder(tmp_path / "maps", "1")
    (folder / "map").write_text("x", encoding="utf-8")
    assert (fresh_folder(folder, "1") / "map").exists()
    assert not (fresh_folder(folder, "2") / "map").exists()


@given(arrays(np.int64, 3, elements=st.integers(0, 2)), arrays(np.int64, 3, elements=st.integers(0, 2)))
def test_keys_differ_where_inputs_do(one, two):
    assert (key_of("v", one) == key_of("v", two)) == np.array_equal(one, two)
    assert key_of("v", one) != key_of("w", one)
    assert key_of("v", one, "size") != key_of("v", one, "count")


def test_the_code_has_a_key():
    assert code_key("hyperacuity.ordering.prc") == code_key("hyperacuity.ordering.prc")
    assert code_key("hyperacuity.ordering.prc") != code_key("hyperacuity.ordering.local")


def test_maps_are_made_again_under_another_key_and_after_their_picture_changed(tmp_path):
    picture, maps = tmp_path / "a.png", tmp_path / "maps"
    write_png(picture, np.zeros((8, 8), np.uint8))
    os.utime(picture, (1, 1))
    maps.mkdir()
    seen = []

    def see(image, names):
        seen.append(list(names))
        return {name: np.zeros(image.shape, np.float32) for name in names}

    samples = [Sample("a", picture, (picture,))]
    for key, times in (("one", 1), ("one", 1), ("another", 2), ("another", 2)):
        cells, failed = detect_samples(samples, {"mine": maps}, see, 1, keys={"mine": key})
        assert (len(cells), failed, len(seen)) == (1, [], times)
    os.utime(picture, (2**31, 2**31))
    detect_samples(samples, {"mine": maps}, see, 1, keys={"mine": "another"})
    detect_samples(samples, {"mine": maps}, see, 1)
    assert len(seen) == 4
    assert files_in(maps) == [maps / "a.png"], "the key is none of the maps"
