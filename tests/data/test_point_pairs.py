"""Pairs of points in four forms that say the same, and what is refused, pickles above all."""

from __future__ import annotations

import json
import pickle

import pytest

from hyperacuity.data import read_point_pairs
from hyperacuity.errors import InputError

EXPECTED = {"a": [(2, 1, 4, 3, 1, 1), (0, 0, 5, 5, -1, 1)], "b": [(1, 1, 2, 2, 0, 1)]}
"""y and x of both points from 0, the first nearer, the second, about equal."""

FORMS = {
    "own.csv": "image,x1,y1,x2,y2,nearer\nsome/a.jpg,1,2,3,4,1\nsome/a.jpg,0,0,5,5,2\nsome/b.png,1,1,2,2,=\n",
    "da2k.json": json.dumps(
        {
            "some/a.jpg": [
                {"point1": [2, 1], "point2": [4, 3], "closer_point": "point1"},
                {"point1": [0, 0], "point2": [5, 5], "closer_point": "point2"},
            ],
            "some/b.png": [{"point1": [1, 1], "point2": [2, 2], "closer_point": "equal"}],
        }
    ),
    "nyu.csv": "a header\n./x/a.png,./x/a.h5,2\n3,2,5,4,<\n1,1,6,6,>\n./x/b.png,./x/b.h5,1\n2,2,3,3,=\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_say_the_same(tmp_path, name):
    (tmp_path / name).write_text(FORMS[name])
    found = read_point_pairs(tmp_path / name)
    assert {image: of.rows for image, of in found.items()} == EXPECTED
    assert found["a"].array().shape == (2, 6)


def test_diw_has_one_pair_per_image_and_its_size(tmp_path):
    (tmp_path / "DIW_test.csv").write_text(
        "./DIW_test/a.thumb\n3,2,5,4,<,400,300\n./DIW_test/b.thumb\n1,1,6,6,>,40,30\n"
    )
    found = read_point_pairs(tmp_path / "DIW_test.csv")
    assert {image: (of.rows, of.size) for image, of in found.items()} == {
        "a": ([(2, 1, 4, 3, 1, 1)], (400, 300)),
        "b": ([(0, 0, 5, 5, -1, 1)], (40, 30)),
    }


def test_weights_are_read(tmp_path):
    (tmp_path / "own.csv").write_text("weight,image,x1,y1,x2,y2,nearer\n0.25,a,0,0,1,1,1\n")
    assert read_point_pairs(tmp_path / "own.csv")["a"].rows == [(0, 0, 1, 1, 1, 0.25)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,x1\na,1\n", "expected the columns image, x1, y1, x2, y2, nearer, or the form of DIW or NYU"),
        ("image,x1,y1,x2,y2,nearer\na,0,0,1,1\n", "line 2: has 5 cells, expected 6"),
        ("image,x1,y1,x2,y2,nearer\na,0,0,1,1,left\n", "the relation is 'left', expected 1 or 2 or ="),
        ("image,x1,y1,x2,y2,nearer\na,0,0,1.5,1,1\n", "expected whole numbers from 0"),
        ("image,x1,y1,x2,y2,nearer\na,zero,0,1,1,1\n", "expected numbers"),
        ("image,x1,y1,x2,y2,nearer,weight\na,0,0,1,1,1,-2\n", "the weight is -2"),
        ("image,x1,y1,x2,y2,nearer\nx/a.png,0,0,1,1,1\ny/a.png,0,0,1,1,1\n", "have the same name, a"),
        ("image,x1,y1,x2,y2,nearer\n", "holds no pair of points"),
        ("./a.thumb\n0,2,5,4,<,400,300\n", "expected whole numbers from 1"),
        ("./a.thumb\n1,2,5,4,<,400,300\n./b.thumb\n", "expected an image, then yA"),
        ("head\n./a.png,x,2\n3,2,5,4,<\n", "says that 2 pairs follow"),
        ("head\n./a.png,x,1\n3,2,5,4,?\n", "expected > or < or ="),
        ('{"a": [{"point1": [1, 2]}]}', "pair 1 of a: expected"),
        ('{"a": [{"point1": [1], "point2": [1, 2], "closer_point": "point1"}]}', "expected \\[y, x\\] twice"),
        ('{"a": ', "is not a JSON file"),
    ],
)
def test_what_cannot_be_right_is_said(tmp_path, text, message):
    (tmp_path / "pairs.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_point_pairs(tmp_path / "pairs.csv")


def test_pickles_are_never_opened_and_arrays_name_no_images(tmp_path):
    for protocol in (0, 4):
        (tmp_path / "labels.pkl").write_bytes(pickle.dumps([{"x_A": [1]}], protocol))
        with pytest.raises(InputError, match="is a Python pickle, which is never opened"):
            read_point_pairs(tmp_path / "labels.pkl")
    (tmp_path / "pairs.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(200))
    with pytest.raises(InputError, match="names no images: give the CSV file"):
        read_point_pairs(tmp_path / "pairs.h5")
