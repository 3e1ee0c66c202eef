"""Comparisons and reports hold one system's tallies at a time, of the moment at which the run was opened."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import hyperacuity
from hyperacuity.boundary import BoundaryTally, Protocol
from hyperacuity.boundary.scores import criteria
from hyperacuity.compare.criteria import table_of
from hyperacuity.evaluation.comparison import compare_runs
from hyperacuity.report.pages import make_sheets, write_pages
from hyperacuity.run import open_run, open_store
from hyperacuity.run.gather import gather
from hyperacuity.tally import Tally

SYSTEMS, IMAGES = 6, 4


class Alive:
    """How many tallies that were read from a store are alive, and how many ever were at once."""

    def __init__(self) -> None:
        self.now = self.most = self.read = 0

    def born(self, tally: Tally) -> None:
        self.now, self.read = self.now + 1, self.read + 1
        self.most = max(self.most, self.now)
        weakref.finalize(tally, self.died)

    def died(self) -> None:
        self.now -= 1


@pytest.fixture
def alive(monkeypatch) -> Alive:
    count, checked = Alive(), Tally._checked.__func__

    def counted(cls, arrays, protocol):
        tally = checked(cls, arrays, protocol)
        count.born(tally)
        return tally

    monkeypatch.setattr(Tally, "_checked", classmethod(counted))  # which every tally that is unpacked goes through
    return count


@pytest.fixture(scope="module")
def many(make_run):
    return make_run([f"system {n}" for n in range(SYSTEMS)], IMAGES, noise=0.02)


@pytest.mark.parametrize("test", [None, "wilcoxon", "bootstrap"])
def test_a_comparison_holds_one_systems_tallies(many, alive, test):
    found = compare_runs([many], test=test)
    assert len(found.ranking.systems) == SYSTEMS
    assert alive.read >= SYSTEMS * IMAGES
    assert alive.most <= IMAGES + 1  # one more, whose protocol the next ones are held against


def test_a_report_holds_one_systems_tallies(many, alive, tmp_path):
    sheets = make_sheets([many], progress=False, workers=1)
    write_pages(sheets, tmp_path, progress=False, workers=1)
    assert len(sheets[0].lines) == SYSTEMS
    assert alive.read >= SYSTEMS * IMAGES
    assert alive.most <= IMAGES + 1


@pytest.mark.parametrize("task", ["edges", "disparity"])
def test_so_do_sheets_of_other_tasks(world, alive, task):
    sheets = make_sheets([world / task], progress=False)
    images = max(line.images for sheet in sheets for line in sheet.lines)
    assert alive.read
    assert alive.most <= images + 1


def test_a_result_that_is_compared_holds_one_systems_tallies(world, alive):
    systems = {name: world / "maps" / name for name in ("canny", "sobel")}
    systems["again"] = systems["canny"]
    result = hyperacuity.evaluate("boundary", systems, world / "scenes" / "groundTruth", thresholds=5, progress=False)
    result.compare()
    assert alive.most <= 2 + 1


def test_a_grid_shows_the_moment_at_which_it_was_opened(make_run):
    folder = make_run(["first", "second"], 2)
    (grid,) = gather([folder])
    with open_run(folder) as run:
        (cell, *_), signature = run.cells(str(grid.signature), "second"), str(grid.signature)
    with open_store(folder) as store:  # a later run, in which the system has one image, and waits
        store.begin(signature, "other", [cell], workers=1, job=grid.options)
        store.end("interrupted")
    assert {system: list(images) for system, images in grid.tallies().items()} == {
        "first": ["image-0", "image-1"],
        "second": ["image-0", "image-1"],
    }
    assert grid.tally("second", "image-1") is not None
    (later,) = gather([folder])
    assert list(later.tallies()) == ["first"]
    assert later.tally("second", "image-0") is None
    assert later.waiting == 1


def test_images_are_scored_alone_however_many_there_are():
    protocol, random = Protocol(thresholds=3), np.random.default_rng(0)

    def tally() -> BoundaryTally:
        detected, truth = np.sort(random.integers(1, 90, 3))[::-1], np.full(3, 50)
        matched = np.minimum(detected, truth) // 2
        return BoundaryTally(matched, truth, matched, detected, detected, detected, protocol=protocol)

    tallies = {system: {str(n): tally() for n in range(1203)} for system in "ab"}
    table = table_of(tallies)
    for system, values in zip("ab", table.values, strict=True):
        for image in ("0", "499", "500", "1202"):
            expected = criteria(protocol).overall([tallies[system][image]])
            assert values[table.images.index(image)].tolist() == expected.tolist()
