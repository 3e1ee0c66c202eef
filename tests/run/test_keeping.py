"""Results that are kept: used again under the same key, made again under another or where a file is damaged."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hyperacuity.data import Sample, read_disparity, write_png
from hyperacuity.data.datasets.pairing import files_in
from hyperacuity.detect.stereo import matcher
from hyperacuity.errors import UsageError
from hyperacuity.run.keeping import Kept, code_key, keep_file, keep_files, kept, key_of
from hyperacuity.systems.maps import detect_samples, match_scenes


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


def test_files_are_written_again_where_one_is_missing_or_the_key_is_another(tmp_path):
    files = [tmp_path / name for name in ("a", "b")]

    def write(parts):
        for part in parts:
            part.write_bytes(b"x")

    assert keep_files(files, "1", write)
    assert not keep_files(files, "1", write)
    files[0].unlink()
    assert keep_files(files, "1", write)
    assert keep_files(files, "2", write)


def test_a_file_that_was_changed_is_neither_used_nor_overwritten(tmp_path):
    path = tmp_path / "a.png"
    assert keep_file(path, "1", lambda part: part.write_bytes(b"ours"))
    assert not keep_file(path, "1", lambda part: part.write_bytes(b"ours"))
    path.write_bytes(b"mine")
    with pytest.raises(UsageError, match=r"a\.png: was changed since hyperacuity wrote it"):
        keep_file(path, "1", lambda part: part.write_bytes(b"ours"))
    assert path.read_bytes() == b"mine"


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_results_are_computed_again(tmp_path_factory, data):
    """Any byte of an archive or of JSON changed, or the file cut short: a miss, and the next time it is there again."""
    folder = tmp_path_factory.mktemp("kept")
    arrays, one = Kept(folder, ("hyperacuity.edges",)), folder / "one.json"
    truth = {"total": np.arange(5.0), "empty": np.zeros((0, 2), np.int32)}
    arrays(["input"], lambda: truth)
    made(one, "a", [[1.5, "text"]])
    for path in (*folder.glob("*.npz"), one):
        old = path.read_bytes()
        place = data.draw(st.integers(0, len(old) - 1))
        flipped = old[:place] + bytes([old[place] ^ data.draw(st.integers(1, 255))]) + old[place + 1 :]
        path.write_bytes(data.draw(st.sampled_from([flipped, old[:place], old + b"more"])))
    again = arrays(["input"], lambda: {name: value.copy() for name, value in truth.items()})
    assert all(np.array_equal(again[name], value) for name, value in truth.items())
    assert made(one, "a", [[1.5, "text"]]) == [1.5, "text"]
    assert arrays.found(["input"]) is not None


def test_a_result_under_the_name_of_another_is_not_taken_for_it(tmp_path):
    kept_arrays = Kept(tmp_path, ("hyperacuity.edges",))
    kept_arrays(["one"], lambda: {"n": np.array(1)})
    (first,) = tmp_path.glob("*.npz")
    kept_arrays(["two"], lambda: {"n": np.array(2)})
    (second,) = set(tmp_path.glob("*.npz")) - {first}
    second.write_bytes(first.read_bytes())
    assert int(kept_arrays(["two"], lambda: {"n": np.array(2)})["n"]) == 2


@given(arrays(np.int64, 3, elements=st.integers(0, 2)), arrays(np.int64, 3, elements=st.integers(0, 2)))
def test_keys_differ_where_inputs_do(one, two):
    assert (key_of("v", one) == key_of("v", two)) == np.array_equal(one, two)
    assert key_of("v", one) != key_of("w", one)
    assert key_of("v", one, "size") != key_of("v", one, "count")


def test_the_code_has_a_key():
    assert code_key("hyperacuity.ordering.prc") == code_key("hyperacuity.ordering.prc")
    assert code_key("hyperacuity.ordering.prc") != code_key("hyperacuity.ordering.local")


def test_maps_are_written_again_under_another_key_and_after_their_picture_changed(tmp_path):
    """Times say nothing: a touched picture has the same maps, another picture with an older date has others."""
    picture, maps = tmp_path / "a.png", tmp_path / "maps"
    write_png(picture, np.zeros((8, 8), np.uint8))
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
    assert len(seen) == 2
    write_png(picture, np.full((8, 8), 9, np.uint8))
    os.utime(picture, (1, 1))
    detect_samples(samples, {"mine": maps}, see, 1, keys={"mine": "another"})
    assert len(seen) == 3
    detect_samples(samples, {"mine": maps}, see, 1)
    assert len(seen) == 4
    assert files_in(maps) == [maps / "a.png"], "the list of outputs is none of the maps"


def test_a_pair_with_old_dates_is_matched_again_when_its_pictures_changed(tmp_path):
    left, right = tmp_path / "left.png", tmp_path / "right.png"
    sad = matcher("sad")
    values = np.random.default_rng(1).integers(0, 255, (24, 64), dtype=np.uint8)

    def matched(shift):
        for path, pixels in ((left, values), (right, np.roll(values, -shift, axis=1))):
            write_png(path, pixels)
            os.utime(path, (1, 1))
        scenes = {"one": Sample("one", left, (left,), extras={"right": right})}
        found = match_scenes(scenes, [sad], tmp_path / "maps", 1, disparities=16, reuse=True)
        assert not found.failures
        return round(float(np.median(read_disparity(found.folders["sad"] / "one.pfm", zero="known")[:, 20:-20])))

    assert (matched(3), matched(7)) == (3, 7)
