"""Run folders whose files were damaged at random: commands end with a sentence and a status, and never with wrong scores.

``fuzz/folders.py`` does the same for as many folders, and all commands, as one likes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hyperacuity.errors import UsageError
from hyperacuity.run import check_run, open_run, open_store, salvage_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")


def test_commands_on_damaged_folders_end_with_a_sentence(monkeypatch, many):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "fuzz"))
    import folders

    quick = {"run show", "run check", "run salvage", "run gc", "boundary"}
    endings, found = folders.fuzz(many(8, 300), seed=3, only=lambda name: name in quick)
    assert found == []
    assert endings["boundary: status 0"]
    assert endings["run check: status 1"]


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(
            getattr(os, "mkfifo", None),
            marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes in folders"),
        ),
        os.mkdir,
        lambda path: os.symlink("nothing", path),
    ],
    ids=["pipe", "folder", "link"],
)
def test_what_is_no_file_beside_a_store_is_named(tmp_path, ending, make):
    """SQLite would wait for somebody to write to a pipe."""
    open_store(tmp_path).close()
    make(tmp_path / f"run.sqlite{ending}")
    for opening in (open_store, open_run, lambda folder: salvage_run(folder, tmp_path / "saved")):
        with pytest.raises(UsageError, match=f"run.sqlite{ending} is not a file"):
            opening(tmp_path)
    assert f"run.sqlite{ending} is not a file" in check_run(tmp_path).problems[0]
