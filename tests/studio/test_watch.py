"""Runs that are followed while somebody writes to them: what is read again, what the page is told, and the page in a browser."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from hyperacuity import tasks
from hyperacuity.compare import verdicts
from hyperacuity.errors import InputError
from hyperacuity.report.over_time import folders as watched_folders
from hyperacuity.report.over_time import timelines
from hyperacuity.report.over_time.facts import findings, state_of, summary
from hyperacuity.report.over_time.timelines import WatchedRuns
from hyperacuity.resampling import ratio, resample
from hyperacuity.run import Cell, open_run, open_store, run_grid
from hyperacuity.studio.app import make_app
from hyperacuity.studio.watch import WatchPage
from hyperacuity.tally import BaseProtocol, Counts, Tally, stack
from hyperacuity.tasks import Criteria, Task


@dataclass(frozen=True)
class ShareProtocol(BaseProtocol):
    task: ClassVar[str] = "share"
    strict: bool = False

    def parts(self) -> dict[str, object]:
        return {"strict": self.strict}


@dataclass(frozen=True, eq=False)
class ShareTally(Tally):
    right: Counts
    total: Counts


def share(tallies, weights):
    return ratio(resample(weights, stack(tallies, "right")), resample(weights, stack(tallies, "total")))[:, None]


SHARE = Task(
    name="share",
    title="Shares",
    protocol=ShareProtocol,
    tally_type=ShareTally,
    tally=lambda prediction, truths, protocol: None,
    collect=lambda tallies, **options: None,
    criteria=lambda protocol: Criteria(("share",), ("max",), share, ("share",)),
)


@dataclass(frozen=True)
class ShareJob:
    """Counts are what the file says: so many right of ten."""

    protocol: ShareProtocol = ShareProtocol()
    tally_type: type[ShareTally] = ShareTally
    before: Callable[[Cell], object] = lambda cell: None

    def evaluate(self, cell: Cell) -> ShareTally:
        self.before(cell)
        text = cell.prediction.read_text()
        if not text.isdigit():
            raise InputError(f"{cell.prediction.name}: is no number")
        return ShareTally(np.array(int(text)), np.array(10), protocol=self.protocol)

    def as_dict(self):
        return {"protocol": self.protocol.to_dict()}


@pytest.fixture(autouse=True)
def known_task(monkeypatch):
    monkeypatch.setattr(tasks, "_joined", {"share": SHARE})


@pytest.fixture
def score(tmp_path) -> Callable[..., Path]:
    """``score(name, {image: right})``: add a system's counts to a run, of ten pixels each."""

    def add(name: str, counts: Mapping[str, object], *, run: str = "run", **how) -> Path:
        cells = []
        for image, count in counts.items():
            path = tmp_path / "maps" / run / name / image
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(count))
            cells.append(Cell(name, image, path, ()))
        with open_store(tmp_path / run) as store:
            run_grid(ShareJob(**how), cells, store=store, progress=False, workers=1)
        return tmp_path / run

    return add


FIRST, SECOND = {"a": 5, "b": 5, "c": 5}, {"a": 9, "b": 5, "c": 4}


def looked(*folders: Path, **options) -> WatchedRuns:
    runs = WatchedRuns(folders, **options)
    runs.refresh()
    return runs


def test_points_have_the_scores_that_one_computes_by_hand(score):
    score("epoch-1", FIRST)
    (line,) = looked(score("epoch-2", SECOND)).timelines
    assert [one.names for one in line.series] == [("epoch-1", "epoch-2")]
    assert (line.value("epoch-1"), line.value("epoch-2")) == (0.5, 0.6)
    assert line.points["epoch-2"].score.images == {"a": 0.9, "b": 0.5, "c": 0.4}
    (told,) = summary(looked(score("epoch-2", SECOND)))["timelines"]
    changed = [(row["image"], row["gain"]) for row in told["change"]["images"]]
    assert changed == [("a", pytest.approx(0.4)), ("b", 0), ("c", pytest.approx(-0.1))]


def test_the_test_of_two_points_is_that_of_compare(score):
    counts = {str(n): n % 7 for n in range(12)}
    score("epoch-1", counts)
    folder = score("epoch-2", {name: min(10, count + int(name) % 3) for name, count in counts.items()})
    runs = looked(folder)
    found = runs.test(runs.timelines[0], "epoch-2", "epoch-1")
    with open_run(folder) as run:
        (signature,) = run.signatures()
        each = {name: run.tallies(signature, name, ShareTally, ShareProtocol()) for name in ("epoch-1", "epoch-2")}
    assert found == verdicts(["epoch-2", "epoch-1"], each.__getitem__, SHARE.criteria(ShareProtocol()))["share"][0]


def test_only_what_has_changed_is_read_again(score, monkeypatch):
    folder = score("epoch-1", FIRST)
    read, opened = [], []
    monkeypatch.setattr(timelines, "point_score", _spy(timelines.point_score, lambda grid, name, _: read.append(name)))
    monkeypatch.setattr(watched_folders, "open_run", _spy(watched_folders.open_run, opened.append))
    runs = looked(folder)
    assert read == ["epoch-1"]
    opened.clear()
    assert not runs.refresh()
    assert opened == [], "a store that nobody has written to is not even opened"
    score("epoch-2", SECOND)
    assert runs.refresh()
    assert read == ["epoch-1", "epoch-2"]
    (line,) = state_of(runs, since=1)["timelines"]
    assert {name: "scores" in point for name, point in line["points"].items()} == {"epoch-1": False, "epoch-2": True}


def _spy(function, note):
    def called(*arguments):
        note(*arguments)
        return function(*arguments)

    return called


def test_a_run_that_is_being_written_is_shown_so_far_and_not_held_up(score):
    reached, go_on = threading.Event(), threading.Event()

    def wait(cell):
        if cell.image == "c":
            reached.set()
            assert go_on.wait(20)

    folder = score("epoch-1", FIRST)
    writer = threading.Thread(target=score, args=("epoch-2", SECOND), kwargs={"before": wait})
    writer.start()
    assert reached.wait(20)
    runs = WatchedRuns([folder])
    try:
        while not runs.timelines or runs.timelines[0].points["epoch-2"].images < 2:  # what is finished is written soon
            runs.refresh()
        point = runs.timelines[0].points["epoch-2"]
        assert (point.images, point.waiting, point.whole) == (2, 1, False)
        assert runs.timelines[0].latest() == "epoch-1", "the last one that is whole"
    finally:
        go_on.set()
        writer.join()
    runs.refresh()
    assert runs.timelines[0].latest() == "epoch-2"
    assert runs.timelines[0].value("epoch-2") == 0.6


class TestWhatIsSaid:
    def test_of_a_folder_without_a_run(self, tmp_path, score):
        runs = looked(tmp_path / "run")
        assert runs.problems == (f"No run in {tmp_path / 'run'} yet. The page will update when a job writes to it.",)
        score("epoch-1", FIRST)
        assert runs.refresh()
        assert runs.problems == ()
        assert list(runs.timelines[0].points) == ["epoch-1"]

    def test_of_a_damaged_store_whose_scores_stay(self, score):
        folder = score("epoch-1", FIRST)
        runs = looked(folder)
        (folder / "run.sqlite").write_bytes(b"no store at all" * 100)
        assert runs.refresh()
        assert "is damaged or not a run store" in runs.problems[0]
        assert runs.timelines[0].value("epoch-1") == 0.5

    def test_of_a_damaged_tally_while_the_others_are_shown(self, score):
        score("epoch-1", FIRST)
        folder = score("epoch-2", SECOND)
        with closing(sqlite3.connect(folder / "run.sqlite")) as store, store:
            store.execute("UPDATE tallies SET tally = x'00' WHERE system = 'epoch-2' AND image = 'b'")
        (line,) = looked(folder).timelines
        assert line.notes[0].startswith("epoch-2 has no score: stored tally is damaged")
        assert line.latest() == "epoch-1"

    def test_of_one_point_alone(self, score):
        runs = looked(score("epoch-1", FIRST))
        assert findings(runs, runs.timelines[0]) == [
            "epoch-1 is the latest: share 0.500 (95 % interval 0.500 to 0.500)."
        ]

    def test_of_images_that_only_one_point_has(self, score):
        score("epoch-1", {"a": 5, "b": 5, "z": 10})
        runs = looked(score("epoch-2", {"a": 6, "b": 6, "c": 6}))
        assert "0.100 better than epoch-1 on the 2 images of both" in findings(runs, runs.timelines[0])[0]

    def test_of_the_best_point_that_is_not_the_latest(self, score):
        score("epoch-1", SECOND)
        runs = looked(score("epoch-2", FIRST))
        assert findings(runs, runs.timelines[0])[1].startswith(
            "The best so far is epoch-1 with 0.600, 0.100 ahead (may be chance: p ="
        )

    def test_of_two_protocols(self, score):
        score("epoch-1", FIRST)
        runs = looked(score("epoch-2", SECOND, protocol=ShareProtocol(strict=True)))
        assert [list(line.points) for line in runs.timelines] == [["epoch-1"], ["epoch-2"]]
        assert runs.timelines[0].title == "Shares · strict False"
        assert runs.timelines[0].notes == (
            "Scores under different protocols are not on one curve: strict is False in one and True in the other.",
        )

    def test_of_what_failed(self, score):
        (line,) = looked(score("epoch-1", {"a": 5, "b": "?"})).timelines
        assert [(one.system, one.image, one.reason) for one in line.failures] == [("epoch-1", "b", "b: is no number")]
        assert line.points["epoch-1"].failed == 1

    def test_of_a_benchmark_that_nobody_knows(self, score, monkeypatch):
        folder = score("epoch-1", FIRST)
        monkeypatch.setattr(tasks, "_joined", {})
        (line,) = looked(folder).timelines
        assert line.notes[0].startswith("there is no benchmark 'share'")
        assert state_of(looked(folder))["timelines"][0]["series"] == []


def test_the_same_system_in_several_runs_is_a_series_over_them(score):
    folders = [score("net", {"a": n, "b": n}, run=f"v{n}") for n in (2, 10)]
    (line,) = looked(*reversed(folders)).timelines
    assert [(one.title, one.names) for one in line.series] == [("net (v*)", ("net (v2)", "net (v10)"))]


@pytest.fixture
def watching(score) -> Iterator[Callable[[], WatchPage]]:
    """``watching()``: the page of a run with two points, which looks often."""
    score("epoch-1", FIRST)
    folder = score("epoch-2", SECOND)
    with WatchPage(looked(folder), every=0.2) as page:
        yield lambda: page


class TestServer:
    def test_tells_what_is_new_and_nothing_twice(self, watching, client_of, score):
        client = client_of(watching().page)
        state = client.get("/state").json()
        assert [line["title"] for line in state["timelines"]] == ["Shares"]
        assert client.get("/state", params={"since": state["mark"]}).status_code == 204
        session = state["mark"].partition("-")[0]
        for strange in ("²", "9" * 5000, "", "-1"):
            assert client.get("/state", params={"since": f"{session}-{strange}"}).status_code == 200
        score("epoch-3", SECOND)
        while (answer := client.get("/state", params={"since": state["mark"]})).status_code == 204:
            time.sleep(0.05)
        points = answer.json()["timelines"][0]["points"]
        assert ["scores" in points[f"epoch-{n}"] for n in (1, 2, 3)] == [False, False, True]

    def test_tests_any_two_points(self, watching, client_of):
        client = client_of(watching().page)
        found = client.get("/test", params={"timeline": 0, "first": "epoch-2", "second": "epoch-1"}).json()["test"]
        assert found["difference"] == pytest.approx(0.1)
        assert found["images"] == 3

    def test_refuses_what_is_not_there(self, watching, client_of):
        client, long = client_of(watching().page), "9" * 5000
        for path in (
            *("/test?timeline=7", "/test?timeline=0&first=x", "/test?timeline=²", f"/test?timeline={long}"),
            *("/picture/0/99", f"/picture/{long}/{long}", "/assets/x.js"),
        ):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["error"][:14]) == (404, "there is no su"), path[:30]

    def test_asks_for_the_token_and_for_its_own_name(self, watching, client_of):
        client = client_of(watching().page, token="a" * 20)
        assert client.get("/state").status_code == 403
        assert client.get("/state", headers={"host": "elsewhere.example"}).status_code == 400


@pytest.mark.browser
def test_a_page_grows_with_the_run_and_keeps_what_was_chosen(watching, live, visit, score, looks_well):
    score("epoch-2", {"a": 9, "b": 5, "c": 4, "<img src=x onerror=alert(1)>": 7})
    tab = visit(live(watching().page).front)
    tab.wait_for_selector("#s0-chart-0 .mark-symbol path >> nth=1", state="attached")
    tab.wait_for_selector("#s0 .verdict p:text('share goes from 0.500 (epoch-1) to')")  # once all four images are there
    tab.select_option("[data-focus=from]", "epoch-1")
    tab.select_option("[data-focus=to]", "epoch-2")
    tab.locator("button.image", has_text="a").first.click()
    tab.wait_for_selector("#s0-chart-1 svg.marks")
    tab.evaluate("scrollTo(0, 300); window.same = true")
    tab.locator("[data-focus=query]").focus()
    score("epoch-3", {"a": 10, "b": 10, "c": 10})
    tab.wait_for_selector("#s0-chart-0 .mark-symbol path >> nth=2", state="attached")
    tab.wait_for_selector("#s0 .findings :text('epoch-3 is the latest: share 1.000')")
    assert tab.text_content("#news") == "New: epoch-3"
    assert tab.evaluate("[window.same, scrollY, document.activeElement.dataset.focus]") == [True, 300, "query"]
    assert tab.input_value("[data-focus=from]") == "epoch-1"
    assert tab.input_value("[data-focus=to]") == "epoch-2"
    assert tab.locator("button.image[aria-pressed=true]").count() == 1
    assert tab.inner_text("#s0 .lists h4 >> nth=0") == "Got better (1)"
    tab.select_option("[data-focus=to]", "")
    tab.wait_for_selector("#s0 .verdict p:has-text('to 1.000 (epoch-3)')")
    looks_well(tab)
    tab.reload()
    tab.wait_for_selector("#s0-chart-1 svg.marks")
    assert tab.input_value("[data-focus=from]") == "epoch-1", "choices stand in the address"


@pytest.mark.browser
def test_every_control_of_the_page_does_what_it_says(score, live, visit):
    """Two protocols, of which one has a failure and more images than a list shows at first."""
    counts = {f"image-{n:02d}": n % 7 for n in range(12)}
    score("epoch-1", counts)
    score("epoch-2", {name: count + 2 for name, count in counts.items()})
    score("epoch-3", {name: count + 1 for name, count in counts.items()} | {"image-99": "?"})
    folder = score("other", FIRST, protocol=ShareProtocol(strict=True))
    with WatchPage(looked(folder), every=0.2) as watched:
        tab = visit(live(watched.page).front, permissions=["clipboard-read"], expected=("Failed to load resource",))
        tab.wait_for_selector("#s0-chart-0 svg.marks")
        assert tab.locator("#s0, #s1").count() == 2
        assert "under different protocols are not on one curve" in tab.inner_text("#s0 .notes")
        assert "image-99" in tab.inner_text("#s0 .failures")
        for choice, begins in (
            ("@best", "share goes from 0.458 (epoch-2) to"),
            ("@first", "share goes from 0.258 (epoch-1) to"),
        ):
            tab.select_option("#s0 [data-focus=from]", choice)
            tab.wait_for_function(
                "(text) => document.querySelector('#s0 .verdict').innerText.startsWith(text)", arg=begins
            )
        items = tab.locator("#s0 .lists .image")
        assert items.count() == 8
        tab.locator("[data-focus=more-better]").click()
        assert items.count() == 12
        tab.fill("#s0 [data-focus=query]", "-05")
        assert items.count() == 1
        tab.fill("#s0 [data-focus=query]", "nothing")
        assert "No matching images." in tab.inner_text("#s0 .lists")
        tab.fill("#s0 [data-focus=query]", "")
        items.first.click()
        tab.wait_for_selector("#s0-chart-1 svg.marks")
        tab.locator("[data-focus=clear]").first.click()
        tab.wait_for_selector("#s0-chosen", state="hidden")
        _the_table_sorts_and_explains_itself(tab)
        tab.locator("#theme").click()
        tab.locator("#theme").click()
        assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
        _a_chart_is_saved(tab)
        tab.context.set_offline(True)
        tab.wait_for_selector("#live.lost")
        assert tab.inner_text("#live").startswith("The server is not responding; trying again.")
        tab.context.set_offline(False)
        tab.wait_for_selector("#live:not(.lost)")


def _the_table_sorts_and_explains_itself(tab):
    names = "[...document.querySelectorAll('#s0 .points tbody .name')].map((cell) => cell.innerText)"
    tab.locator("#s0 .points").get_by_role("button", name="share").click()
    assert tab.evaluate(names) == ["epoch-2", "epoch-3", "epoch-1"]
    assert "higher is better" in tab.inner_text("#s0 .points thead")
    tab.get_by_text("What the columns mean").first.click()
    heads = tab.locator("#s0 .points thead button").all_inner_texts()
    assert tab.locator("#s0 .points dt").all_inner_texts() == heads
    tab.locator("#s0 .findings a").first.click()
    tab.wait_for_function("document.activeElement.dataset.point === 'epoch-3'")  # names lead to their rows


def _a_chart_is_saved(tab):
    """As a file, and on paper of its size, under a policy that allows no style made at run time."""
    with tab.expect_download() as saved:
        tab.get_by_role("link", name="Save as SVG").first.click()
    assert saved.value.suggested_filename.endswith(".svg")
    tab.evaluate("window.print = () => { window.printed = document.title; }")
    tab.get_by_role("button", name="Save as PDF").first.click()
    assert tab.text_content("#paper p") == tab.inner_text("#s0-signature")
    sheet = "document.adoptedStyleSheets.at(-1).cssRules[0].cssText"
    width = tab.evaluate("Math.ceil(document.querySelector('#s0-chart-0 svg.marks').getBoundingClientRect().width)")
    assert f"{width + 24}px" in tab.evaluate(sheet)
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.locator("#paper").count() == 0


def test_the_page_works_below_a_path_of_somebody_elses_host(watching):
    from starlette.testclient import TestClient

    app = make_app(watching().page, token="a" * 20, hosts=None, public="https://example.org/deep/edges")
    client = TestClient(app, base_url="https://example.org")
    entered = client.get(f"/deep/edges/?token={'a' * 20}")
    cookie = entered.headers["set-cookie"].partition(";")[0]
    page = client.get("/deep/edges/", headers={"cookie": cookie}).text
    assert 'src="assets/watch.js"' in page, "addresses are relative, so that a path before them does no harm"
    for path in ("state", "assets/watch.js", "assets/watch.css", "test?timeline=0&first=epoch-2&second=epoch-1"):
        assert client.get(f"/deep/edges/{path}", headers={"cookie": cookie}).status_code == 200
