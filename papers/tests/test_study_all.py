"""``hyperacuity study all`` itself: the studies of all five papers, tiny, first with a torn photograph and then without data.

Set HYPERACUITY_THOROUGH to run it; what each study does with torn pictures and missing data is also tested with that study.
"""

from __future__ import annotations

import json
import os
from functools import partial

import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.detect import orderer
from hyperacuity.errors import InputError
from hyperacuity.run.many import PictureSource
from hyperacuity_papers import every
from hyperacuity_papers.abdulrahman2017.edge_table import TABLE
from hyperacuity_papers.abdulrahman2017.half_kernels import HalfKernelGrid
from hyperacuity_papers.cabezas2011 import study as cabezas2011
from hyperacuity_papers.common.depth_pictures import scene_pictures
from hyperacuity_papers.hou2013 import study as hou2013
from hyperacuity_papers.maire2016 import study as maire2016
from hyperacuity_papers.palou2014 import study as palou2014

SMALL = (96, 64)
GRID = HalfKernelGrid(TABLE, (3,), (1,), (30,), (4,), ("variance",), (), seeds=2, size=96)
TECHNIQUES = (
    "sad",
    "census",
    "adaptive-weights",
    "cost-filter",
    "sgm",
)  # those that the ledger asks about, and another
TINY = {
    "palou2014": {"scenes": 1, "size": SMALL},
    "hou2013": {"detectors": "sobel", "observers": "sf1"},
    "abdulrahman2017": {"count": 1, "seeds": 2, "size": 96, "grid": GRID},
}


def torn():
    raise InputError("torn.jpg: is cut short")


@pytest.fixture
def tiny(monkeypatch):
    """The real studies of all papers, on few and small pictures."""
    made = {
        maire2016: {"SCENES": range(1, 3), "SIZE": SMALL, "available_systems": lambda: {"ae": orderer("ae")}},
        cabezas2011: {"SCENE_COUNT": 1, "SCENE_SIZE": (64, 64), "FIELD": dict.fromkeys(TECHNIQUES, ())},
        hou2013: {"N_SCENES": 2},
    }
    for module, values in made.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    whole = every.paper

    def small(name):
        one = whole(name)
        return every.PaperStudy(name, one.title, partial(one.conduct, **TINY.get(name, {})), one.claims)

    monkeypatch.setattr(every, "paper", small)


@pytest.mark.skipif(not os.environ.get("HYPERACUITY_THOROUGH"), reason="five studies, however small, take a minute")
def test_five_sections_on_scenes_whatever_the_folder_lacks_and_a_torn_photograph_is_named(tiny, tmp_path, monkeypatch):
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    words = ["study", "all", "--data", str(data), "--out", str(out), "--no-figures", "--json"]
    with monkeypatch.context() as patch:
        pictures = [*scene_pictures([7], SMALL), PictureSource("torn", torn)]
        for module in (palou2014, maire2016):
            patch.setattr(module, "held_out_pictures", lambda *_, **__: pictures)
        first = CliRunner().invoke(app, words)
    assert first.exit_code == 1, first.output
    for name in ("palou2014", "maire2016"):
        assert f"{name}: torn: torn.jpg: is cut short" in first.stderr
        assert not (out / name / "ledger.json").exists()
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 0, again.output
    assert [f"{name}: kept from before" in again.stderr for name in every.PAPERS] == [False, False, True, True, True]
    told = json.loads(again.stdout)
    assert list(told["papers"]) == list(every.PAPERS)
    assert all(len(told["papers"][name]) == len(every.paper(name).claims) for name in every.PAPERS)
    page = (out / "papers.md").read_text()
    assert page.count("\n## ") == 5
    assert told["notes"][1].startswith("Left out, for want of data: what needs bsds500, bsds-fg, rug, middlebury-v2")
    assert [note.partition(":")[0] for note in told["notes"][2:]] == list(every.PAPERS)
    for note in told["notes"]:
        assert note.partition(": ")[2].removeprefix("and ") in page
