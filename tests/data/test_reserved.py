"""The images kept to measure on: which they are, and that nothing may learn from them."""

from __future__ import annotations

import pytest

from hyperacuity.data import figure_ground, find_data, load_dataset
from hyperacuity.data.datasets.bsds import RESERVED, refuse_reserved, reserved, without_reserved
from hyperacuity.errors import UsageError
from hyperacuity.train.figure_ground import part


def test_there_are_100_names_in_order():
    names = [line for line in RESERVED.read_text().splitlines() if not line.startswith("#")]
    assert len(names) == len(reserved()) == 100
    assert names == sorted(names)


def test_they_are_training_images_of_bsds500(shared_data):
    train = {sample.name for sample in load_dataset("bsds500", shared_data, split="train").samples}
    assert reserved() <= train
    for other in ("val", "test"):
        assert not reserved() & {sample.name for sample in load_dataset("bsds500", shared_data, split=other).samples}


def test_the_labelled_images_that_are_held_out_are_the_reserved_ones(shared_data):
    if not (shared_data / "bsds-fg-dev.tar.xz").exists():
        pytest.skip("needs bsds-fg-dev.tar.xz")
    names = sorted({one.image for one in figure_ground(find_data("bsds-fg", shared_data))})
    learned, held_out = part(names, held_out=False), part(names, held_out=True)
    assert (len(learned), len(held_out)) == (100, 50)
    assert set(held_out) == set(names) & reserved()
    assert not set(learned) & reserved()


def test_a_reserved_name_is_never_in_the_part_that_is_learned_from():
    names = [*sorted(reserved())[:6], "x"]
    assert part(names, held_out=False) == ["x"]
    assert part(names, held_out=True) == [names[2], names[5]]


def test_names_are_left_out_or_refused():
    one, other = sorted(reserved())[:2]
    assert without_reserved([other, "mine", one]) == ["mine"]
    refuse_reserved(["mine"])
    refuse_reserved([one], allow=True)
    with pytest.raises(UsageError, match=rf"1 of the images to learn from is reserved .*{one}.* `allow_reserved=True`"):
        refuse_reserved([one, "mine"])
    with pytest.raises(UsageError, match=r"100 of the images to learn from are reserved .*…"):
        refuse_reserved(reserved())
