"""The program on the page about runs does what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "runs.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="needs the documentation's source")
def test_the_program_on_the_page_runs_and_reuses(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "program.py").write_text("\n".join(blocks), encoding="utf-8")
    for folder in ("canny", "sobel", "truth"):
        (tmp_path / folder).mkdir()
        for image in ("church", "starfish"):
            np.save(tmp_path / folder / f"{image}.npy", np.eye(3, dtype=bool))
    (tmp_path / "sobel" / "church.npy").write_bytes(b"not an array")

    def run():
        command = [sys.executable, "program.py"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()

    first, second = run(), run()
    assert first[0].startswith("sobel church ")
    assert first[1] == "9 of 9 3 0"
    assert second[1] == "9 of 9 0 3"
    assert first[2:5] == [
        "agreement|v:1 canny 2 images",
        "agreement|v:1 sobel 1 images",
        "1 failed, 0 not evaluated yet",
    ]
