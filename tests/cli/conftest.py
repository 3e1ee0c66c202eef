"""What the tests of commands share: small data of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cards import write_card
from hyperacuity.cards.making import card_of_run
from hyperacuity.cli import app
from hyperacuity.ordering import contours, ordering


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    truths = [f"{folder}/boundaries", f"{folder}/groundTruth"]
    for words in (
        ["scenes", str(folder), "--count", "2", "--size", "96x64", "--leaves", "6"],
        ["semantic", "truth", f"{folder}/labels", "--out", f"{folder}/semantic"],
        ["edges", *truths, "--measures", "psi", "--run", f"{folder}/run"],
        ["card", f"{folder}/run", "--out", f"{folder}/drawn.card"],
    ):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.stderr
    write_card(card_of_run(folder / "run"), folder / "psi.card")
    (folder / "owned").mkdir()
    for path in (folder / "order").iterdir():
        found = contours(ordering(np.load(path)))
        np.save(folder / "owned" / path.name, np.stack([found.pixels, np.nan_to_num(found.angle)]))
    rows = (f"{path.stem},1,1,90,60,1" for path in sorted((folder / "order").iterdir()))
    (folder / "pairs.csv").write_text("\n".join(["image,x1,y1,x2,y2,nearer", *rows]))
    return folder
