"""Fixtures shared by every room's tests."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# The same examples in every run: a test that fails, fails for everybody. New ones are looked for on request.
THOROUGH = bool(os.environ.get("HYPERACUITY_THOROUGH"))
hypothesis.settings.register_profile("same", derandomize=True)
if not THOROUGH:
    hypothesis.settings.load_profile("same")

os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and messages would be wrapped as in a terminal


LONGEST = (
    "report/test_browser.py",
    "studio/test_choose_browser.py",
    "studio/test_label_page.py",
    "docs/test_site.py",
    "studio/test_order_page.py",
    "cli/test_manners.py",
    "run/test_faults.py",
    "docs/test_docs.py",
    "studies/test_hou2013.py",
    "studio/test_choose.py",
    "detect/test_see.py",
    "report/test_sheets.py",
    "report/test_pages.py",
)
"""Files of tests that take half a minute and more."""


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
    items.sort(
        key=lambda item: next((n for n, name in enumerate(LONGEST) if str(item.path).endswith(name)), len(LONGEST))
    )
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
def shared_data() -> Path:
    """The folder of third-party data sets that ``HYPERACUITY_DATA`` names; without it the test is skipped."""
    named = os.environ.get("HYPERACUITY_DATA")
    if not named:
        pytest.skip("needs third-party data: set HYPERACUITY_DATA to the folder that holds bsds500, rug, kitti, …")
    folder = Path(named)
    if not folder.is_dir():
        pytest.skip(f"HYPERACUITY_DATA names {folder}, which is not a folder")
    return folder


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
    """A running Chromium, driven by Playwright: the one that ``CHROMIUM`` names, or one on the path; else the test is skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    named = os.environ.get("CHROMIUM")
    found = named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("needs a Chromium: install one, or set CHROMIUM to its program")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=list(CHROMIUM_OPTIONS))
        yield browser
        browser.close()
