"""A stored tally depends on all code that makes it, and on nothing else."""

from __future__ import annotations

import ast
import importlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import hyperacuity
from hyperacuity.cli import app
from hyperacuity.data import write_png
from hyperacuity.run import code
from hyperacuity.run.code import code_elsewhere, code_version, modules_behind
from hyperacuity.run.jobs import job_for
from hyperacuity.tasks import names, task

PACKAGE = Path(hyperacuity.__file__).parent

ASK = textwrap.dedent(
    """
    import json, sys
    from hyperacuity.run.jobs import job_for
    from hyperacuity.run import code
    from hyperacuity.tasks import names, task

    for _ in sys.stdin:
        code._parsed.cache_clear()
        code._file_of.cache_clear()
        known = [task(name) for name in names()]
        jobs = {one.name: job_for(one, one.protocol()) for one in known}
        print(json.dumps({name: code.code_version(job) for name, job in jobs.items()}), flush=True)
    """
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package whose text may be changed, and the environment in which programs use it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "hyperacuity", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "hyperacuity", {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(scope="module")
def ask(copy):
    """The versions of the code of every task's job, as a program that runs the copy sees them."""
    _, environment = copy
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", ASK], env=environment, **pipes) as process:

        def ask():
            process.stdin.write("now\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


@pytest.fixture(scope="module")
def before(ask):
    return ask()


@pytest.fixture
def change(copy):
    """Change a file of the copy until the test ends."""
    before = {}

    def change(file, old, new):
        path = copy[0] / file
        before.setdefault(path, path.read_text(encoding="utf-8"))
        assert old in before[path], f"{file} has changed: it has no {old!r}"
        path.write_text(before[path].replace(old, new, 1), encoding="utf-8")

    yield change
    for path, text in before.items():
        path.write_text(text, encoding="utf-8")


TASKS = {"boundary", "semantic", "masks", "edges", "regions", "ordering", "occlusion", "whdr", "dbe"}
TASKS |= {"disparity", "views", "audit", "strength"}

SWEPT = {"boundary", "semantic", "masks", "ordering", "occlusion", "audit", "strength"}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("cli/boundary.py", "Score soft boundary maps", "Grade soft boundary maps"),
        ("evaluation/export.py", '"behind the best"', '"behind"'),
        ("boundary/task.py", "Best F at one threshold", "The best F at one threshold"),
        ("columns.py", '"max": " ↑"', '"max": " ⇑"'),
        ("report/charts/boundary.py", "recall", "Recall"),
        ("boundary/tallies.py", "Counts of one image", "The counts of one image"),
        ("boundary/protocols.py", '"""', '"""Read this: '),
        ("boundary/protocols.py", "BIPED and most learned detectors", "BIPED and learned detectors"),
        ("boundary/protocols.py", "as a fraction of the image diagonal", "as a share of the diagonal"),
        ("tally.py", "# numpy would broadcast", "# it would broadcast"),
        ("kernels/sweep.py", "\n\n\ndef ", "\n\n\n\n# a word about this one\ndef "),
        ("data/writers.py", "def write_soft(", "def write_soft_map("),
        ("run/grid.py", "TRIES = 3", "TRIES = 4"),
        ("compare/ranking.py", "import", "import ast; import"),
    ],
)
def test_what_cannot_change_a_tally_leaves_the_version_as_it_is(ask, before, change, file, old, new):
    change(file, old, new)
    assert ask() == before


@pytest.mark.parametrize(
    ("file", "old", "new", "concerned"),
    [
        (
            "kinds/orders.py",
            "read_segmentations([path])",
            "read_segmentations([path])[:1]",
            {"ordering", "occlusion"},
        ),
        (
            "kinds/contours.py",
            "inverted=self.invert_truth",
            "inverted=True",
            {"boundary", "edges", "audit", "strength"},
        ),
        (
            "data/readers.py",
            "return _read_all(paths, _segmentations)",
            "return _read_all(paths, _segmentations)[:1]",
            TASKS,
        ),
        ("run/jobs.py", "given.prediction, given.truths", "given.prediction, given.truths[:1]", TASKS),
        ("kernels/sweep.py", "\nimport numpy", "\nX = 1\nimport numpy", SWEPT),
        ("boundary/protocols.py", " = 99", " = 98", {"boundary", "semantic", "occlusion", "audit"}),
        ("disparity/masks.py", "\nimport numpy", "\nX = 1\nimport numpy", {"disparity", "views"}),
        ("kinds/base.py", "dict(self.extras).get(role)", "None", TASKS),
        ("tally.py", "zlib.compressobj(6, ", "zlib.compressobj(9, ", TASKS),
    ],
)
def test_what_can_change_a_tally_changes_the_version_of_the_tasks_concerned(
    ask, before, change, file, old, new, concerned
):
    assert before.keys() == TASKS
    change(file, old, new)
    after = ask()
    assert {task for task in TASKS if after[task] != before[task]} == concerned


def test_line_ends_do_not_count(ask, before, copy):
    path = copy[0] / "maps.py"
    text = path.read_bytes()
    path.write_bytes(text.replace(b"\n", b"\r\n"))
    assert ask() == before
    path.write_bytes(text)


@pytest.fixture
def orders(tmp_path):
    """An order map, its truth, and two segmentations to ask about, in folders."""
    near = np.zeros((24, 32), np.float32)
    near[6:18, 8:24] = 1
    labels = np.stack([near.astype(np.int32), (near + np.eye(24, 32) * 2).astype(np.int32)])
    for folder, array in {"maps": near, "truth": near, "regions": labels}.items():
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", array)
    return tmp_path


@pytest.fixture
def source_is_the_copy(copy, monkeypatch):
    """What runs is the package, but its source is looked up in the copy; to be called after each change."""
    real = code._file_of

    def moved(module):
        file = real(module)
        return copy[0] / file.relative_to(PACKAGE) if file and file.is_relative_to(PACKAGE) else file

    monkeypatch.setattr(code, "_file_of", moved)
    yield code._parsed.cache_clear
    code._parsed.cache_clear()


def test_a_changed_reader_of_regions_recomputes_orderings_and_a_changed_help_text_does_not(
    orders, change, source_is_the_copy
):
    def run():
        source_is_the_copy()
        folders = [orders / "maps", orders / "truth", "--regions", orders / "regions"]
        return evaluated("ordering", *folders, "--level", "0.5", "--run", orders / "run")[0]

    assert run() == "1 computed)"
    change("cli/ordering.py", "Score depth orders", "Grade depth orders")
    change("ordering/task.py", "LDC F max", "LDC best F")
    assert run() == "1 reused)"
    change("kinds/orders.py", "return read_segmentations([path])", "return read_segmentations([path])[1:]")
    assert run() == "1 computed)"


def evaluated(*words):
    """The last line about the cells, and the result, of a command."""
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    return done.stderr.splitlines()[-1].partition("(")[2], json.loads(done.stdout)


def test_a_mask_for_another_region_is_another_input(tmp_path):
    rng = np.random.default_rng(3)
    truth = rng.uniform(5, 20, (24, 32)).astype(np.float32)
    mask = np.zeros(truth.shape, bool)
    mask[:, 10:20] = True
    for folder, array in {"maps": truth + rng.normal(0, 1, truth.shape).astype(np.float32), "truth": truth}.items():
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", array)
    (tmp_path / "masks").mkdir()
    write_png(tmp_path / "masks" / "a.png", mask)

    def run(region, *where):
        words = ("disparity", tmp_path / "maps", tmp_path / "truth", "--mask", f"{region}={tmp_path / 'masks'}", *where)
        return evaluated(*words)

    stored = ("--run", tmp_path / "run")
    assert run("nonocc", *stored)[0] == "1 computed)"
    cells, result = run("disc", *stored)
    assert cells == "1 computed)", "the same file in another role"
    assert result == run("disc")[1]
    assert run("nonocc", *stored)[0] == "1 reused)"


def test_thresholds_that_print_alike_are_told_apart(tmp_path):
    truth = np.zeros((24, 32), bool)
    truth[12] = True
    soft = np.where(truth, np.float32(0.6000003), 0).astype(np.float32)
    for folder, array in {"maps": soft, "truth": truth}.items():
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", array)
    found = {}
    for threshold in ("0.6000001", "0.60000045"):
        words = (
            "boundary",
            tmp_path / "maps",
            tmp_path / "truth",
            "--thresholds",
            threshold,
            "--run",
            tmp_path / "run",
        )
        cells, found[threshold] = evaluated(*words)
        assert cells == "1 computed)"
    assert found["0.6000001"]["signature"] != found["0.60000045"]["signature"]
    assert [one["systems"]["maps"]["ods"]["recall"] for one in found.values()] == [1.0, 0.0]


@pytest.mark.parametrize("library", code.LIBRARIES)
def test_another_version_of_a_library_that_reads_or_computes_counts(make_job, monkeypatch, library):
    before, real = code_version(make_job()), code.version
    assert code_version(make_job()) == before
    monkeypatch.setattr(code, "version", lambda name: "0.0.1" if name == library else real(name))
    assert code_version(make_job()) != before


def test_a_job_from_elsewhere_counts_with_what_it_imports_of_its_own_package(tmp_path, monkeypatch):
    package = tmp_path / "ours_alone"
    package.mkdir()
    (package / "__init__.py").write_text("from .jobs import Job\n")
    (package / "jobs.py").write_text(
        "from . import helper\nimport numpy\nfrom hyperacuity.maps import soft_map\nclass Job: tally_type = object\n"
    )
    (package / "helper.py").write_text("from ours_alone.deeper import x\n")
    (package / "deeper.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import ours_alone  # noqa: F401

    found = modules_behind({"ours_alone.jobs"})
    assert {"ours_alone.jobs", "ours_alone.helper", "ours_alone.deeper", "hyperacuity.maps"} <= found
    assert not any(name.startswith(("numpy", "hyperacuity.run")) for name in found)


PLUG_IN = """
import numpy as np
import hyperacuity as ha
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from helping import agreement
from hyperacuity import tasks
from hyperacuity.tally import BaseProtocol, Counts, Tally, total
from hyperacuity.tasks import Criteria, Task

@dataclass(frozen=True)
class Protocol(BaseProtocol):
    task: ClassVar[str] = "agreeing"
    def parts(self):
        return {}

@dataclass(frozen=True, eq=False)
class Agreement(Tally):
    agreed: Counts

def tally(prediction, truths, protocol):
    return Agreement(np.array([agreement(prediction, truths[0])]), protocol=protocol)

def collect(tallies, *, resamples=0, seed=0):
    return int(total(list(tallies.values())).agreed[0])

TASK = Task("agreeing", "Agreeing", Protocol, Agreement, tally, collect, None)

if __name__ == "__main__":
    import plugged
    from hyperacuity.run.jobs import job_for
    from hyperacuity.run import Cell, open_store, run_grid
    job = job_for(plugged.TASK, plugged.Protocol())
    with open_store(Path("run")) as store:
        done = run_grid(job, [Cell("a", "b", Path("map.npy"), (Path("truth.npy"),))], store=store, progress=False)
    print(done.reused, collect(done.tallies["a"]), [str(one) for one in done.failures])
"""


def test_a_changed_helper_of_a_plug_in_recomputes_its_tallies(tmp_path):
    """The helper is a module of its own, as many plug-ins in one folder have them, and imports another when it is called."""
    (tmp_path / "plugged.py").write_text(PLUG_IN)
    (tmp_path / "helping.py").write_text("def agreement(a, b):\n    import deeper\n    return deeper.agreement(a, b)\n")
    np.save(tmp_path / "map.npy", np.eye(8, dtype=np.float32))
    np.save(tmp_path / "truth.npy", np.eye(8, dtype=bool))

    def run(code):
        (tmp_path / "deeper.py").write_text(code)
        done = subprocess.run(
            [sys.executable, "plugged.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
        )
        return done.stdout.strip()

    before = "def agreement(a, b):\n    return (a == b).sum()\n"
    assert run(before) == "0 64 []"
    assert run(before) == "1 64 []"
    assert run("def agreement(a, b):\n    return 0\n") == "0 0 []"


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """Write modules that lie outside every package, or among the installed ones, and ask for the version of the code of one."""
    installed = tmp_path / "site-packages"
    installed.mkdir()
    for folder in (tmp_path, installed):
        monkeypatch.syspath_prepend(folder)

    def version_with(modules):
        for name, text in modules.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        for cached in (code._parsed, code._file_of, code._installed_version):
            cached.cache_clear()
        importlib.invalidate_caches()
        return code.code_of("outside_all")

    yield version_with
    for cached in (code._parsed, code._file_of, code._installed_version):
        cached.cache_clear()


@pytest.mark.parametrize(
    "words",
    [
        "import helping_out",
        "import helping_out as other",
        "from helping_out import value",
        "from helping_out import *",
        "def later():\n    import helping_out",
        "import json\nimport numpy\nimport helping_out",
    ],
)
def test_modules_outside_installed_packages_count_by_their_contents(outside, words):
    before = outside({"outside_all.py": words, "helping_out.py": "value = 1"})
    assert outside({"helping_out.py": "# a comment\nvalue = 1"}) == before
    assert outside({"helping_out.py": "value = 2"}) != before


def test_a_name_that_a_package_changes_before_it_passes_it_on_counts_with_the_package(outside):
    inside = "from .inner import value\nvalue = value + {}\n"
    before = outside(
        {
            "outside_all.py": "from passing_on import value",
            "passing_on/__init__.py": inside.format(1),
            "passing_on/inner.py": "value = 1",
        }
    )
    assert outside({"passing_on/__init__.py": inside.format(2)}) != before
    assert outside({"passing_on/__init__.py": inside.format(1), "passing_on/inner.py": "value = 2"}) != before


def test_installed_packages_count_by_their_version(outside):
    about = "Metadata-Version: 2.1\nName: put-in\nVersion: {}\n"
    folder = "site-packages/put_in-1.dist-info"
    before = outside(
        {
            "outside_all.py": "from put_in.part import value",
            "site-packages/put_in.py": "value = 1",
            f"{folder}/METADATA": about.format("1.0"),
            f"{folder}/RECORD": "put_in.py,,\n",
        }
    )
    assert outside({"site-packages/put_in.py": "value = 2"}) == before
    code.version.cache_clear()
    assert outside({f"{folder}/METADATA": about.format("1.1")}) != before
    code.version.cache_clear()


def test_what_lies_among_installed_packages_without_a_version_counts_by_its_contents(outside):
    before = outside({"outside_all.py": "import dropped_in", "site-packages/dropped_in.py": "value = 1"})
    assert outside({"site-packages/dropped_in.py": "value = 2"}) != before


def test_a_module_that_hides_one_of_the_standard_library_counts(outside):
    before = outside({"outside_all.py": "import this", "this.py": "value = 1"})
    assert outside({"this.py": "value = 2"}) != before


def test_workers_compare_the_very_code_under_which_the_driver_keeps_tallies(make_job, monkeypatch):
    before = code_elsewhere(make_job())
    assert before == code_version(make_job())
    monkeypatch.setattr(code, "version", lambda name: "0.0.1")
    assert code_elsewhere(make_job()) != before


def test_a_name_that_a_package_hands_on_counts_where_it_is_made(tmp_path, monkeypatch):
    package = tmp_path / "handing_on"
    package.mkdir()
    (package / "__init__.py").write_text("from .other import y\nfrom .deeper import x\nfrom json import loads\n")
    (package / "jobs.py").write_text("from handing_on import x\n")
    (package / "more.py").write_text("from handing_on import loads\n")
    (package / "other.py").write_text("y = 2\n")
    (package / "deeper.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import handing_on  # noqa: F401

    assert modules_behind({"handing_on.jobs"}) == {"handing_on.jobs", "handing_on.deeper"}
    # What comes from outside is the business of the module that hands it on.
    assert modules_behind({"handing_on.more"}) >= {"handing_on.more", "handing_on"}
    assert not any(name.startswith("json") for name in modules_behind({"handing_on.more"}))


def test_names_that_a_package_loads_when_they_are_asked_for_count_where_they_are_made(outside):
    lazy = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .inner import value\ndef __getattr__(name): ..."
    )
    before = outside(
        {
            "outside_all.py": "from lazy_package import value",
            "lazy_package/__init__.py": lazy,
            "lazy_package/inner.py": "value = 1",
        }
    )
    assert outside({"lazy_package/inner.py": "value = 2"}) != before


def test_code_under_a_condition_counts_and_what_only_types_need_does_not():
    def words(text):
        found, imports = [], []
        code._flatten(ast.parse(text), found, imports)
        return found, len(imports)

    assert words("if flag:\n    x = 1") != words("if flag:\n    x = 2")
    assert words("if flag:\n    import numpy")[1] == 1
    assert words("if TYPE_CHECKING:\n    import numpy\nx = 1") == words("x = 1")
    assert words("if TYPE_CHECKING:\n    import numpy\nelse:\n    import scipy\n    x = 1") == words(
        "import scipy\nx = 1"
    )


@pytest.fixture(scope="module")
def behind():
    """The trees of all modules behind the tallies of any task, by name."""
    known = [task(name) for name in names()]
    sources = {part for one in known for part in job_for(one, one.protocol()).sources}
    return {name: ast.parse(code._file_of(name).read_text(encoding="utf-8")) for name in modules_behind(sources)}


def words_of(tree):
    """What the digest of a module is taken of."""
    found = []
    code._flatten(tree, found, [])
    return found


def is_text(node):
    """Whether a node is a docstring, or a text after a name that says what it is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_described(node):
    """Whether a node gives a value its description."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "described"


def test_texts_of_the_modules_behind_a_tally_do_not_count_and_every_constant_does(behind):
    dice = np.random.default_rng(0)
    for name, tree in sorted(behind.items()):
        before = words_of(tree)
        texts = {node.value for node in ast.walk(tree) if is_text(node)}
        texts |= {node.args[1] for node in ast.walk(tree) if is_described(node)}
        for text in texts:
            text.value = "another text"
        assert words_of(tree) == before, f"{name}: with other texts"
        constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in texts]
        for constant in dice.choice(constants, min(2, len(constants)), replace=False):
            held, constant.value = constant.value, changed(constant.value)
            assert words_of(tree) != before, f"{name}: {held!r} in line {constant.lineno} became {constant.value!r}"
            constant.value = held


def changed(value):
    """Another constant."""
    if isinstance(value, str):
        return value + "x"
    return value + b"x" if isinstance(value, bytes) else (value, 1) if value is Ellipsis else not value


HARMLESS = {
    "fsspec": "fetches bytes, of which the digest is taken",
    "llvmlite": "is the one that this version of numba asks for",
    "platformdirs": "says where compiled kernels are kept",
    "rich": "prints",
}
"""Libraries whose version no tally depends on, and why."""


def test_every_library_behind_a_tally_counts(behind):
    found = set()
    for node in (node for tree in behind.values() for node in ast.walk(tree)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.partition(".")[0])
    others = found - sys.stdlib_module_names - {"hyperacuity"} - HARMLESS.keys()
    assert {"pillow" if name == "PIL" else name for name in others} == set(code.LIBRARIES)


def test_a_library_that_is_not_there_has_no_version():
    assert code.version("a library that nobody wrote") == "none"


def test_the_version_of_the_package_is_named(make_job):
    version, _, digest = code_version(make_job()).partition("+")
    assert version == hyperacuity.__version__
    assert len(digest) == 20


def test_a_job_without_source_is_never_taken_for_an_earlier_one():
    scope = {"__name__": "typed in"}
    exec("class Job:\n    class tally_type: pass", scope)  # noqa: S102
    job = scope["Job"]()
    assert code_version(job) != code_version(job)
