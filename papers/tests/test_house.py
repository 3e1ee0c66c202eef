"""The rules of this package: a folder per paper with everything in it, and a wheel that holds it all."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import hyperacuity
import hyperacuity_papers
from hyperacuity_papers.every import PAPERS

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "hyperacuity_papers").rglob("*.py"))
BORROWED = {("hou2013", "abdulrahman2017")}
"""The labels of Hou et al. are held against edges of the masks [−1 0 1], which Abdulrahman et al. describe."""


def test_both_packages_have_the_same_version():
    assert hyperacuity_papers.__version__ == hyperacuity.__version__


@pytest.mark.parametrize("paper", PAPERS)
def test_all_there_is_of_a_paper_lies_in_its_folder(paper):
    files = {path.name for path in (ROOT / "hyperacuity_papers" / paper).iterdir()}
    assert {"README.md", "claims.toml", "command.py", "figures.py", "study.py"} <= files


def folders_imported(path):
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "hyperacuity_papers":
                yield rest.partition(".")[0]


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_needs_no_other_and_what_is_common_needs_none(paper):
    for path in (ROOT / "hyperacuity_papers" / paper).rglob("*.py"):
        others = set(folders_imported(path)) & set(PAPERS) - {paper}
        assert {(paper, other) for other in others} <= BORROWED, path
    for path in (ROOT / "hyperacuity_papers" / "common").rglob("*.py"):
        assert paper not in set(folders_imported(path)), path


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_modules_say_what_they_are_fit_in_the_head_and_unpickle_nothing(path):
    tree = ast.parse(path.read_bytes())
    assert ast.get_docstring(tree)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500
    assert "pickle" not in path.read_text(encoding="utf-8")


def test_the_wheel_holds_every_file(tmp_path):
    pytest.importorskip("hatchling", reason="needs the build backend hatchling")
    call = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(call, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = {path for path in (ROOT / "hyperacuity_papers").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert packed == {path.relative_to(ROOT).as_posix() for path in files}
