"""Fixtures shared by every room's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


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
