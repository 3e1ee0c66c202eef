"""Fixtures shared by every room's tests."""

from __future__ import annotations

import functools
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

THOROUGH = bool(os.environ.get("HYPERACUITY_THOROUGH"))

LONGEST = (
    "run/test_faults.py",
    "cli/test_foreign_files.py",
    "studio/test_choose_browser.py",
    "report/test_browser_tasks.py",
    "studio/test_order_page.py",
    "studio/test_label_page.py",
    "docs/test_site.py",
    "papers/tests/test_hou2013.py",
    "studio/test_choose_results.py",
    "run/test_cluster.py",
    "report/test_sheets.py",
    "report/test_browser.py",
    "detect/test_order.py",
    "papers/tests/test_edge_paper.py",
    "cli/test_manners.py",
    "report/test_browser_images.py",
    "data/test_fuzz_bombs.py",
    "board/test_browser.py",
    "papers/tests/test_abdulrahman2017.py",
    "papers/tests/test_cabezas2011.py",
    "studio/test_label_sources.py",
    "studio/test_order_start.py",
    "papers/tests/test_palou2014.py",
    "studio/test_choose_secrecy.py",
    "report/test_pages.py",
    "docs/test_docs.py",
    "detect/test_see.py",
    "studio/test_overview.py",
    "studio/test_watch.py",
    "run/test_partition.py",
    "audit/test_command.py",
    "studio/test_choose_load.py",
    "studio/test_label_look.py",
    "ordering/test_shared_data.py",
    "test_architecture.py",
    "studio/test_browser.py",
    "kernels/test_cache.py",
    "studio/test_base_path.py",
    "audit/test_strength.py",
    "studio/test_choose_session.py",
    "studio/test_order.py",
    "studio/test_keys.py",
    "boundary/test_scores.py",
    "detect/test_detectors.py",
    "run/test_upkeep.py",
    "run/test_every_write.py",
    "cli/test_names.py",
    "run/test_code.py",
    "train/test_net_lessons.py",
    "detect/test_net.py",
    "board/test_site.py",
    "data/test_scenes.py",
    "data/test_shared_data.py",
    "kernels/test_fuzz_kernels.py",
)
"""Files of tests that take some seconds, the longest first."""


@functools.cache
def rank(path: Path) -> int:
    """The place of a file of tests among those that take longest; after them where it is none."""
    return next((n for n, name in enumerate(LONGEST) if str(path).endswith(name)), len(LONGEST))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what repeats in another light or size, unless all is asked for; and with ``HYPERACUITY_SHUFFLE=seed``, mix.

    Mixed are the files, and the tests of each file: none may need another one.
    """
    if not THOROUGH:
        skipped = pytest.mark.skip(reason="repeats another test in another light or size: set HYPERACUITY_THOROUGH=1")
        for item in items:
            if item.get_closest_marker("repeat"):
                item.add_marker(skipped)
    # What takes longest goes first, so that no process is left alone with it at the end.
    items.sort(key=lambda item: rank(item.path))
    seed = os.environ.get("HYPERACUITY_SHUFFLE")
    if seed:
        chance = random.Random(seed)  # noqa: S311
        files = {item.path: chance.random() for item in items}
        ranks = {item: chance.random() for item in items}
        items.sort(key=lambda item: (files[item.path], ranks[item]))


@pytest.fixture(scope="session")
def many() -> Callable[[int, int], int]:
    """``many(few, all)``: how often something is done; all of it with ``HYPERACUITY_THOROUGH``."""
    return lambda few, all: all if THOROUGH else few


@pytest.fixture(scope="session")
def made_once(tmp_path_factory) -> Callable[[str, Callable[[Path], object]], Path]:
    """``made_once(name, make)``: a folder that ``make(folder)`` has filled, once for all processes of a test run.

    Whoever comes first makes it, the others wait; tests only read it.
    """
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def get(name: str, make: Callable[[Path], object]) -> Path:
        folder, done = root / name, root / f"{name} is made"
        try:
            folder.mkdir()
        except FileExistsError:
            end = time.monotonic() + 300
            while not done.exists() and time.monotonic() < end:
                time.sleep(0.05)
            if done.exists():
                return folder
            folder = tmp_path_factory.mktemp(name)  # whoever came first has failed, and says why in its own tests
        make(folder)
        done.touch()
        return folder

    return get


BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

CHROMIUM_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium, driven by Playwright: the one that ``CHROMIUM`` names, or one on the path; else the test is skipped.

    The headless shell goes first: it does the same to pages and has no window to draw, which saves a quarter of the time.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    named = os.environ.get("CHROMIUM")
    found = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("needs a Chromium: install one, or set CHROMIUM to its program")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=list(CHROMIUM_OPTIONS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def idle_tabs() -> dict[str, list[Any]]:
    """Empty tabs that no test uses at the moment, by the options of their contexts: a new one takes a process of its own."""
    return {}


def emptied(tab: Any, scheme: str) -> bool:
    """Leave a tab as if it were new; false if that cannot be."""
    from playwright.sync_api import Error

    context = tab.context
    if tab.is_closed() or context.pages != [tab]:
        return False
    try:
        tab.evaluate("() => { try { localStorage.clear(); sessionStorage.clear(); } catch {} }")
        tab.unroute_all()
        context.set_offline(False)
        context.clear_cookies()
        tab.emulate_media(media="null", color_scheme=scheme)
        tab.goto("about:blank")
    except Error:  # on its way to another page, say
        return False
    return True


@pytest.fixture
def new_tab(chromium, idle_tabs) -> Iterator[Callable[..., Any]]:
    """``new_tab(width=…)``: an empty tab in a context of its own (another person), or in the ``context`` of another tab.

    When the test ends, no page may have complained, nor asked anything of a server that ``allowed`` does not begin with.
    What is logged on purpose is named in ``harmless`` (a part of the message); ``script`` runs before those of pages.
    """
    used: list[tuple[str | None, Any, str, dict[str, Any]]] = []
    complaints: list[str] = []

    def start(
        *,
        allowed: str = "file:",
        harmless: tuple[str, ...] = (),
        script: str = "",
        context: Any = None,
        width: int = 1440,
        height: int = 900,
        **options: Any,
    ) -> Any:
        key = None if context else repr((script, width, height, sorted(options.items())))
        if key is None:
            tab = context.new_page()
        elif idle_tabs.setdefault(key, []):
            tab = idle_tabs[key].pop()
        else:
            made = chromium.new_context(viewport={"width": width, "height": height}, **options)
            made.add_init_script(script)
            tab = made.new_page()

        def complain(text: str) -> None:
            if not any(part in text for part in harmless):
                complaints.append(text)

        def asked(address: str) -> None:
            if not address.startswith((allowed, "data:", "blob:")):
                complain(address)

        listeners = {
            "console": lambda message: complain(f"{message.text} {message.location.get('url', '')}"),
            "pageerror": lambda error: complain(str(error)),
            "request": lambda sent: asked(sent.url),
        }
        if allowed == "file:":  # no page on disk opens a dialog

            def refuse(dialog: Any) -> None:
                complain(dialog.message)
                dialog.dismiss()

            listeners["dialog"] = refuse
        for event, listener in listeners.items():
            tab.on(event, listener)
        tab.set_default_timeout(180_000)  # reached on a machine with far too much to do, or where something is broken
        used.append((key, tab, options.get("color_scheme", "light"), listeners))
        return tab

    yield start
    for key, tab, scheme, listeners in used:
        for event, listener in listeners.items():
            tab.remove_listener(event, listener)
        if key is not None and emptied(tab, scheme):
            idle_tabs[key].append(tab)
        else:
            tab.context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def axe_finds() -> Callable[..., list[dict[str, Any]]]:
    """``axe_finds(tab)``: the faults of access that axe finds on the page in a tab, or on ``part`` of it.

    ``only`` names the rules that are asked about; without ``colours`` contrast is not, which takes longest by far.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the package axe-playwright-python")

    def find(tab: Any, part: str = "html", *, colours: bool = True, only: Sequence[str] = ()) -> list[dict[str, Any]]:
        # Of what passed, one element is described and not each: that would take as long as all rules.
        options: dict[str, Any] = {"preload": False, "resultTypes": ["violations"]}
        options |= {"runOnly": list(only)} if only else {"rules": {"color-contrast": {"enabled": colours}}}
        return axe.Axe().run(tab, context=part, options=options).response["violations"]

    return find


@pytest.fixture(scope="session")
def serious(axe_finds) -> Callable[..., list[tuple[str, str]]]:
    """``serious(tab)``: what axe finds serious or critical, with the first place it says it of."""

    def find(tab: Any, part: str = "html", *, colours: bool = True) -> list[tuple[str, str]]:
        found = axe_finds(tab, part, colours=colours)
        return [(f["id"], f["nodes"][0]["html"][:160]) for f in found if f["impact"] in ("serious", "critical")]

    return find


@pytest.fixture(scope="session")
def clean(axe_finds) -> Callable[..., list[tuple[str, str]]]:
    """``clean(tab)``: everything axe finds, however slight, with the first place it says it of; empty where all is well."""

    def find(tab: Any, part: str = "html", *, colours: bool = True) -> list[tuple[str, str]]:
        return [(f["id"], f["nodes"][0]["html"][:160]) for f in axe_finds(tab, part, colours=colours)]

    return find


WIDTHS = (1400, 1024, 390)
"""A desk, a tablet, a phone."""

HANGING = """() => [...document.querySelectorAll("body *")].filter((part) => {
        const box = part.getBoundingClientRect();
        return box.width && box.right > innerWidth + 1 && getComputedStyle(part).position !== "fixed";
    }).map((part) => part.outerHTML.slice(0, 120)).slice(0, 3)"""


@pytest.fixture(scope="session")
def looks_well(clean) -> Callable[..., None]:
    """``looks_well(tab)``: the page in a tab hangs over nowhere at any of the widths, and axe finds nothing, light or dark.

    Axe takes longest, so it looks twice: at the widest page in the light, and at the narrowest in the dark.
    """

    def look(tab: Any, part: str = "html") -> None:
        before = tab.viewport_size
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": before["height"]})
            scheme = "dark" if width == WIDTHS[-1] else "light"
            tab.emulate_media(color_scheme=scheme)
            tab.wait_for_timeout(250)  # charts are drawn again soon after a page has got another width
            over = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, (width, tab.evaluate(HANGING))
            if width != WIDTHS[1]:
                assert clean(tab, part) == [], (width, scheme)
        tab.set_viewport_size(before)
        tab.emulate_media(color_scheme="light")

    return look
