"""Pictures of edge maps."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image, ImageColor

from hyperacuity.report import theme
from hyperacuity.report.pictures.layers import data_uri
from hyperacuity.report.pictures.maps import edge_picture


def test_thin_lines_survive_when_a_picture_is_made_smaller() -> None:
    truth = np.zeros((101, 203), bool)
    truth[50] = True
    small = edge_picture(truth, truth, side=50)
    assert max(small.shape) <= 50
    green = (small == ImageColor.getrgb(theme.HIT)).all(axis=2)
    assert green.any(axis=0).all()
    assert green.sum() == small.shape[1]


def test_a_block_shows_its_hits_first() -> None:
    truth, found = np.zeros((2, 4), bool), np.zeros((2, 4), bool)
    truth[0, 0] = found[0, 0] = True  # a hit, beside a missed and a false pixel
    truth[1, 0] = found[1, 1] = True
    truth[0, 2] = found[1, 3] = True  # a missed and a false pixel
    colours = edge_picture(truth, found, side=2)[0]
    assert [tuple(c) for c in colours] == [ImageColor.getrgb(theme.HIT), ImageColor.getrgb(theme.FALSE)]


def test_a_picture_as_text_is_the_same_picture() -> None:
    picture = edge_picture(np.eye(9), np.eye(9, k=1))
    data = base64.b64decode(data_uri(picture, 16).partition(",")[2])
    with Image.open(io.BytesIO(data)) as image:
        np.testing.assert_array_equal(np.asarray(image.convert("RGB")), picture)
