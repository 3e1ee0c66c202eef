"""The page as files: what is in the folder, that nothing points outside, and that awkward runs are readable."""

from __future__ import annotations

import json
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperacuity.boundary import Protocol
from hyperacuity.cli import app
from hyperacuity.errors import UsageError
from hyperacuity.outputs import LIST
from hyperacuity.report import pages, write_report
from hyperacuity.report.pages import make_sheets
from hyperacuity.run.gather import gather


class Reader(HTMLParser):
    """Tags with their attributes, and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())

    def rows(self) -> int:
        return sum(tag == "tr" for tag, _ in self.tags)


def read(page: Path) -> Reader:
    return Reader(page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(plain_run, tmp_path_factory) -> Path:
    return write_report([plain_run], tmp_path_factory.mktemp("report"), progress=False)


def test_the_folder_holds_the_page_its_assets_and_a_script_and_thumbnail_per_image(page):
    folder = page.parent
    assert page.name == "index.html"
    assert sorted(path.name for path in (folder / "assets").iterdir()) == ["report.css", "report.js", "vega.js"]
    expected = [f"s0-{n}.{kind}" for n in range(4) for kind in ("js", "webp")]
    assert sorted(path.name for path in (folder / "data").iterdir()) == sorted(expected)


def test_everything_the_page_names_lies_beside_it(page):
    for tag, attributes in read(page).tags:
        for name in ("src", "href"):
            target = attributes.get(name)
            if target and not target.startswith(("#", "data:")):
                assert (page.parent / target).is_file(), f"<{tag} {name}={target}>"


def test_the_front_page_tells_who_is_better_by_how_much_and_under_which_protocol(page, plain_run):
    text = read(page).text
    (grid,) = gather([plain_run])
    (sheet,) = make_sheets([plain_run], progress=False)
    assert [line.system for line in sheet.lines] == ["good", "fair", "poor"]
    for line in sheet.lines:
        assert f"{line.values['ods']:.3f}" in text
    assert str(grid.signature) in text
    assert grid.origins[0].fingerprint in text
    assert len(sheet.findings) == 3
    assert all(sentence in text for sentence in sheet.findings)
    assert "People, compared with each other" in text


def test_one_file_holds_everything(plain_run, tmp_path):
    page = write_report([plain_run], tmp_path / "all.html", single_file=True, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["all.html"]
    for tag, attributes in read(page).tags:
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), f"<{tag} {name}>"
    assert page.stat().st_size < 3_000_000


def test_without_the_viewer_there_are_no_pictures(plain_run, tmp_path):
    page = write_report([plain_run], tmp_path, viewer=False, progress=False)
    assert not list((tmp_path / "data").iterdir())
    assert not any(attributes.get("href", "").startswith("#s0-0") for _, attributes in read(page).tags)


def test_names_full_of_markup_stay_text(nasty_run, tmp_path):
    page = write_report([nasty_run], tmp_path / "folder", progress=False)
    single = write_report([nasty_run], tmp_path / "single.html", single_file=True, progress=False)
    for path in (page, single):
        found = read(path)
        assert not any(attribute.startswith("on") for _, attributes in found.tags for attribute in attributes)
        assert not any(attributes.get("src") == "x" for _, attributes in found.tags)
        assert "<img src=x onerror=boom()>" in found.text
        assert "{{ 7*7 }}" in found.text
        assert not any(script.startswith("boom()") for script in found.scripts)
    for script in (page.parent / "data").glob("*.js"):
        assert "</script" not in script.read_text(encoding="utf-8")


def test_what_failed_is_named_and_the_rest_is_scored(nasty_run, tmp_path):
    page = write_report([nasty_run], tmp_path, viewer=False, progress=False)
    text = read(page).text
    assert "1 cell failed" in text
    assert "1 failed" in text
    (grid,) = gather([nasty_run])
    assert grid.failures[0].reason.split(":")[-1].strip() in text


def test_a_run_in_which_everything_failed_is_still_a_page(make_run, tmp_path):
    run = make_run(["only"], 2, broken=[(0, 0), (0, 1)])
    text = read(write_report([run], tmp_path, progress=False)).text
    assert "No image could be evaluated." in text
    assert "2 cells failed" in text


@pytest.mark.parametrize(("systems", "images"), [(1, 1), (1, 3), (2, 1), (30, 2)])
def test_few_or_many_systems_and_images(make_run, tmp_path, systems, images):
    run = make_run([f"system {n}" for n in range(systems)], images, noise=0.02)
    page = write_report([run], tmp_path, progress=False)
    found = read(page)
    assert found.rows() == 1 + systems
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1])
    assert len(facts[0]["systems"]) == systems
    assert len(facts[0]["images"]) == images
    tested = systems > 1 and images > 1
    assert ("p compares the best system with each other one" in found.text) == tested
    assert ("no difference was tested" in found.text) == (systems > 1 and not tested)
    assert page.stat().st_size < 2_000_000


def test_among_many_systems_clear_differences_are_still_significant(make_run):
    """Holm's correction is for 11 tests, the last of which is passed only with a p below 0.05 / 11."""
    (sheet,) = make_sheets([make_run([f"system {n}" for n in range(12)], 6, noise=0.04)], progress=False)
    assert sheet.lines[-1].verdict.tests == 11
    assert sheet.lines[-1].verdict.significant
    assert sheet.lines[0].interval[0] > sheet.lines[-1].interval[1]


def test_files_that_moved_are_missing_from_the_viewer_only(make_run, tmp_path):
    run = make_run(["first", "second"], 2)
    shutil.rmtree(run.parent / "0")
    (run.parent / "photos" / "image-1.png").write_bytes(b"not a picture any more")
    page = write_report([run], tmp_path, progress=False)
    assert "first reaches" in read(page).text
    shown = payload(page, "s0-0")
    assert "cannot be read" in shown["systems"][0]["missing"]
    assert "match" in shown["systems"][1]
    assert "photo" in shown["shared"]
    assert "photo" not in payload(page, "s0-1")["shared"]


def payload(page: Path, key: str) -> dict:
    text = (page.parent / "data" / f"{key}.js").read_text(encoding="utf-8")
    return json.loads(text[text.index(",") + 1 : text.rindex(")")])


def test_pictures_can_be_named_afterwards(make_run, tmp_path):
    run = make_run(["only"], 2, pictured=False)
    assert "photo" not in payload(write_report([run], tmp_path / "without", progress=False), "s0-0")["shared"]
    page = write_report([run], tmp_path / "with", pictures=run.parent / "photos", progress=False)
    assert "photo" in payload(page, "s0-0")["shared"]


def test_runs_of_one_protocol_share_a_leaderboard(plain_run, make_run, tmp_path):
    more = make_run(["good", "new"], 4)
    other = make_run(["good"], 4, protocol=Protocol(tolerance=0.02, thresholds=9))
    grids = gather([plain_run, more, other, plain_run])
    assert [list(grid.sources) for grid in grids] == [["good (run)", "fair", "poor", "good (run)′", "new"], ["good"]]
    assert [len(grid.origins) for grid in grids] == [2, 1]
    front = write_report([plain_run, more, other], tmp_path, viewer=False, progress=False)
    assert "good (run)′" in read(tmp_path / "boundary.html").text
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["boundary-2.html", "boundary.html", "index.html"]
    write_report([plain_run], front.parent, viewer=False, progress=False)
    assert [path.name for path in tmp_path.glob("*.html")] == ["index.html"]  # no page of before lingers


def test_a_report_is_written_over_but_nothing_else_is(plain_run, make_run, tmp_path):
    write_report([plain_run], tmp_path / "report", progress=False)
    write_report([make_run(["only"], 1)], tmp_path / "report", progress=False)
    assert sorted(path.name for path in (tmp_path / "report" / "data").iterdir()) == ["s0-0.js", "s0-0.webp"]
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "index.html").write_text("years of work")
    with pytest.raises(UsageError, match="holds something else than a report"):
        write_report([plain_run], tmp_path / "thesis", progress=False)
    assert (tmp_path / "thesis" / "index.html").read_text() == "years of work"


@pytest.mark.parametrize("folders", [[], ["nowhere"]])
def test_no_run_no_report(folders, tmp_path):
    with pytest.raises(UsageError, match="there is no run"):
        write_report([tmp_path / name for name in folders], tmp_path / "out", progress=False)


def test_the_same_run_gives_the_same_bytes(plain_run, tmp_path):
    pages = [write_report([plain_run], tmp_path / str(workers), workers=workers, progress=False) for workers in (1, 4)]
    files = [
        {p.relative_to(page.parent): p.read_bytes() for p in page.parent.rglob("*") if p.is_file()} for page in pages
    ]
    lists = [
        sorted(of.pop(Path(LIST)).splitlines()) for of in files
    ]  # lines are in the order in which files were finished
    assert files[0] == files[1]
    assert lists[0] == lists[1]


def glyphs(text: str, system: str) -> set[tuple[str, str]]:
    """The colours and shapes that stand before a system's name on a page."""
    rows = re.findall(rf'data-value="{system}">.*?</th>', text, re.DOTALL)
    return {(re.search(r'fill="(.*?)"', row)[1], re.search(r' d="(.*?)"', row)[1]) for row in rows}


def scales(page: Path) -> list[dict[str, str]]:
    """The colour of each system in every chart of a page."""
    facts = json.loads(re.search(r'id="facts">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[1])
    found = []

    def walk(value):
        if isinstance(value, dict):
            scale = value.get("color", {}).get("scale", {}) if isinstance(value.get("color"), dict) else {}
            if isinstance(scale, dict) and {"domain", "range"} <= scale.keys():
                found.append(dict(zip(scale["domain"], scale["range"], strict=False)))
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(facts)
    return found


def test_a_system_has_one_colour_on_a_page_whatever_its_rank(make_run, tmp_path):
    """On one page a system was an orange circle, and then a blue square."""
    one, other = (
        make_run(["first", "second", "third"], 3),
        make_run(["third", "first"], 3, protocol=Protocol(tolerance=0.02, thresholds=9)),
    )
    front = write_report([one, other], tmp_path / "page", progress=False, viewer=False)
    page = write_report([one, other], tmp_path / "page.html", single_file=True, progress=False, viewer=False)
    text = page.read_text(encoding="utf-8")
    for system in ("first", "third"):
        assert len(re.findall(rf'data-value="{system}"', text)) == 2
        assert len(glyphs(text, system)) == 1
        colours = {scale[name] for scale in scales(page) for name in scale if system in name}
        assert len(colours) == 1
    titles = re.findall(r"<h2><a[^>]*>(.*?)</a></h2>", front.read_text(encoding="utf-8"))
    assert titles == ["Boundaries · thr 19", "Boundaries · thr 9"]


def test_the_table_of_a_paper_has_people_without_the_plotting_library(plain_run, monkeypatch):
    for name in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, name, None)
    result = CliRunner().invoke(app, ["report", str(plain_run), "--table", "latex", "--human"])
    assert result.exit_code == 0, result.output
    assert re.search(r"^people &", result.stdout, re.MULTILINE | re.IGNORECASE)


def test_the_charts_library_is_put_together_once(tmp_path, monkeypatch):
    vl_convert = pytest.importorskip("vl_convert")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    made = []
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda *_, **__: made.append(1) or "let π;\r\n")
    assert [pages._charts_library() for _ in range(2)] == ["let π;\r\n"] * 2
    assert len(made) == 1
    (tmp_path / "charts").rename(tmp_path / "elsewhere")
    (tmp_path / "charts").write_text("a file where a folder belongs")
    assert pages._charts_library() == "let π;\r\n"
    assert len(made) == 2
