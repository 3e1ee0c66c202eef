"""The rules of the house, held by reading the sources: who may import whom, how large a module is, what is never used."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hyperacuity

PACKAGE = Path(hyperacuity.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"), key=str)

GROUND = {"errors", "kernels", "maps", "tally", "resampling"}
TASKS = {"edges", "boundary", "regions", "ordering", "disparity", "audit", "detect"}
LOW = GROUND | TASKS
MAY_IMPORT = {
    "errors": set(),
    "kernels": {"errors"},
    "maps": {"errors"},
    "tally": {"errors"},
    "resampling": {"errors", "tally"},
    "data": GROUND,
    **dict.fromkeys(TASKS, LOW),
    "compare": LOW,
    "run": LOW | {"data", "compare"},
    "evaluation": LOW | {"data", "compare", "run"},
    "studies": LOW | {"data", "compare", "run", "evaluation"},
    "report": LOW | {"data", "compare", "run", "evaluation", "studies"},
    "studio": LOW | {"data", "compare", "run", "evaluation", "report"},
    "cli": LOW | {"data", "compare", "run", "evaluation", "studies", "report", "studio"},
}


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything a source imports, at its top or inside functions."""
    folder = ("hyperacuity", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(folder[: len(folder) - node.level + 1]) + "." if node.level else ""
            for alias in node.names:
                yield node.lineno, f"{base}{node.module + '.' if node.module else ''}{alias.name}"


def rooms_imported(path: Path) -> Iterator[tuple[int, str]]:
    for line, name in imports(path):
        package, *rest = name.split(".")
        if package == "hyperacuity" and rest and rest[0] != "__version__":
            yield line, rest[0]


@pytest.mark.parametrize("path", [p for p in MODULES if p != PACKAGE / "__init__.py"], ids=name_of)
def test_imports_go_downwards_only(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"the room {room} has no place in the design yet"
    wrong = [f"line {line}: {name}" for line, name in rooms_imported(path) if name not in MAY_IMPORT[room] | {room}]
    assert not wrong, f"{room} must not import {wrong}"


def test_the_package_itself_imports_nothing():
    assert list(imports(PACKAGE / "__init__.py")) == []


def test_tasks_that_build_on_each_other_do_not_do_so_in_a_circle():
    below = {task: set() for task in TASKS}
    for path in MODULES:
        if room_of(path) in TASKS:
            below[room_of(path)] |= {name for _, name in rooms_imported(path)} & (TASKS - {room_of(path)})
    while free := [task for task in below if not below[task] & set(below)]:
        for task in free:
            del below[task]
    assert not below, f"tasks that import each other in a circle: {below}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_public_module_says_what_it_is(path):
    private = any(part.startswith("_") and part != "__init__.py" for part in path.relative_to(PACKAGE).parts)
    still_empty = path.name == "__init__.py" and not path.read_text().strip() and len(list(path.parent.iterdir())) <= 2
    if not private and not still_empty:
        assert ast.get_docstring(ast.parse(path.read_bytes())), f"{name_of(path)} has no docstring"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_module_is_longer_than_500_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_is_ever_unpickled(path):
    modules = {name.split(".")[0] for _, name in imports(path)}
    assert not modules & {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert isinstance(node.value, ast.Constant)
            assert node.value.value is False, f"line {node.value.lineno}"
        if isinstance(node, ast.Attribute):
            assert node.attr not in {"read_pickle", "to_pickle"}, f"line {node.lineno}"


HELP = """
import json, sys
from typer.testing import CliRunner
from hyperacuity.cli import app
for verb in [[], *([command.name] for command in app.registered_commands)]:
    assert CliRunner().invoke(app, [*verb, "--help"]).exit_code == 0
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_help_imports_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    heavy = {"numba", "llvmlite", "scipy", "altair", "numpy", "PIL", "h5py", "cv2", "skimage", "higra", "distributed"}
    assert not heavy & set(json.loads(done.stdout))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_kernels_do_not_trade_exactness_for_speed(path):
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.keyword) and node.arg in {"fastmath", "parallel"}:
            assert isinstance(node.value, ast.Constant)
            assert not node.value.value, f"line {node.value.lineno}: {node.arg} makes results depend on the machine"


@pytest.mark.parametrize("module", sorted(PACKAGE.glob("cli/*.py")), ids=lambda path: path.stem)
def test_examples_in_help_fit_a_line_so_that_they_can_be_pasted(module):
    for line in module.read_text(encoding="utf-8").splitlines():
        if line.strip().startswith("Example: [bold]"):
            shown = line.strip().replace("[bold]", "").replace("[/bold]", "")
            assert len(shown) <= 78, shown
