"""Change formulas and the reuse key a little, and see whether a test notices: ``python benchmarks/mutation.py --sample 200``.

A mutant is one module with one change: a comparison, an operator, a number by one, ``and`` for ``or``, a ``not`` less, a
choice turned round; in a statement of SQL ``AND``, ``=`` and ``!=``. Of some modules only :data:`PARTS` are changed. The tests
of its room run against it, in a fork of a process that has everything else loaded, until one fails. A mutant that passes them all
has survived: it is the same function, or a test is missing. Nothing is written to disk. ``--list`` names them.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.abc
import importlib.machinery
import os
import random
import re
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
CPU_SECONDS_A_MUTANT = 120
SECONDS_A_MUTANT = 600
"""Of the clock, for a mutant that waits for something that never comes."""
LOADED = (
    "numpy",
    "scipy.ndimage",
    "scipy.stats",
    "numba",
    "pytest",
    "hypothesis",
    "hyperacuity.maps",
    "hyperacuity.kernels",
)

EDGES = tuple(f"tests/edges/test_{name}.py" for name in ("vectors", "empty_maps", "shapes", "distances"))

SEMANTIC = ("tests/semantic/test_tallies.py", "tests/semantic/test_sbd_bench.py")
MASKS = ("tests/masks/test_counts.py", "tests/masks/test_objects.py")
REGIONS = ("tests/regions/test_measures.py", "tests/regions/test_berkeley.py")
KEY = ("tests/test_tally.py", "tests/evaluation/test_signatures.py", "tests/run/test_fingerprint.py")
KINDS = ("contours", "depth", "disparity", "occlusion", "orders", "regions", "class_maps")

PARTS: dict[str, tuple[str, ...]] = {
    "tally": ("number", "Signature"),
    "run.store": ("_ask_for", "_of_others", "to_do", "confirm"),
    **{f"kinds.{name}": ("reading", "_meaning_of_zero") for name in KINDS},
}
"""Modules of which only these functions and classes are changed: what has a part in the reuse key."""

TESTS: dict[str, tuple[str, ...]] = {
    "edges.statistical": EDGES,
    "edges.distance": EDGES,
    "edges.merit": EDGES,
    "edges.pair": EDGES,
    "boundary.scores": ("tests/boundary/test_scores.py", "tests/boundary/test_tallies.py"),
    "ordering.prc": ("tests/ordering/test_prc.py", "tests/ordering/test_pairwise.py", "tests/ordering/test_scenes.py"),
    "ordering.directed_contours": (
        "tests/ordering/test_local.py",
        "tests/ordering/test_layers.py",
        "tests/ordering/test_scenes.py",
    ),
    "semantic.scores": SEMANTIC,
    "semantic.tallies": SEMANTIC,
    "masks.scores": MASKS,
    "masks.tallies": MASKS,
    "masks.objects": MASKS,
    "regions.measures": REGIONS,
    "regions.benchmark": REGIONS,
    "audit.strength": ("tests/audit/test_strength.py",),
    "audit.partial": ("tests/audit/test_strength.py",),
    "audit.risk": ("tests/audit/test_risk.py",),
    "ordering.occlusion": ("tests/ordering/test_occlusion.py",),
    "ordering.occlusion_scores": ("tests/ordering/test_occlusion.py",),
    "ordering.whdr.benchmark": ("tests/ordering/test_ordinal.py",),
    "ordering.dbe.benchmark": ("tests/ordering/test_depth_boundaries.py",),
    "ordering.figure_ground": ("tests/ordering/test_figure_ground.py",),
    "disparity.benchmark": ("tests/disparity/test_masks.py", "tests/disparity/test_command.py"),
    "disparity.errors": ("tests/disparity/test_errors.py", "tests/disparity/test_masks.py"),
    "compare.pareto": ("tests/compare/test_pareto.py", "tests/compare/test_ranking.py"),
    "tally": KEY,
    **{f"kinds.{name}": KEY for name in KINDS},
    "run.store": ("tests/run/test_store.py", "tests/run/test_upkeep.py"),
    "run.code": ("tests/run/test_code.py",),
    "run.fingerprint": (
        "tests/run/test_fingerprint.py",
        "tests/run/test_remote.py",
        "tests/run/test_store.py",
        "tests/run/test_code.py",
    ),
}
"""What is changed, and the tests that should notice."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


SQL_SWAPS = {" AND ": " OR ", " = ": " != ", " != ": " = "}
SQL = re.compile("|".join(SQL_SWAPS))
SQL_STATEMENT = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|WHERE)\b")


@dataclass(frozen=True)
class Mutant:
    """A change of a module, by number, and what it does."""

    module: str
    number: int
    line: int
    change: str


class _Changes(ast.NodeTransformer):
    """Counts the places that can be changed, and changes the one with the number ``wanted``."""

    def __init__(self, wanted: int = -1) -> None:
        self.wanted, self.found = wanted, 0
        self.places: list[tuple[int, str]] = []

    def _here(self, node: ast.AST, change: str) -> bool:
        self.places.append((getattr(node, "lineno", 0), change))
        self.found += 1
        return self.found - 1 == self.wanted

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Bodies and defaults only: types and decorators compute nothing."""
        node.body = [self.visit(each) for each in node.body]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and self.visit(each) for each in node.args.kw_defaults]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """The body only."""
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """The value only."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Values, but of no type alias and no list of names."""
        names = {getattr(target, "id", "") for target in node.targets}
        return (
            node
            if "__all__" in names or any(name[:1].isupper() and not name.isupper() for name in names)
            else self.generic_visit(node)
        )

    def _swapped(self, node: ast.AST, operator: ast.AST) -> ast.AST:
        other = SWAPS.get(type(operator))
        if other is not None and self._here(node, f"{type(operator).__name__} → {other.__name__}"):
            return other()
        return operator

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """A comparison."""
        node.ops = [self._swapped(node, each) for each in node.ops]  # type: ignore[misc]
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """An operator; not the bar between types."""
        node.op = self._swapped(node, node.op)  # type: ignore[assignment]
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """``and``, ``or``."""
        node.op = self._swapped(node, node.op)  # type: ignore[assignment]
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """``not``, minus, complement: dropped."""
        if self._here(node, f"{type(node.op).__name__} dropped"):
            return node.operand
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """A choice, turned round."""
        if self._here(node, "choice turned round"):
            node.body, node.orelse = node.orelse, node.body
            return node
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A number, by one; a truth value, inverted; a word of a statement for the database."""
        if isinstance(node.value, str):
            for found in SQL.finditer(node.value) if SQL_STATEMENT.search(node.value) else ():
                if self._here(node, f"{found[0].strip()} → {SQL_SWAPS[found[0]].strip()}"):
                    other = node.value[: found.start()] + SQL_SWAPS[found[0]] + node.value[found.end() :]
                    return ast.copy_location(ast.Constant(other), node)
        elif isinstance(node.value, bool):
            if self._here(node, f"{node.value} inverted"):
                return ast.copy_location(ast.Constant(not node.value), node)
        elif isinstance(node.value, int | float):
            for step in (1, -1):
                if self._here(node, f"{node.value} → {node.value + step}"):
                    return ast.copy_location(ast.Constant(node.value + step), node)
        return node


def source_of(module: str) -> Path:
    """The file of a module of the package."""
    return ROOT / "src/hyperacuity" / Path(*module.split(".")).with_suffix(".py")


def mutants_of(module: str) -> list[Mutant]:
    """All changes of a module, or of its parts."""
    tree = ast.parse(source_of(module).read_text(encoding="utf-8"))
    named = [node for node in ast.walk(tree) if getattr(node, "name", None) in PARTS.get(module, ())]
    lines = {line for node in named for line in range(node.lineno, node.end_lineno + 1)}  # type: ignore[attr-defined]
    changes = _Changes()
    changes.visit(tree)
    return [
        Mutant(module, number, line, change)
        for number, (line, change) in enumerate(changes.places)
        if module not in PARTS or line in lines
    ]


class _Loader(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Finds the module of a mutant, and loads it changed."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(f"hyperacuity.{mutant.module}", str(source_of(mutant.module)))
        self.mutant = mutant

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:  # type: ignore[override]
        """Only this one."""
        if name != self.name:
            return None
        return importlib.machinery.ModuleSpec(name, self, origin=self.path)

    def exec_module(self, module: ModuleType) -> None:
        """With the change."""
        module.__file__ = self.path
        tree = _Changes(self.mutant.number).visit(ast.parse(Path(self.path).read_text(encoding="utf-8")))
        exec(compile(ast.fix_missing_locations(tree), self.path, "exec"), module.__dict__)  # noqa: S102


def survives(mutant: Mutant | None, tests: Sequence[str]) -> bool:
    """Whether all tests pass; without a mutant, on the module as it is."""
    child = os.fork()
    if child == 0:
        _run_tests(mutant, tests)
    end = time.monotonic() + SECONDS_A_MUTANT
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run_tests(mutant: Mutant | None, tests: Sequence[str]) -> None:
    status = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_A_MUTANT, CPU_SECONDS_A_MUTANT))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        if mutant is not None:
            sys.meta_path.insert(0, _Loader(mutant))
        import pytest

        status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]))
    finally:
        os._exit(min(status, 1))


def attack(modules: Sequence[str], sample: int, seed: int) -> Iterator[tuple[Mutant, bool]]:
    """A sample of all mutants, each with whether it survived. ``RuntimeError`` where tests fail without any change."""
    everyone = [mutant for module in modules for mutant in mutants_of(module)]
    chosen = random.Random(seed).sample(everyone, min(sample, len(everyone)))  # noqa: S311
    for tests in sorted({TESTS[mutant.module] for mutant in chosen}):
        if not survives(None, tests):
            raise RuntimeError(f"{', '.join(tests)}: fails as it is")
    for mutant in chosen:
        yield mutant, survives(mutant, TESTS[mutant.module])


def main() -> int:
    """Try a sample of mutants and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(TESTS)}; default: all")
    parser.add_argument(
        "--sample", type=int, default=200, help="how many mutants, of all modules together (default 200)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="name every mutant as it is tried")
    options = parser.parse_args()
    unknown = set(options.modules) - set(TESTS)
    if unknown:
        parser.error(f"no such module: {', '.join(sorted(unknown))}")
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "src"))
    for name in LOADED:
        importlib.import_module(name)
    counts: dict[str, list[int]] = {}
    survivors = []
    for mutant, survived in attack(options.modules or list(TESTS), options.sample, options.seed):
        count = counts.setdefault(mutant.module, [0, 0])
        count[survived] += 1
        if survived:
            survivors.append(mutant)
        if options.list:
            word = "survived" if survived else "noticed"
            print(f"{word:8}  {mutant.module}:{mutant.line}: {mutant.change}", flush=True)
    for module, (killed, survived) in counts.items():
        print(f"{module:28} {killed:>4} noticed {survived:>4} survived, of {len(mutants_of(module))} possible")
    print(f"{'all':28} {sum(k for k, _ in counts.values()):>4} noticed {len(survivors):>4} survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
