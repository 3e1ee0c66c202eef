"""What is released: a wheel with every file of the package, dependencies with bounds that are kept, and permissive licences."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = [Requirement(text) for text in PROJECT["dependencies"]]
OPTIONAL = [Requirement(text) for texts in PROJECT["optional-dependencies"].values() for text in texts]
LOCKS = sorted((ROOT / "requirements").glob("ci-*.txt"))
TOOLS = sorted((ROOT / "requirements").glob("tools-*.txt"))


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def licences():
    return script("licences")


def test_what_a_plain_install_brings_is_permissively_licensed():
    found = licences()
    told = {name: found.licence(name) for name in found.dependencies("hyperacuity")}
    assert {"numpy", "numba", "llvmlite", "h5py", "pillow"} <= told.keys()
    assert {name: text for name, text in told.items() if not found.is_permissive(text)} == {}


@pytest.mark.parametrize(
    "text", ["GPL-3.0-or-later", "LGPLv2+", "GNU Affero General Public License", "", "BSD and GPL"]
)
def test_other_licences_would_be_noticed(text):
    assert not licences().is_permissive(text)


@pytest.mark.parametrize("needed", [*CORE, *OPTIONAL], ids=str)
def test_every_dependency_has_a_lower_bound_and_no_upper_one(needed):
    if needed.name == PROJECT["name"]:
        return
    assert [bound.operator for bound in needed.specifier] == [">="]


def test_there_are_locked_versions_for_every_python_that_is_named():
    named = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line}
    assert {path.stem.removeprefix("ci-") for path in LOCKS} == named


@pytest.mark.parametrize("path", [*LOCKS, *TOOLS], ids=lambda path: path.name)
def test_locked_versions_are_within_the_bounds_and_come_from_the_index(path):
    entries = [
        entry for entry in re.split(r"\n(?=\S)", path.read_text()) if entry.strip() and not entry.startswith("#")
    ]
    found = [
        re.fullmatch(r"([\w.-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n?)+)", entry)
        for entry in entries
    ]
    assert all(found), "every entry is name==version with hashes"
    locked = {canonicalize_name(match[1]): match[2] for match in found}
    always = [] if path in TOOLS else [Requirement(text) for text in PROJECT["optional-dependencies"]["dev"]]
    for needed in (*CORE, *(one for one in always if one.name != PROJECT["name"])):
        assert needed.specifier.contains(locked[canonicalize_name(needed.name)])
    for needed in OPTIONAL:
        version = locked.get(canonicalize_name(needed.name))
        assert version is None or needed.specifier.contains(version), needed


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(tmp_path):
    pytest.importorskip("hatchling", reason="needs the build backend hatchling")
    call = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(call, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"hyperacuity-{licences().metadata.version('hyperacuity')}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        about = {Path(name).name for name in archive.namelist() if ".dist-info/" in name}
    files = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert packed == {path.relative_to(ROOT / "src").as_posix() for path in files if path.suffix != ".pyc"}
    assert {"hyperacuity/py.typed", "hyperacuity/report/templates/report.js", "hyperacuity/detect/pb.json"} <= packed
    assert {"METADATA", "entry_points.txt", "LICENSE"} <= about


FAKE = """#!/bin/sh
case "$*" in
  *version_info*) echo 3.11 ;;
  *--require-hashes*) echo "THESE PACKAGES DO NOT MATCH THE HASHES" >&2; exit 1 ;;
  *) echo "newest versions: $*" ;;
esac
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    ("locked", "has_lock", "status"), [("1", True, 1), ("1", False, 0), ("try", True, 0), ("", True, 0)]
)
def test_a_file_with_another_hash_is_not_replaced_by_any_other(tmp_path, locked, has_lock, status):
    """Where nothing is locked for a Python, or where it is asked for, the newest versions are taken."""
    for folder in ("scripts", "requirements", ".venv/bin"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "scripts/environment", tmp_path / "scripts")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".venv/bin/python").write_text(FAKE)
    (tmp_path / ".venv/bin/python").chmod(0o755)
    if has_lock:
        (tmp_path / "requirements/ci-3.11.txt").touch()
    command = ["bash", "-c", "source scripts/environment; prepare dev"]
    environment = {**os.environ, "LOCKED": locked}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert ("newest versions: " in done.stdout) == (status == 0)
    assert (tmp_path / ".venv/.installed-dev").exists() == (status == 0)
    assert ("cannot be installed; pip says why above" in done.stderr) == (status == 1)
    assert ("nothing is locked for this Python" in done.stderr) == (not has_lock)


def test_an_audit_that_could_not_look_fails(tmp_path):
    verdict = script("audited").verdict
    lock, report = tmp_path / "lock.txt", tmp_path / "report.json"
    lock.write_text("one==1.0 \\\n    --hash=sha256:00\ntwo_b==2 \\\n    --hash=sha256:00\n")
    clean, bad = (
        {"name": "one", "version": "1.0", "vulns": []},
        {"name": "Two.b", "version": "2", "vulns": [{"id": "CVE-1"}]},
    )
    skipped = {"name": "two-b", "skip_reason": "not found"}
    assert not verdict(lock, report)[0], "no report at all"
    for text, sound in [
        ("", False),
        ("{}", False),
        (json.dumps({"dependencies": []}), False),
        (json.dumps({"dependencies": [clean]}), False),
        (json.dumps({"dependencies": [clean, skipped]}), False),
        (json.dumps({"dependencies": [clean, bad]}), False),
        (json.dumps({"dependencies": [clean, {**bad, "vulns": []}]}), True),
    ]:
        report.write_text(text)
        assert verdict(lock, report)[0] is sound, text


def test_the_bill_of_materials_names_what_wheels_bundle():
    bill = script("sbom").bill()
    packages = {part["name"]: part for part in bill["components"]}
    assert {"numpy", "scipy", "numba", "h5py", "pillow"} <= packages.keys()
    assert (bill["bomFormat"], packages["numpy"]["version"]) == ("CycloneDX", licences().metadata.version("numpy"))
    if sys.platform == "linux":
        inside = {(name, one["name"]) for name, part in packages.items() for one in part.get("components", ())}
        assert {("h5py", "hdf5"), ("pillow", "tiff"), ("llvmlite", "LLVM"), ("scipy", "gfortran")} <= inside
        assert any(len(one["hashes"][0]["content"]) == 64 for one in packages["h5py"]["components"])
