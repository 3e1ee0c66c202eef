"""The rules of the house, held by reading the sources: who may import whom, how large a module is, what is never used."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hyperacuity

PACKAGE = Path(hyperacuity.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"), key=str)

GROUND = {
    "errors",
    "syntax",
    "console",
    "outputs",
    "small_files",
    "machine",
    "kernels",
    "maps",
    "columns",
    "tally",
    "tasks",
    "resampling",
}
TASKS = {"edges", "boundary", "semantic", "masks", "regions", "ordering", "disparity", "audit", "detect"}
LOW = GROUND | TASKS
MAY_IMPORT = {
    "__main__": {"cli"},
    "errors": set(),
    "syntax": set(),
    "console": {"errors"},
    "outputs": {"errors"},
    "small_files": {"errors"},
    "machine": {"errors"},
    "kernels": {"errors", "machine"},
    "maps": {"errors"},
    "columns": set(),
    "tally": {"errors", "syntax"},
    "tasks": {"errors", "columns", "tally"},
    "resampling": {"errors", "tally"},
    "data": GROUND,
    **dict.fromkeys(TASKS, LOW),
    "compare": LOW,
    "kinds": LOW | {"data"},
    "run": LOW | {"data", "compare", "kinds"},
    "cards": LOW | {"data", "kinds", "run"},
    "evaluation": LOW | {"data", "compare", "kinds", "run", "cards"},
    "systems": LOW | {"data", "kinds", "run"},
    "train": LOW | {"data", "kinds", "run", "evaluation", "systems"},
    "board": LOW | {"compare", "kinds", "cards", "evaluation", "report"},
    "report": LOW | {"data", "compare", "kinds", "run", "cards", "evaluation"},
    "studio": LOW | {"data", "compare", "kinds", "run", "evaluation", "report"},
    "cli": LOW
    | {"data", "compare", "kinds", "run", "cards", "evaluation", "systems", "train", "report", "board", "studio"},
}
HANDED_OVER = {("evaluation/result.py", "report")}
"""A result writes its own report by calling the room above."""


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


ROOMS = sorted({room_of(path) for path in MODULES})


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything a source imports, at its top or inside functions."""
    folder = ("hyperacuity", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(parsed(path)):
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


@pytest.mark.parametrize("room", [room for room in ROOMS if room != "__init__"])
def test_imports_go_downwards_only(room):
    assert room in MAY_IMPORT, f"the room {room} has no place in the design yet"
    for path in (p for p in MODULES if room_of(p) == room):
        allowed = MAY_IMPORT[room] | {room} | {upper for module, upper in HANDED_OVER if module == name_of(path)}
        wrong = [f"line {line}: {name}" for line, name in rooms_imported(path) if name not in allowed]
        assert not wrong, f"{name_of(path)} must not import {wrong}"


def test_the_package_knows_nothing_of_the_papers():
    for path in MODULES:
        assert not [name for _, name in imports(path) if name.startswith("hyperacuity_papers")], name_of(path)


def test_the_package_itself_imports_nothing_but_for_types():
    tree = parsed(PACKAGE / "__init__.py")
    at_run_time = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {getattr(node, "module", None) for node in at_run_time} <= {"importlib", "typing"}


REMOVES = {"rmtree", "unlink", "rmdir", "removedirs", "write_text"}
MAY_REMOVE = {
    "outputs.py",
    "data/remote.py",
    "kernels/caching.py",
    "studio/browser.py",
    "studio/outputs.py",
    "train/net.py",
}
"""Copies of remote files, compiled kernels, a page for the browser, finished work known by its digests, and a checkpoint."""


def test_nothing_is_removed_or_overwritten_past_the_list_of_outputs():
    """Whoever writes output asks ``outputs``; a module that removes files by itself has to say here whose they are."""
    removing = {
        name_of(path)
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in REMOVES
    }
    assert removing == MAY_REMOVE


FILES = {
    "open",
    "read_text",
    "read_bytes",
    "read_small",
    "read_json",
    "loadtxt",
    "fromfile",
    "iterdir",
    "glob",
    "rglob",
}
READ_FILES = {
    "audit/trials.py",
    "detect/pb_detector.py",
    "detect/global_pb/model.py",
    "detect/depth/cue_model.py",
    "detect/net/network.py",
    "detect/net/training.py",
}
"""The tables of the forced-choice experiment, and the parameters of learned detectors: none of them is a task."""


@pytest.mark.parametrize("room", sorted(TASKS | {"compare"}))
def test_tasks_read_no_files(room):
    for path in (p for p in MODULES if room_of(p) == room):
        used = {
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.Call)
        }
        assert bool(used & FILES) == (name_of(path) in READ_FILES), name_of(path)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("__init__.py")), ids=name_of)
def test_no_name_of_a_package_hides_one_of_its_modules(path):
    modules = {p.stem for p in path.parent.glob("*.py")} | {p.name for p in path.parent.iterdir() if p.is_dir()}
    own = ".".join(("hyperacuity", *path.relative_to(PACKAGE).parent.parts))
    for node in parsed(path).body:
        if isinstance(node, ast.ImportFrom) and node.module != own:
            hidden = {alias.asname or alias.name for alias in node.names} & modules
            assert not hidden, f"line {node.lineno}: import {own}.{hidden.pop()} would give something else"


SHARED_NAMES = {"Protocol"}
"""Every task has its own protocol, and calls it that."""


def test_no_two_classes_have_the_same_name():
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name_of(path))
    twice = {name: where for name, where in places.items() if len(where) > 1 and name not in SHARED_NAMES}
    assert not twice


def test_tasks_that_build_on_each_other_do_not_do_so_in_a_circle():
    below = {task: set() for task in TASKS}
    for path in MODULES:
        if room_of(path) in TASKS:
            below[room_of(path)] |= {name for _, name in rooms_imported(path)} & (TASKS - {room_of(path)})
    while free := [task for task in below if not below[task] & set(below)]:
        for task in free:
            del below[task]
    assert not below, f"tasks that import each other in a circle: {below}"


def says_what_it_is(path):
    private = any(part.startswith("_") and part != "__init__.py" for part in path.relative_to(PACKAGE).parts)
    still_empty = path.name == "__init__.py" and not path.read_text().strip() and len(list(path.parent.iterdir())) <= 2
    return private or still_empty or ast.get_docstring(parsed(path))


def test_every_public_module_says_what_it_is():
    assert [name_of(path) for path in MODULES if not says_what_it_is(path)] == []


def test_no_module_is_longer_than_500_lines():
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: count for name, count in lines.items() if count > 500} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_is_ever_unpickled(room):
    """Except compiled kernels, as numba stores them: from a private folder, after their digest is verified (tests/kernels)."""
    for path in (p for p in MODULES if room_of(p) == room and name_of(p) != "kernels/numba_internals.py"):
        unpickles_nothing(path)


def unpickles_nothing(path):
    modules = {name.split(".")[0] for _, name in imports(path)}
    banned = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
    assert not modules & banned, name_of(path)
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert isinstance(node.value, ast.Constant)
            assert node.value.value is False, f"{name_of(path)}, line {node.value.lineno}"
        if isinstance(node, ast.Attribute):
            assert node.attr not in {"read_pickle", "to_pickle"}, f"{name_of(path)}, line {node.lineno}"


HELP = """
import functools, json, sys
from typer import testing
from hyperacuity.cli import app
testing._get_command = functools.cache(testing._get_command)
for verb in [[], *([command.name] for command in app.registered_commands)]:
    assert testing.CliRunner().invoke(app, [*verb, "--help"]).exit_code == 0
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_help_imports_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    heavy = {"numba", "llvmlite", "scipy", "altair", "numpy", "PIL", "h5py", "cv2", "skimage", "higra", "distributed"}
    assert not heavy & set(json.loads(done.stdout))


@pytest.mark.parametrize("room", ROOMS)
def test_kernels_do_not_trade_exactness_for_speed(room):
    for path in (p for p in MODULES if room_of(p) == room):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.keyword) and node.arg in {"fastmath", "parallel"}:
                assert isinstance(node.value, ast.Constant)
                place = f"{name_of(path)}, line {node.value.lineno}"
                assert not node.value.value, f"{place}: {node.arg} makes results depend on the machine"


@pytest.mark.parametrize("module", sorted(PACKAGE.glob("cli/*.py")), ids=lambda path: path.stem)
def test_examples_in_help_fit_a_line_so_that_they_can_be_pasted(module):
    for line in module.read_text(encoding="utf-8").splitlines():
        if line.strip().startswith("Example: [bold]"):
            shown = line.strip().replace("[bold]", "").replace("[/bold]", "")
            assert len(shown) <= 78, shown
