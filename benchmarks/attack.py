"""Repeat every attack on the package and print a table: ``scripts/attack``, or ``python benchmarks/attack.py``.

Each row is a part of the test suite or a program of ``fuzz/``, run in a process of its own with a time limit, two at a time. All
of them take less than fifteen minutes on two cores. ``--kills 500``, ``--fuzz 10000000`` and ``--folders 1000`` go on for longer.
What a row printed that did not hold is kept in the folder ``--out``. Exit status 1 if there is one.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS_A_ROW = 840


@dataclass(frozen=True)
class Attack:
    """What is attacked, by which tests (and which of them), or by which program."""

    name: str
    tests: tuple[str, ...] = ()
    which: str = ""
    program: tuple[str, ...] = ()
    seconds: int = SECONDS_A_ROW

    def call(self) -> list[str]:
        """The command."""
        if self.program:
            return [sys.executable, *self.program]
        only = ["-k", self.which] if self.which else []
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *only, *self.tests]


STUDIO_FILES = ("tests/studio/test_every_write.py", "tests/studio/test_outputs.py")

ATTACKS = (
    Attack(
        "the key of a tally: options, roles, code, libraries",
        ("tests/run/test_code.py", "tests/run/test_fingerprint.py", "tests/evaluation/test_keys.py"),
    ),
    Attack("a system of another name; clean-up after a stop", ("tests/run/test_store.py", "tests/run/test_upkeep.py")),
    Attack(
        "truths that vanish: dangling links, pipes, folders",
        ("tests/data/test_pairing.py", "tests/data/test_nothing_vanishes.py", "tests/data/test_bad_input.py"),
    ),
    Attack(
        "files that change during a run",
        ("tests/run/test_grid.py", "tests/run/test_faults.py"),
        "chang or vanish or clock",
    ),
    Attack("labels that are replaced after they were read", ("tests/ordering/test_command.py",), "berkeley"),
    Attack("old scores beside new pictures", ("tests/report/test_changes.py",)),
    Attack(
        "files of other people in the way of every output",
        ("tests/cli/test_foreign_files.py", "tests/test_outputs.py", "papers/tests/test_foreign_files.py"),
    ),
    Attack(
        "other pictures under the same names",
        ("tests/run/test_keeping.py", "papers/tests/test_maire2016.py"),
        "changed or another or pictures or code",
    ),
    Attack("deep JSON, and pipes in place of small files", ("tests/cli/test_small_files.py",)),
    Attack("damaged stores, salvaged", ("tests/run/test_salvage.py",)),
    Attack("an error at every write, sync, statement, allocation", ("tests/run/test_every_write.py",)),
    Attack("the same for the studio; finished work that is damaged", STUDIO_FILES),
    Attack("damaged run folders, pipes and links beside a store", ("tests/run/test_fuzz_folders.py",)),
    Attack(
        "pictures that say more than they show: EXIF, pages, frames",
        ("tests/data/test_images.py",),
        "turned or pages or right_way",
    ),
    Attack(
        "hostile files",
        ("tests/data/test_fuzz_bombs.py", "tests/data/test_fuzz_found.py", "tests/data/test_hdf5_process.py"),
    ),
    Attack("hostile names", ("tests/cli/test_names.py",)),
    Attack("memory", ("tests/kernels/test_memory.py", "tests/detect/test_bounds.py")),
    Attack("servers that send too much, or never end", ("tests/data/test_web.py",)),
    Attack("kernels, compiled and plain", ("tests/kernels/test_fuzz_kernels.py",)),
    Attack("stale, damaged and foreign machine code", ("tests/kernels/test_cache.py",)),
    Attack("matching against other programs", ("tests/boundary/test_matching.py",)),
    Attack("other users, lost workers, a cut network", ("tests/run/test_cluster.py", "tests/run/test_partition.py")),
    Attack("full disks, kills, two drivers", ("tests/run/test_faults.py",)),
    Attack(
        "requests to the studio",
        ("tests/studio/test_web.py", "tests/studio/test_connections.py", "tests/studio/test_state.py"),
    ),
    Attack(
        "invitations, attention checks, completion codes",
        (
            "tests/studio/test_choose_answers.py",
            "tests/studio/test_choose_secrecy.py",
            "tests/studio/test_choose_results.py",
            "tests/studio/test_choose_checks.py",
            "tests/studio/test_choose_session.py",
        ),
        "not browser and not keys_alone",
    ),
    Attack(
        "damaged state files of the studio, and those of earlier versions",
        ("tests/studio/test_damage.py", "tests/studio/test_earlier.py"),
    ),
    Attack("tokens that others can see", ("tests/studio/test_command.py",), "token or address"),
    Attack("files with other hashes; an audit that cannot look", ("tests/test_packaging.py",), "hash or audit or bill"),
)


def attacks(kills: int, inputs: int, folders: int, seed: int) -> list[Attack]:
    """All rows; those that take longest go first."""
    seeded = ("--seed", str(seed))
    return [
        Attack(
            "kill -9", program=("fuzz/kills.py", "--kills", str(kills), *seeded), seconds=SECONDS_A_ROW + 10 * kills
        ),
        Attack(
            "fuzzed inputs",
            program=("fuzz/many.py", "--inputs", str(inputs), "--seconds", str(max(300, inputs // 500)), *seeded),
            seconds=SECONDS_A_ROW + inputs // 500,
        ),
        Attack(
            "damaged run folders",
            program=("fuzz/folders.py", "--folders", str(folders), *seeded),
            seconds=SECONDS_A_ROW + 20 * folders,
        ),
        Attack(
            "damage to all that is kept: tallies, studies, maps, kernels, cards, checkpoints, state",
            program=("fuzz/kept.py", "--damages", "1000", *seeded),
        ),
        Attack(
            "Python's own allocations, one after the other",
            program=("fuzz/allocations.py", "--every", "250"),
            seconds=SECONDS_A_ROW,
        ),
        *ATTACKS,
    ]


def carry_out(attack: Attack, out: Path) -> tuple[bool, str, float]:
    """Whether it held, the last line that it printed, and the seconds it took."""
    began = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'papers'}", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            attack.call(),
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=attack.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"not at an end after {attack.seconds} s", time.monotonic() - began
    seconds = time.monotonic() - began
    lines = [line for line in done.stdout.splitlines() if line.strip()] or ["no output"]
    if done.returncode:
        out.mkdir(parents=True, exist_ok=True)
        file = out / f"{re.sub(r'[^a-z0-9]+', '-', attack.name.lower())}.log"
        file.write_text(done.stdout + done.stderr)
        return False, f"{lines[-1].strip(' =')} (see {file})", seconds
    return True, re.sub(r" in [0-9.]+s.*", "", lines[-1].strip(" =")), seconds


def main() -> int:
    """Carry out the attacks and print how each ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=15, help="kill -9, over threads, processes and Dask (default 15)")
    parser.add_argument(
        "--fuzz", type=int, default=200_000, help="fuzzed inputs, in all formats together (default 200000)"
    )
    parser.add_argument("--folders", type=int, default=30, help="damaged run folders, nine commands each (default 30)")
    parser.add_argument("--seed", type=int, default=0, help="of kills, inputs and damage")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "hyperacuity-attack")
    parser.add_argument("--only", help="the rows whose name holds this")
    options = parser.parse_args()
    rows = attacks(options.kills, options.fuzz, options.folders, options.seed)
    rows = [row for row in rows if options.only is None or options.only in row.name]
    began, failed = time.monotonic(), 0
    with ThreadPoolExecutor(2) as pool:
        for row, (held, line, seconds) in zip(rows, pool.map(partial(carry_out, out=options.out), rows), strict=True):
            failed += not held
            print(f"{'held' if held else 'FAILED':6}  {row.name:52}  {seconds:>5.0f} s  {line}", flush=True)
    minutes, used = (time.monotonic() - began) / 60, os.times()
    processor = (used.children_user + used.children_system) / 60
    print(
        f"{len(rows) - failed} of {len(rows)} attacks held; {minutes:.1f} minutes, {processor:.1f} minutes of processor time"
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
