"""Compiled kernels on disk: stale, damaged or foreign ones never answer, and nothing that goes wrong there ends a command."""

from __future__ import annotations

import ast
import errno
import os
import pickle
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.registry import cpu_target
from typer.testing import CliRunner

import hyperacuity.kernels
from hyperacuity.cli import app
from hyperacuity.kernels import cache_folder, caching, kernel, numba_internals
from hyperacuity.kernels.bits import empty, pack, unpack
from hyperacuity.kernels.caching import sources

POSIX = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners and modes here")

CALLER = """
from hyperacuity.kernels import (
    callee,
    kernel,
)
number = callee.number

@kernel
def twice():
    return 2 * number()

@kernel
def thrice():
    return 3 * number()

print(twice(), thrice())
"""

CALLEE = """
from hyperacuity.kernels import kernel

@kernel
def number():
    return {}
"""

FOREIGN = "import os; os.mkdir({!r})"
"""Code that must not run: it leaves a folder."""


class Package:
    """A copy of the package with two kernel modules more, one of which calls the other."""

    def __init__(self, place: Path) -> None:
        self.place = place
        source = Path(hyperacuity.kernels.__file__).parents[1]
        for name in ("__init__.py", "machine.py", "errors.py", "kernels"):
            copy = shutil.copytree if (source / name).is_dir() else shutil.copy
            place.joinpath("hyperacuity").mkdir(parents=True, exist_ok=True)
            copy(source / name, place / "hyperacuity" / name)
        (place / "hyperacuity/kernels/caller.py").write_text(CALLER)

    def run(self, value: int, kept: Path, name: str = "NUMBA_CACHE_DIR") -> subprocess.CompletedProcess[str]:
        """Import the caller in a process, with compiled kernels in ``kept``, and a callee that returns ``value``."""
        (self.place / "hyperacuity/kernels/callee.py").write_text(CALLEE.format(value))
        environment = {key: text for key, text in os.environ.items() if key != "NUMBA_CACHE_DIR"}
        environment |= {"PYTHONPATH": str(self.place), name: str(kept), "PYTHONDONTWRITEBYTECODE": "1"}
        call = [sys.executable, "-c", "import hyperacuity.kernels.caller"]
        return subprocess.run(call, env=environment, capture_output=True, text=True, check=True)

    def prints(self, value: int, kept: Path) -> str:
        return self.run(value, kept).stdout.strip()


@pytest.fixture
def package(tmp_path):
    return Package(tmp_path / "package")


@pytest.fixture
def said(caplog, monkeypatch):
    """What is said about compiled kernels that are not kept."""
    monkeypatch.setattr(caching, "_problems", [])
    return lambda: [record.getMessage() for record in caplog.records if "not kept" in record.getMessage()]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder for compiled kernels in this process."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    return tmp_path / "numba" / "kernels"


def anew(function=pack):
    """A kernel as a process finds it that starts: nothing is in memory."""
    return kernel(function.py_func)


def packed(fresh):
    """Words of a small map, and True if the machine code came from disk."""
    mask = np.eye(3, 70, dtype=bool)
    bits = empty(*mask.shape)
    fresh(mask, bits)
    return bits.tolist(), bool(fresh.stats.cache_hits)


def loaded():
    """The variant of :func:`packed`, as it is loaded from disk; ``None`` for a miss."""
    signature = (numba.typeof(np.eye(3, dtype=bool)), numba.typeof(empty(1, 1)))
    return anew()._cache.load_overload(signature, cpu_target.target_context)


def test_a_modules_folder_depends_on_all_that_is_compiled_into_it():
    assert {"sweep", "assignment", "pairs", "bits", "thinning"} <= set(sources("sweep"))
    assert "sweep" not in sources("bits")
    assert cache_folder("hyperacuity.kernels.sweep") != cache_folder("hyperacuity.kernels.bits")


def test_no_import_between_kernel_modules_is_overlooked():
    folder = Path(hyperacuity.kernels.__file__).parent
    for file in folder.glob("*.py"):
        imported = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            module = node.module if isinstance(node, ast.ImportFrom) else None
            assert not any(name.startswith("hyperacuity") for name in names), f"{file.name}: from … import …, please"
            assert not isinstance(node, ast.ImportFrom) or node.level == 0, f"{file.name}: a relative import"
            if module == "hyperacuity.kernels":
                imported |= {name for name in names if (folder / f"{name}.py").exists()}
            elif module and module.startswith("hyperacuity.kernels."):
                imported.add(module.rpartition(".")[2])
        assert imported <= set(sources(file.stem)), file.name


def test_versions_and_the_processor_are_part_of_the_key(monkeypatch):
    before = cache_folder("hyperacuity.kernels.bits")
    settings = numba_internals.compiler_settings()
    assert np.__version__ in settings
    assert numba.__version__ in settings
    assert sys.implementation.cache_tag in settings
    monkeypatch.setattr(numba_internals, "compiler_settings", lambda: settings + "another processor")
    caching._folder_name.cache_clear()
    assert cache_folder("hyperacuity.kernels.bits") != before
    caching._folder_name.cache_clear()


def test_a_changed_callee_is_compiled_into_its_caller_anew(tmp_path, package):
    kept = tmp_path / "cache"
    assert [package.prints(value, kept) for value in (20, 21, 21)] == ["40 60", "42 63", "42 63"]
    assert len(list((kept / "kernels").glob("caller-*"))) == 2


@pytest.mark.parametrize("name", ["NUMBA_CACHE_DIR", *(["XDG_CACHE_HOME"] if sys.platform == "linux" else [])])
def test_where_nothing_can_be_kept_every_process_compiles_in_memory(tmp_path, package, name):
    blocked = tmp_path / "cache"
    blocked.write_text("a file where a folder belongs")
    runs = [package.run(value, blocked, name) for value in (20, 21)]
    assert [run.stdout.strip() for run in runs] == ["40 60", "42 63"]
    for run in runs:
        assert run.stderr.count("compiled kernels are not kept") == 1
    assert not [file for file in package.place.rglob("*") if file.suffix in {".nbi", ".nbc"}], "numba's places"


def test_another_checkout_finds_the_same_kernels(tmp_path, package):
    kept = tmp_path / "cache"
    assert package.prints(20, kept) == "40 60"
    (folder,) = (kept / "kernels").glob("caller-*")
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert len(before) == 2
    assert Package(tmp_path / "elsewhere").prints(20, kept) == "40 60"
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before


@POSIX
def test_folders_and_files_are_the_users_alone(tmp_path, package):
    old = os.umask(0)
    try:
        package.prints(20, tmp_path / "cache")
    finally:
        os.umask(old)
    entries = [tmp_path / "cache/kernels", *(tmp_path / "cache/kernels").rglob("*")]
    assert len(entries) > 3
    for entry in entries:
        assert entry.lstat().st_mode & 0o777 == (0o700 if entry.is_dir() else 0o600), entry


@POSIX
@pytest.mark.parametrize("within", [".", "bits-*"])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_folders_that_others_can_write_are_not_used(place, said, within, mode):
    words, _ = packed(anew())
    (folder,) = [place] if within == "." else place.glob(within)
    (file,) = place.rglob("pack-*.kernel")
    folder.chmod(mode)
    file.write_bytes(b"planted")
    assert [packed(anew()), packed(anew())] == [(words, False)] * 2
    (sentence,) = said()
    assert f"{folder} can be written by other users" in sentence
    assert file.read_bytes() == b"planted", "not written to, either"


@POSIX
def test_warm_refuses_a_place_where_nothing_can_be_kept(place):
    place.mkdir(parents=True)
    place.chmod(0o777)
    done = CliRunner().invoke(app, ["warm", "compare"], env={"COLUMNS": "1000"})
    assert done.exit_code == 2
    assert "compiled kernels cannot be kept: " in done.stderr
    assert "can be written by other users" in done.stderr


@POSIX
def test_folders_of_others_and_links_are_not_used(place, said, monkeypatch):
    words, _ = packed(anew())
    assert packed(anew()) == (words, True)
    with monkeypatch.context() as somebody:
        somebody.setattr(os, "geteuid", lambda: os.getuid() + 4321)
        assert packed(anew()) == (words, False)
        assert packed(anew()) == (words, False)
    assert len(said()) == 1
    assert "belongs to another user" in said()[0]
    place.rename(place.with_name("elsewhere"))
    place.symlink_to(place.with_name("elsewhere"))
    assert packed(anew()) == (words, False)


@POSIX
def test_a_foreign_pickle_is_never_executed(tmp_path, package):
    """Another user's, under the name that the key predicts; ours, unsealed; and those that numba itself would read."""
    kept, trace = tmp_path / "cache", tmp_path / "executed"

    class Attack:
        def __reduce__(self):
            return exec, (FOREIGN.format(str(trace)),)

    attack = pickle.dumps(Attack())
    package.prints(20, kept)
    files = [file for file in kept.rglob("*.kernel") if file.is_file()]
    assert files
    for file in files:
        file.write_bytes(attack)
        file.with_suffix(".nbi").write_bytes(attack)
        file.with_suffix(".nbc").write_bytes(attack)
    assert package.prints(20, kept) == "40 60"
    for file in files:
        file.write_bytes(file.read_bytes()[:32] + attack)
    assert package.prints(20, kept) == "40 60"
    assert not trace.exists()


def test_damaged_kernels_are_misses_and_are_replaced(place):
    """Bits, ends, whole contents and exchanged files: 60 at random."""
    expected, _ = packed(anew())
    anew(unpack)(np.array(expected, np.uint64), np.zeros((3, 70), bool))
    (file,) = place.rglob("pack-*.kernel")
    (foreign,) = place.rglob("unpack-*.kernel")
    whole, rng = file.read_bytes(), random.Random(5)  # noqa: S311
    damages = [
        b"",
        whole[:1],
        whole[:31],
        whole[:32],
        whole[:-1],
        whole + b"0",
        foreign.read_bytes(),
        bytes(len(whole)),
    ]
    damages += [whole[: rng.randrange(len(whole))] for _ in range(12)]
    for _ in range(40):
        flipped = bytearray(whole)
        for _ in range(rng.choice((1, 1, 1, 8, 200))):
            flipped[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        damages.append(bytes(flipped))
    for damage in damages:
        file.write_bytes(damage)
        assert loaded() is None
    assert packed(anew()) == (expected, False)
    assert packed(anew()) == (expected, True), "replaced"


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES])
def test_a_full_disk_ends_nothing_and_leaves_nothing(place, said, monkeypatch, error):
    def full(*_args, **_how):
        raise OSError(error, os.strerror(error))

    with monkeypatch.context() as disk:
        disk.setattr(Path, "replace", full)
        words, kept = packed(anew())
        assert packed(anew()) == (words, False)
    assert not kept
    assert len(said()) == 1
    assert os.strerror(error) in said()[0]
    assert not [file for file in place.rglob("*") if file.is_file()]


def test_without_numbas_inner_names_kernels_are_compiled_in_memory(place, said, monkeypatch):
    def gone(*_args, **_how):
        raise AttributeError("'CompileResult' object has no attribute '_reduce'")

    with monkeypatch.context() as changed:
        changed.setattr(numba_internals, "to_bytes", gone)
        words, _ = packed(anew())
    assert len(said()) == 1
    packed(anew())
    with monkeypatch.context() as changed:
        changed.setattr(numba_internals, "from_bytes", gone)
        assert packed(anew()) == (words, False)
    with monkeypatch.context() as changed:
        changed.setattr(numba_internals, "compiler_settings", gone)
        caching._folder_name.cache_clear()
        assert packed(anew()) == (words, False)


def test_numba_has_the_inner_names_that_are_used(place):
    """If this fails after an update of numba, kernels are compiled in every process: see ``kernels/numba_internals.py``."""
    fresh = anew()
    assert hasattr(fresh, "_cache")
    packed(fresh)
    ((_, compiled),) = fresh.overloads.items()
    data = numba_internals.to_bytes(compiled)
    again = numba_internals.from_bytes(data, cpu_target.target_context, counts_references=False)
    assert again.signature == compiled.signature
    assert loaded() is not None
    assert len(ast.literal_eval(numba_internals.compiler_settings())) == 3


LOADED = """
import sys
import numpy as np
from hyperacuity.boundary import tally
soft = np.tile(np.linspace(0, 1, 20, dtype=np.float32), (9, 1))
tally(soft, [soft > 0.5, soft > 0.9])
print(*(name for name in ("numba.np.arraymath", "scipy.linalg") if name in sys.modules))
"""


def test_kept_kernels_are_loaded_without_what_compiling_takes():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", LOADED], env=os.environ, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert outputs[1].strip() == ""
