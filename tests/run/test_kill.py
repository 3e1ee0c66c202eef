"""A driver killed without warning: the run that goes on equals one that was never disturbed."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import textwrap

import pytest

from hyperacuity.run import open_run

DRIVER = textwrap.dedent(
    """
    import sys, time
    from dataclasses import dataclass
    from pathlib import Path
    import numpy as np
    from hyperacuity.run import Cell, open_store, run_grid
    from hyperacuity.tally import Counts, Tally

    @dataclass(frozen=True, eq=False)
    class Letters(Tally):
        count: Counts

    class Job:
        signature = "letters|v:1"
        tally_type = Letters
        def evaluate(self, cell):
            time.sleep(0.01)
            print("began", flush=True)
            return Letters(np.bincount(np.frombuffer(cell.prediction.read_bytes(), np.uint8), minlength=256))

    here = Path(__file__).parent
    cells = [Cell(f"system {s}", f"{i}", here / f"{s}-{i}.txt", ()) for s in range(4) for i in range(40)]
    with open_store(Path(sys.argv[1])) as store:
        outcome = run_grid(Job(), cells, store=store, workers=2, progress=False)
    print("done", outcome.computed, outcome.reused, len(outcome.failures), flush=True)
    """
)


@pytest.fixture
def drive(tmp_path):
    """Start the driver on a run folder; kill it after so many cells have begun, or read its last line."""
    (tmp_path / "driver.py").write_text(DRIVER)
    for system in range(4):
        for image in range(40):
            (tmp_path / f"{system}-{image}.txt").write_text(f"{system} and {image}" * (image + 1))

    def drive(folder, kill_after=None):
        command = [sys.executable, str(tmp_path / "driver.py"), str(tmp_path / folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            last = ""
            for number, line in enumerate(process.stdout):
                last = line
                if number == kill_after:
                    process.kill()
        assert process.returncode == (0 if kill_after is None else -signal.SIGKILL)
        return last

    return drive


def contents(folder):
    with open_run(folder) as run:
        (signature,) = run.signatures()
        assert run.waiting(signature) == []
        return {system: run.packed(signature, system) for system in run.systems(signature)}


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_run_killed_again_and_again_ends_like_an_undisturbed_one(drive, tmp_path):
    assert drive("calm") == "done 160 0 0\n"
    chance = random.Random(20)  # noqa: S311
    for _ in range(3):
        drive("disturbed", kill_after=chance.randrange(5, 50))
    word, computed, reused, failed = drive("disturbed").split()
    assert (word, failed) == ("done", "0")
    assert int(computed) + int(reused) == 160
    assert contents(tmp_path / "disturbed") == contents(tmp_path / "calm")
    with open_run(tmp_path / "disturbed") as run:
        assert [entry["status"] for entry in run.history()] == [*["interrupted"] * 3, "finished"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_work_done_before_the_kill_is_not_done_again(drive):
    drive("run", kill_after=150)  # about 0.8 s in: most of it is on disk
    _, _, reused, _ = drive("run").split()
    assert int(reused) > 0
