"""Scores over time without a server: which names are a series, the file, what the command prints and refuses."""

from __future__ import annotations

import json
import re

import hypothesis.strategies as st
import pytest
from hypothesis import given
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.report.charts.over_time import score_over_time
from hyperacuity.report.over_time import WatchedRuns, write_over_time
from hyperacuity.report.over_time.facts import state_of
from hyperacuity.report.over_time.series import PointName, point_names, series_of
from hyperacuity.report.pages import mapper
from hyperacuity.report.sheets.engine import judge
from hyperacuity.run.gather import gather


def series(*names: str) -> dict[str, tuple[str, ...]]:
    return {one.title: one.names for one in series_of([PointName(name, name) for name in names])}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("epoch-10", "epoch-9"), {"epoch-*": ("epoch-9", "epoch-10")}),
        (("v1.10", "v1.9"), {"v*": ("v1.9", "v1.10")}),
        (("lr 0.3", "lr 0.25"), {"lr *": ("lr 0.25", "lr 0.3")}),
        (("ckpt_12000", "canny", "ckpt_800"), {"ckpt_*": ("ckpt_800", "ckpt_12000"), "canny": ("canny",)}),
        (("a-1", "b-1", "a-2"), {"a-*": ("a-1", "a-2"), "b-*": ("b-1",)}),
        (("epoch=9-step=900", "epoch=10-step=1000"), {"epoch=*-step=*": ("epoch=9-step=900", "epoch=10-step=1000")}),
        (
            ("net50-e1", "net101-e1", "net50-e2", "net101-e2"),
            {"net50-e*": ("net50-e1", "net50-e2"), "net101-e*": ("net101-e1", "net101-e2")},
        ),
    ],
)
def test_names_that_differ_only_in_their_number_are_a_series(names, expected):
    assert series(*names) == expected


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=12, unique=True))
def test_a_series_is_in_the_order_of_its_numbers(numbers):
    (one,) = series(*(f"epoch-{number}" for number in numbers)).values()
    assert [int(name[6:]) for name in one] == sorted(numbers)


@given(st.lists(st.text("ab12.-٣ ", min_size=1, max_size=8), unique=True, max_size=8))
def test_every_point_is_in_one_series(names):
    found = [name for one in series_of([PointName(name, name) for name in names]) for name in one.names]
    assert sorted(found) == sorted(names)


def test_points_in_the_order_of_time():
    points = [PointName(name, name) for name in ("epoch-1", "epoch-2", "epoch-3")]
    times = {"epoch-1": "2026-03-01", "epoch-2": "2026-01-01", "epoch-3": "2026-02-01"}
    (one,) = series_of(points, "time", times)
    assert one.names == ("epoch-2", "epoch-3", "epoch-1")


@pytest.mark.parametrize(
    ("systems", "expected"),
    [
        ([("v1", "net"), ("v2", "net")], {"net (v*)": ("net (v1)", "net (v2)")}),
        ([("v1", "net50"), ("v2", "net50")], {"net50 (v*)": ("net50 (v1)", "net50 (v2)")}),
        ([("small", "net"), ("large", "net")], {"net": ("net (small)", "net (large)")}),
        ([("s", "e-1"), ("s", "e-2"), ("l", "e-1")], {"e-* (s)": ("e-1 (s)", "e-2 (s)"), "e-1": ("e-1 (l)",)}),
    ],
)
def test_a_system_of_several_runs_is_followed_over_them(systems, expected):
    assert {one.title: one.names for one in series_of(point_names(systems))} == expected


@pytest.fixture(scope="module")
def learned(make_run):
    """A run whose epochs see less and less well, beside a system that does not change."""
    return make_run(("epoch-1", "epoch-2", "canny"), 3)


def test_the_file_holds_everything_and_asks_for_nothing(learned, tmp_path):
    page = write_over_time([learned], tmp_path / "over-time.html", human=True, progress=False)
    html = page.read_text(encoding="utf-8")
    outside = re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?!data:|#)', outside)
    state = json.loads(re.search(r'id="state">(.*?)</script>', html, re.DOTALL)[1])
    (line,) = state["timelines"]
    assert [(one["title"], one["alone"]) for one in line["series"]] == [("epoch-*", False), ("canny", True)]
    assert len(line["tests"]) == 3, "each of three points with each other"
    assert len(line["thumbnails"]) == 3
    assert 0 < line["people"] <= 1


def test_scores_are_those_of_the_report(learned):
    (grid,) = gather([learned])
    runs = WatchedRuns([learned])
    runs.refresh()
    (line,) = state_of(runs)["timelines"]
    for row in judge(grid, mapper(progress=False)).lines:
        values = line["points"][row.system]["values"]
        assert values == pytest.approx({key: row.values[key] for key in ("ods", "ois", "ap")})
        assert line["points"][row.system]["interval"] == list(row.interval)


class TestCommand:
    def call(self, *words: object):
        return CliRunner().invoke(app, ["watch", *map(str, words)], env={"COLUMNS": "200"})

    def test_prints_the_points_in_their_order(self, learned):
        done = self.call(learned, "--once")
        assert done.exit_code == 0, done.stderr
        names = re.findall(r"^(epoch-\d|canny) ", done.stdout, re.MULTILINE)
        assert names[:3] == ["epoch-1", "epoch-2", "canny"]
        assert "epoch-2 is the latest: ODS" in done.stdout

    def test_stands_beside_a_card(self, learned, make_run, tmp_path):
        card = tmp_path / "old.card"
        assert CliRunner().invoke(app, ["card", str(learned), "--system", "canny", "--out", str(card)]).exit_code == 0
        done = self.call(learned, "--against", card, "--json")
        assert done.exit_code == 0, done.stderr
        (line,) = json.loads(done.stdout)["timelines"]
        assert [one["title"] for one in line["series"]] == ["epoch-*", "canny", "canny (card)"]
        by_title = {one["title"]: one["points"][0]["ods"] for one in line["series"]}
        assert by_title["canny (card)"] == by_title["canny"]

    def test_says_why_a_card_does_not_fit_and_shows_the_rest(self, learned):
        done = self.call(learned, "--against", "bsds500-test-canny", "--json")
        (line,) = json.loads(done.stdout)["timelines"]
        assert line["notes"][0].startswith("bsds500-test-canny: was scored under another protocol")
        assert [one["title"] for one in line["series"]] == ["epoch-*", "canny"]

    def test_serves_on_loopback_with_a_token_and_waits_for_a_run(self, tmp_path, monkeypatch):
        server = pytest.importorskip("hyperacuity.studio.server", reason="needs the extra studio")
        asked = {}

        def serve(page, *, announce, **how):
            asked.update(how, title=page.title)
            announce(server.Address("http://127.0.0.1:1", how["token"], 1))

        monkeypatch.setattr(server, "serve", serve)
        done = self.call(tmp_path / "later", "--no-browser", "--title", "Nets")
        assert done.exit_code == 0, done.stderr
        assert (asked["host"], asked["title"], len(asked["token"]) > 20) == ("127.0.0.1", "Nets over time", True)
        assert f"Nets over time: http://127.0.0.1:1/?token={asked['token']}" in done.stderr
        assert "plain HTTP" not in done.stderr
        monkeypatch.setenv("HYPERACUITY_TOKEN", "said-in-the-environment")
        for where in (["--host", "0.0.0.0"], ["--host", "0.0.0.0", "--public-url", "https://example.org"]):  # noqa: S104
            done = self.call(tmp_path / "later", "--no-browser", *where)
            assert asked["token"] == "said-in-the-environment"  # noqa: S105 (of a test)
            assert ("this page uses plain HTTP" in done.stderr) == (len(where) == 2)
        assert f"warning: No run in {tmp_path / 'later'} yet" in done.stderr
        assert "Ctrl-C stops the page; the run goes on.\nstopped\n" in done.stderr

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["{tmp}/none", "--once"], "No run in {tmp}/none yet"),
            (["{run}", "--out", "{tmp}"], "--out {tmp}: expected the name of a file that ends in .html"),
            (["{run}/run.lock"], "{run}/run.lock is a file, expected a run folder"),
        ],
    )
    def test_says_what_is_wrong(self, learned, tmp_path, words, said):
        done = self.call(*(word.format(tmp=tmp_path, run=learned) for word in words))
        assert done.exit_code == 2
        assert said.format(tmp=tmp_path, run=learned) in done.stderr


@pytest.mark.browser
def test_the_file_opens_from_disk(learned, tmp_path, new_tab, looks_well):
    tab = new_tab()
    tab.goto(write_over_time([learned], tmp_path / "over-time.html", progress=False).as_uri())
    tab.wait_for_selector("#s0-chart-0 svg.marks")
    assert tab.inner_text("#live") == "Snapshot from when this file was written."
    assert "(epoch-2)" in tab.inner_text("#s0 .verdict")
    tab.select_option("[data-focus=to]", "epoch-1")
    tab.select_option("[data-focus=from]", "canny")
    assert "goes from" in tab.inner_text("#s0 .verdict")
    assert tab.locator("#s0 .image img").count() == 3


def test_names_of_levels_that_are_close_do_not_overprint():
    rows = [
        {
            "series": "a",
            "x": n,
            "point": str(n),
            "score": 0.1 * n,
            "low": 0.0,
            "high": 1.0,
            "images": 1,
            "state": "whole",
        }
        for n in (1, 9)
    ]
    spec = score_over_time(
        rows, [("one", 0.5, "system"), ("two", 0.501, "system")], title="F", along="epoch", kind="Q"
    ).to_dict()
    places = [row["label"] for rows in spec["datasets"].values() for row in rows if "label" in row]
    assert abs(places[0] - places[1]) * 300 > 12, "pixels of a chart 300 high, from 0 to 1"
