"""Angles in files: three conventions that mean the same, the files of DOOBNet, BSDS ownership and PIOD, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import savemat

from hyperacuity.data import DataWarning, read_directions, write_png
from hyperacuity.errors import InputError, UsageError

STRENGTH = np.array([[1.0, 0.5, 0.0, 0.25]])
NORMAL = np.array([[0.0, 90.0, 200.0, -90.0]])
"""From near to far: right, down, anything, up. Walking so that the near side is on the left, one goes up, right, …, left."""

TANGENT = np.array([[-np.pi / 2, 0.0, 1.0, np.pi]])


def test_three_conventions_say_the_same(tmp_path):
    vector = STRENGTH * np.stack([np.cos(np.radians(NORMAL)), np.sin(np.radians(NORMAL))])
    forms = {
        "normal": np.stack([STRENGTH, NORMAL]),
        "tangent": np.stack([STRENGTH, TANGENT], axis=-1),
        "vector": vector.astype(np.float32),
    }
    for direction, values in forms.items():
        np.save(tmp_path / "map.npy", np.repeat(values, 3, axis=0 if values.shape[-1] == 2 else 1))
        ((soft, angle),) = read_directions(tmp_path / "map.npy", direction=direction)
        assert soft[0] == pytest.approx(STRENGTH[0])
        there = STRENGTH[0] > 0
        assert (angle[0][there] % 360) == pytest.approx(NORMAL[0][there] % 360)


def test_what_doobnet_writes_and_the_truths_it_reads(tmp_path):
    edge, ori = np.repeat(STRENGTH, 3, axis=0), np.repeat(TANGENT, 3, axis=0)
    savemat(tmp_path / "result.mat", {"edge_ori": {"edge": edge, "ori": ori}})
    truths = np.empty((1, 2), object)
    truths[0, :] = [np.stack([edge > 0, ori], axis=-1), np.stack([edge > 0.4, ori], axis=-1)]
    savemat(tmp_path / "owned.mat", {"gtStruct": {"gt_theta": truths}})
    indices = np.empty((2, 1), object)
    indices[:, 0] = [np.array([[1], [5]]), np.array([[2]])]  # from 1, down the columns of 3
    savemat(tmp_path / "piod.mat", {"bndinfo_pascal": {"OrientMap": ori, "edges": {"indices": indices}, "ne": 2}})
    ((soft, angle),) = read_directions(tmp_path / "result.mat")
    assert soft == pytest.approx(edge)
    assert angle[:, 1] == pytest.approx([90] * 3)
    (first, _), (second, _) = read_directions(tmp_path / "owned.mat")
    assert (first.sum(), second.sum()) == (9, 6)
    ((drawn, angle),) = read_directions(tmp_path / "piod.mat")
    assert np.argwhere(drawn).tolist() == [[0, 0], [1, 0], [1, 1]]
    assert angle[0] == pytest.approx(np.degrees(TANGENT[0]) + 90)


def test_one_channel_is_angles_alone(tmp_path):
    np.save(tmp_path / "angles.npy", np.repeat(NORMAL, 3, axis=0))
    ((drawn, angle),) = read_directions(tmp_path / "angles.npy")
    assert drawn is None
    assert angle.shape == (3, 4)


def test_the_wrong_unit_is_noticed(tmp_path):
    np.save(tmp_path / "degrees.npy", np.full((3, 4), 200.0))
    np.save(tmp_path / "radians.npy", np.full((3, 4), 2.5))
    with pytest.raises(InputError, match=r"run up to 200, expected radians.*`direction='normal'`"):
        read_directions(tmp_path / "degrees.npy", direction="tangent")
    with pytest.warns(DataWarning, match=r"exceeds 2.5 degrees.*`direction='tangent'`"):
        read_directions(tmp_path / "radians.npy")


def test_what_cannot_be_angles_is_refused(tmp_path):
    np.save(tmp_path / "deep.npy", np.zeros((4, 5, 6)))
    np.save(tmp_path / "flat.npy", np.zeros((4, 5)))
    write_png(tmp_path / "grey.png", np.zeros((4, 5), np.uint8))
    savemat(tmp_path / "odd.mat", {"edge_ori": {"edges": np.zeros((4, 5))}})
    for name, direction, message in (
        ("deep.npy", "normal", "shape 4×5×6, expected angles H×W, or two channels"),
        ("flat.npy", "vector", "shape 4×5, expected two channels"),
        ("grey.png", "normal", "a picture of uint8 grey levels"),
        ("odd.mat", "normal", "edge_ori has not the form"),
    ):
        with pytest.raises(InputError, match=message):
            read_directions(tmp_path / name, direction=direction)
    with pytest.raises(UsageError, match="expected one of normal, tangent, vector"):
        read_directions(tmp_path / "flat.npy", direction="left")
