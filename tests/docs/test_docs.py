"""The documentation is true: its examples run, its commands exist."""

from __future__ import annotations

import ast
import doctest
import inspect
import io
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import hyperacuity.data
import hyperacuity.tasks
from hyperacuity.cli import app, plugins
from hyperacuity.data import write_mat, write_png, write_soft, write_truths
from hyperacuity.data.scenes import Scene, make_scene
from hyperacuity.detect import Detection, canny
from hyperacuity.regions import hierarchy

ROOT = Path(__file__).parents[2]
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


@pytest.fixture(scope="module")
def seen() -> tuple[Scene, Detection, np.ndarray]:
    """A scene, what canny sees of it, and the hierarchy of that."""
    scene = make_scene(1, size=(96, 64), leaves=6)
    found = canny(scene.image)
    return scene, found, hierarchy(found.soft).ucm2()


@pytest.fixture
def names(seen, tmp_path, monkeypatch) -> dict[str, object]:
    """What pages may take for the reader's own: files in the working folder, and maps that need no introduction."""
    scene, found, ucm2 = seen
    labels = [one.labels for one in scene.annotators]
    for folder in ("photos", "truth", "maps/mine", "bsds500/groundTruth/test"):
        (tmp_path / folder).mkdir(parents=True)
    write_soft(tmp_path / "maps" / "mine" / "100007.png", found.soft)
    write_truths(tmp_path / "bsds500" / "groundTruth" / "test" / "100007.mat", labels)
    write_png(tmp_path / "photos" / "goat.png", scene.image)
    write_truths(tmp_path / "truth" / "100007.mat", labels)
    write_mat(tmp_path / "100007.mat", ucm2=ucm2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(hyperacuity.tasks, "_joined", {})
    monkeypatch.delitem(sys.modules, "exact", raising=False)
    return {
        "image": scene.image.copy(),
        "truth": scene.boundaries.copy(),
        "thin": found.thin.copy(),
        "detected": found.thin > 0.2,
        "segmentation": labels[0].copy(),
        "values": scene.image[..., 1] / 255,
        "said": {"goat": scene.order.copy()},
        "truths": {"goat": [scene.order.copy()]},
    }


@pytest.mark.parametrize(
    "page",
    pages_with("python", but={"datasets.md", "formats.md", "index.md", "runs.md", "training.md", "tutorial.md"}),
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


def run_commands(text: str) -> Iterator[tuple[str, str, str]]:
    """(command, what it prints, what the page shows) of a console block, whose commands are run here one after the other."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        call, _, target = line.partition(" > ")
        program, *arguments = shlex.split(call)
        assert program == "hyperacuity"
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, f"{line}\n{done.output}"
        if target:
            Path(target).write_text(done.stdout, encoding="utf-8")
        yield line, done.stdout, shown


def test_the_tutorial_runs_from_the_first_line_to_the_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "tutorial.md"
    names: dict[str, object] = {}
    commands = 0
    for block in blocks(page):
        if block.language == "console":
            commands += len(list(run_commands(block.text)))
        elif block.language == "python":
            run_python(block, page, names)
    assert commands > 5
    assert sorted(path.name for path in Path("eval").iterdir()) == [
        ".hyperacuity",
        "eval_bdry.txt",
        "eval_bdry_img.txt",
        "eval_bdry_thr.txt",
    ]


def test_the_front_page_shows_what_its_commands_and_its_three_lines_print(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "index.md"
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.language == "console":
            for line, printed, shown in run_commands(block.text):
                assert not shown or printed.split() == shown.split(), line
        elif block.language == "python":
            run_python(block, page, names)
    assert {"result", "score"} <= names.keys()


ADDED = "hyperacuity count "
"""The command that the page "Add a command" adds; tests/cli/test_plugins.py runs it."""


def commands_of(page: Path) -> Iterator[tuple[int, str]]:
    """(line, command) of every call of the program in a page's blocks."""
    for block in blocks(page):
        if block.language in ("", "console", "sh", "bash"):
            for number, line in enumerate(block.text.splitlines(), block.line):
                if line.removeprefix("$ ").startswith("hyperacuity ") and ADDED not in line:
                    yield number, line.removeprefix("$ ").partition(" > ")[0]


@pytest.fixture(scope="module")
def verbs() -> dict[str, Any]:
    """The verbs of the program, by their names."""
    return get_command(app).commands | {name: plugins.loaded(name) for name in plugins.offered()}


COMMANDS = [pytest.param(line, id=f"{name_of(page)}:{number}") for page in PAGES for number, line in commands_of(page)]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_on_the_pages_have_a_verb_and_options_that_exist(line, verbs):
    _, *words = shlex.split(line, comments=True)
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
