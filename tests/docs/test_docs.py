"""The documentation is true: the site builds without a warning, its examples run, its commands exist."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import hyperacuity.data
import hyperacuity.tasks
from hyperacuity.cli import app
from hyperacuity.data import write_mat, write_png, write_soft, write_truths
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import canny
from hyperacuity.regions import hierarchy

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
PAGES = sorted((ROOT / "docs").rglob("*.md"))
FENCE = re.compile(r"^( *)(`{3,})([^\n`]*)\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

pytestmark = pytest.mark.skipif(not PAGES, reason="needs the documentation's source")


class Block(NamedTuple):
    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[3].strip().partition(" ")[0], found[4], text.count("\n", 0, found.start()) + 2)
        for found in FENCE.finditer(text)
    ]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT / "docs").as_posix()


def pages_with(language: str, *, but: set[str]) -> list[Path]:
    return [p for p in PAGES if name_of(p) not in but and any(block.language == language for block in blocks(p))]


def run_python(block: Block, page: Path, names: dict[str, object]) -> None:
    """Run an example: as a doctest where it has prompts, else as a program. Names live on from block to block.

    A program that starts with the name of a file is saved under it.
    """
    if named := re.match(r"# (\w+\.py)\n", block.text):
        Path(named[1]).write_text(block.text, encoding="utf-8")
        return
    if ">>>" not in block.text:
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)  # noqa: S102
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, name_of(page), str(page), block.line - 1)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert result.failed == 0, "".join(report)


def test_the_site_builds_without_a_warning(tmp_path):
    for module in ("mkdocs", "material", "mkdocstrings_handlers", "latex2mathml"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}: pip install '.[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for page in PAGES:
        built = tmp_path / page.relative_to(ROOT / "docs").with_suffix("")
        html = (built.parent if page.stem == "index" else built) / "index.html"
        text = html.read_text(encoding="utf-8")
        loaded = re.findall(
            r"<(?:script|img|iframe)[^>]*\bsrc=\"?https?:|<link[^>]*rel=\"?stylesheet[^>]*https?:", text
        )
        assert not loaded, f"{name_of(page)} loads something from elsewhere"
        assert ":func:`" not in text
        assert ".. math::" not in text
    missing = set(public_names()) - documented(tmp_path / "objects.inv")
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


@pytest.fixture
def names(tmp_path, monkeypatch) -> dict[str, object]:
    """What pages may take for the reader's own: files in the working folder, and maps that need no introduction."""
    scene = make_scene(1, size=(96, 64), leaves=6)
    labels = [one.labels for one in scene.annotators]
    for folder in ("photos", "truth", "maps/mine", "bsds500/groundTruth/test"):
        (tmp_path / folder).mkdir(parents=True)
    write_soft(tmp_path / "maps" / "mine" / "100007.png", canny(scene.image).soft)
    write_truths(tmp_path / "bsds500" / "groundTruth" / "test" / "100007.mat", labels)
    write_png(tmp_path / "photos" / "goat.png", scene.image)
    write_truths(tmp_path / "truth" / "100007.mat", labels)
    write_mat(tmp_path / "100007.mat", ucm2=hierarchy(canny(scene.image).soft).ucm2())
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(hyperacuity.tasks, "_joined", {})
    monkeypatch.delitem(sys.modules, "exact", raising=False)
    thin = canny(scene.image).thin
    return {
        "image": scene.image,
        "truth": scene.boundaries,
        "thin": thin,
        "detected": thin > 0.2,
        "segmentation": labels[0],
        "values": scene.image[..., 1] / 255,
        "said": {"goat": scene.order},
        "truths": {"goat": [scene.order]},
    }


@pytest.mark.parametrize(
    "page",
    pages_with("python", but={"datasets.md", "formats.md", "runs.md", "training.md", "tutorial.md"}),
    ids=name_of,
)
def test_the_examples_of_a_page_run(page, names):
    if page.stem == "regions":
        names["truth"] = names["segmentation"]
    for block in blocks(page):
        if block.language == "python":
            run_python(block, page, names)


TRAINING = [one for one in blocks(ROOT / "docs" / "training.md") if one.language == "python"] if PAGES else []
NEEDS_TORCH = [one for one in TRAINING if ">>>" not in one.text]


def test_the_examples_about_training_that_need_nothing_run():
    names: dict[str, object] = {}
    for block in TRAINING:
        if block not in NEEDS_TORCH:
            run_python(block, ROOT / "docs" / "training.md", names)


@pytest.fixture(scope="module")
def trained() -> dict[str, object]:
    """What the first loop of the page leaves to the others."""
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[torch]'")
    names: dict[str, object] = {}
    torch.manual_seed(0)
    with redirect_stdout(io.StringIO()) as printed:
        run_python(NEEDS_TORCH[0], ROOT / "docs" / "training.md", names)
    return names | {"printed": printed.getvalue()}


def test_the_toy_network_learns_as_the_page_says(trained):
    (shown,) = [one.text for one in blocks(ROOT / "docs" / "training.md") if one.language == "text"]
    lines, expected = trained["printed"].splitlines(), shown.splitlines()
    assert len(lines) == len(expected) == 10
    found, told = ([float(line.rpartition(" ")[2]) for line in each] for each in (lines, expected))
    assert found == pytest.approx(told, abs=0.1)  # another version of PyTorch adds in another order
    assert found[-1] > found[0] + 0.1


def test_the_toy_network_takes_ten_lines():
    _, _, after_imports = NEEDS_TORCH[0].text.partition("import make_scene\n")
    assert len(after_imports.strip().splitlines()) == 10


@pytest.mark.parametrize("number", range(1, len(NEEDS_TORCH)), ids=lambda n: NEEDS_TORCH[n].text.split()[1])
def test_the_loops_of_other_libraries_run(trained, number, monkeypatch, capsys):
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    for module in re.findall(r"^(?:import|from) (\w+)", NEEDS_TORCH[number].text, re.MULTILINE):
        pytest.importorskip(module, reason=f"needs the package {module}")
    run_python(NEEDS_TORCH[number], ROOT / "docs" / "training.md", dict(trained))
    ods = [float(number) for number in re.findall(r"0\.\d{3}", capsys.readouterr().out)]
    assert ods
    assert min(ods) > 0


@pytest.mark.usefixtures("shared_data")
def test_the_examples_on_data_sets_run():
    page = ROOT / "docs" / "datasets.md"
    for block in blocks(page):
        if block.language == "python":
            run_python(block, page, {})


def test_the_readers_on_the_page_about_formats_take_these_options():
    (block,) = [one for one in blocks(ROOT / "docs" / "formats.md") if one.language == "python"]
    calls = [node for node in ast.walk(ast.parse(block.text)) if isinstance(node, ast.Call)]
    assert len(calls) == len(ast.parse(block.text).body)
    for call in calls:
        assert isinstance(call.func, ast.Name)
        parameters = inspect.signature(getattr(hyperacuity.data, call.func.id)).parameters
        assert next(iter(parameters)) == ast.unparse(call.args[0]), call.func.id
        shown = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        defaults = {name: one.default for name, one in parameters.items() if one.default is not one.empty}
        assert shown.items() <= defaults.items(), call.func.id


def test_the_tutorial_runs_from_the_first_line_to_the_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "tutorial.md"
    names: dict[str, object] = {}
    commands = 0
    for block in blocks(page):
        if block.language == "console":
            for line in (line[2:] for line in block.text.splitlines() if line.startswith("$ ")):
                call, _, target = line.partition(" > ")
                program, *arguments = shlex.split(call)
                assert program == "hyperacuity"
                done = CliRunner().invoke(app, arguments)
                assert done.exit_code == 0, f"{line}\n{done.output}"
                if target:
                    Path(target).write_text(done.stdout, encoding="utf-8")
                commands += 1
        elif block.language == "python":
            run_python(block, page, names)
    assert commands > 5
    assert sorted(path.name for path in Path("eval").iterdir()) == [
        "eval_bdry.txt",
        "eval_bdry_img.txt",
        "eval_bdry_thr.txt",
    ]


def commands_of(page: Path) -> Iterator[tuple[int, str]]:
    """(line, command) of every call of the program in a page's blocks."""
    for block in blocks(page):
        if block.language in ("", "console", "sh", "bash"):
            for number, line in enumerate(block.text.splitlines(), block.line):
                if line.removeprefix("$ ").startswith("hyperacuity "):
                    yield number, line.removeprefix("$ ").partition(" > ")[0]


COMMANDS = [pytest.param(line, id=f"{name_of(page)}:{number}") for page in PAGES for number, line in commands_of(page)]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_on_the_pages_have_a_verb_and_options_that_exist(line):
    _, *words = shlex.split(line, comments=True)
    verbs = get_command(app).commands
    verb = next((v for n in (3, 2) if (v := " ".join(words[:n])) in verbs), words[0])  # detect train pb
    words = words[verb.count(" ") + 1 :]
    assert verb in verbs or verb.startswith("-"), f"there is no verb {verb}"
    if verb in verbs:
        command = verbs[verb]
        while words and words[0] in getattr(command, "commands", {}):  # study shift, study risk, …
            command = command.commands[words.pop(0)]
        known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {"--help", "-h"}
        asked = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert asked <= known, f"hyperacuity {verb} has no {', '.join(sorted(asked - known))}"
