"""The site builds without a warning, shows formulas, finds words, loads nothing from elsewhere, and everyone can read it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

ROOT = Path(__file__).parents[2]
ROOMS = (
    "evaluation",
    "boundary",
    "semantic",
    "edges",
    "regions",
    "masks",
    "ordering",
    "disparity",
    "audit",
    "compare",
    "cards",
    "detect",
    "data",
    "data.scenes",
    "run",
)
PAGES = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
TOOLS = ("mkdocs", "material", "mkdocstrings_handlers", "latex2mathml")

pytestmark = [
    pytest.mark.skipif(not PAGES, reason="needs the documentation's source"),
    *(
        pytest.mark.skipif(importlib.util.find_spec(tool) is None, reason=f"needs {tool}: pip install '.[docs]'")
        for tool in TOOLS
    ),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def built(site) -> dict[str, str]:
    """The HTML of each page, by its name."""
    return {page.as_posix(): (site / page.with_suffix(".html")).read_text(encoding="utf-8") for page in PAGES}


def test_no_page_loads_anything_from_elsewhere(built):
    for page, text in built.items():
        loaded = re.findall(
            r"<(?:script|img|iframe)[^>]*\bsrc=\"?https?:|<link[^>]*rel=\"?stylesheet[^>]*https?:", text
        )
        assert not loaded, page


def test_no_page_shows_the_marks_of_formulas_or_links(built):
    for page, text in built.items():
        prose = re.sub(r"<(script|style|pre|code)\b.*?</\1>", "", text, flags=re.DOTALL)
        words = re.sub(r"<[^>]*>", " ", prose)
        left = re.findall(r"\$\$|\\[(\[a-zA-Z]\w*|[_^]\{|:(?:math|func|class|meth):|\.\. \w+::", words)
        assert not left, f"{page} shows {left[0]}"


def test_every_formula_is_drawn(built):
    """As many as there are in the pages' sources and in the docstrings that the reference shows."""
    pages = {page.as_posix(): (ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES}
    for page, text in pages.items():
        source = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
        written = len(re.findall(r"\$\$.+?\$\$|\$[^$\n]+\$", source))
        drawn = re.findall(r"<math.*?</math>", built[page], re.DOTALL)
        if ":::" not in text:
            assert len(drawn) == written, page
        assert not any("merror" in formula for formula in drawn), page
    assert built["tasks/depth.md"].count('class="formula"') == 1
    edges = ROOT / "src" / "hyperacuity" / "edges"
    measures = [(edges / f"{name}.py").read_text(encoding="utf-8") for name in ("distance", "merit", "statistical")]
    assert built["reference/edges.md"].count('class="formula"') == sum(text.count(".. math::") for text in measures)


def test_symbols_are_operators_or_letters_and_names_are_words():
    mathml = website().mathml
    for operator in "∈≤∪·−":
        assert f"<mo>{operator}</mo>" in mathml(f"a {operator} b")
    for letter in "Ψκ":
        assert f"<mi>{letter}</mi>" in mathml(letter)
    assert "<mtext>TP</mtext>" in mathml(r"\frac{TP}{PR}")
    assert "<mi>P</mi><mi>R</mi>" in mathml(r"\frac{TP}{PR}")


def website() -> Any:
    """The hooks of the build."""
    spec = importlib.util.spec_from_file_location("website", ROOT / "scripts" / "website.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_shows_every_public_name(site):
    missing = set(public_names()) - documented(site / "objects.inv")
    assert not missing, f"no page of the reference shows {', '.join(sorted(missing))}"


def documented(inventory: Path) -> set[str]:
    """The names that a site's pages show, from the inventory that it offers to other sites (Sphinx's format)."""
    *_, packed = inventory.read_bytes().split(b"\n", 4)
    return {line.split()[0] for line in zlib.decompress(packed).decode().splitlines()}


def public_names() -> Iterator[str]:
    """The classes and functions that rooms offer, by the module they are made in or by the room."""
    for room in ROOMS:
        module = importlib.import_module(f"hyperacuity.{room}")
        for name in module.__all__:
            made = getattr(getattr(module, name), "__module__", "")
            if made.startswith("hyperacuity."):
                # A function named like its module hides behind it, and is shown under its full name.
                yield f"{made}.{name}" if made == f"{module.__name__}.{name}" else f"{module.__name__}.{name}"


def test_every_picture_of_the_gallery_exists_is_described_and_comes_with_its_command():
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    figures = re.findall(r"<figure[^>]* markdown>(.*?)</figure>", text, re.DOTALL)
    assert len(figures) > 15
    assert text.count("![") == sum(figure.count("![") for figure in figures)
    for figure in figures:
        pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", figure)
        assert pictures
        assert re.search(r"^\$ hyperacuity \w+", figure, re.MULTILINE), pictures
        for description, path in pictures:
            assert (ROOT / "docs" / path).is_file(), path
            assert len(description) > 10, path


DRAW_NOTHING = {
    "cite": "prints references",
    "evaluate": "any benchmark by its name; the benchmarks are shown",
    "run": "looks after folders",
    "train": "writes parameters",
    "warm": "compiles",
}
"""Commands that have nothing to show, and why."""


def test_the_gallery_has_every_command_that_draws():
    from hyperacuity.cli import app

    shown = set(
        re.findall(r"^\$ hyperacuity (\w+)", (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    commands = {name.split()[0] for name in typer.main.get_command(app).commands}
    assert commands - shown == DRAW_NOTHING.keys()


def test_the_mark_is_the_same_everywhere():
    studio = ROOT / "src" / "hyperacuity" / "studio" / "static" / "mark.svg"
    assert (ROOT / "docs" / "images" / "mark.svg").read_bytes() == studio.read_bytes()


@pytest.fixture
def visit(site, new_tab) -> Callable[..., Any]:
    """Open a page from disk; when the test ends, nothing may have been complained about and nothing asked of any server."""

    def go(page: str, *, width: int = 1400, **options: Any) -> Any:
        tab = new_tab(width=width, **options)
        tab.goto((site / page).as_uri())
        return tab

    return go


@pytest.mark.browser
def test_words_are_found_without_a_server_and_explanations_before_the_reference(visit):
    tab = visit("index.html")
    tab.keyboard.press("/")
    tab.keyboard.insert_text("over-random index")  # at once: lunr, which searches, complains of half a word
    found = tab.locator(".md-search-result__link").first
    found.wait_for()
    assert "/reference" not in found.get_attribute("href")
    found.click()
    tab.wait_for_url(re.compile(r"(?<!index)\.html"))
    assert "over-random index" in tab.locator("article").inner_text().lower()


@pytest.mark.browser
def test_the_dark_theme_is_a_click_away_and_stays(visit):
    tab = visit("index.html", color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(background) == "rgb(255, 255, 255)"
    tab.get_by_title("Use the dark theme").click()
    assert tab.evaluate(background) == "rgb(22, 24, 29)"
    tab.reload()
    assert tab.evaluate(background) == "rgb(22, 24, 29)"


@pytest.mark.browser
def test_formulas_have_the_height_of_formulas(visit):
    tab = visit("tasks/depth.html")
    box = tab.locator(".formula math").bounding_box()
    assert box["height"] > 30  # a fraction and a sum over an index do not fit on a line of text
    assert box["width"] > 200


@pytest.mark.browser
@pytest.mark.parametrize("page", ["index", "tasks/depth", "protocols", "papers", "reference/edges"])
def test_wide_tables_and_formulas_scroll_and_the_page_does_not(visit, page):
    tab = visit(f"{page}.html", width=390)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
@pytest.mark.parametrize(
    "page", ["index", *(pytest.param(page, marks=pytest.mark.repeat) for page in ("gallery", "tasks/ordinal"))]
)
def test_axe_finds_nothing_and_in_the_dark_colours_have_contrast(visit, axe_finds, page):
    tab = visit(f"{page}.html", color_scheme="light")
    found = axe_finds(tab)
    tab.get_by_title("Use the dark theme").click()
    found += axe_finds(tab, only=["color-contrast", "link-in-text-block"])
    assert [(each["id"], each["nodes"][0]["html"][:160]) for each in found] == []
