"""Things that go wrong in the night. The finished run equals an undisturbed one bit for bit, or names exactly what is missing."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hyperacuity.run import Cell, check_run, open_run, open_store, run_grid

SIGNATURE = "letters|v:1"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL and resource limits")


@pytest.fixture
def grid(tmp_path):
    """Four systems × 40 images."""
    folder = tmp_path / "files"
    folder.mkdir()
    cells = []
    for system in range(4):
        for image in range(40):
            path = folder / f"{system}-{image}.txt"
            path.write_text(f"{system} and {image}" * (image + 1))
            cells.append(Cell(f"system {system}", str(image), path, ()))
    return cells


@pytest.fixture
def undisturbed(letters, grid):
    outcome = run_grid(letters(), grid, progress=False)
    return {(s, i): tally.pack() for s, images in outcome.tallies.items() for i, tally in images.items()}


def contents(folder):
    """The tallies of a run that is finished and sound."""
    assert check_run(folder).problems == ()
    with open_run(folder) as run:
        assert run.waiting(SIGNATURE) == []
        assert run.metadata(SIGNATURE)["status"] == "finished"
        return {(s, i): data for s in run.systems(SIGNATURE) for i, data in run.packed(SIGNATURE, s).items()}


def go_on(folder, letters, grid, **more):
    with open_store(folder) as store:
        return run_grid(letters(), grid, store=store, progress=False, **more)


DRIVER = textwrap.dedent(
    """
    import json, sys
    from pathlib import Path
    from hyperacuity.errors import UsageError
    from hyperacuity.run import Cell, open_store, run_grid
    from letters_of_a_cell import LettersJob

    def drive(folder, files, seconds=0.0, cluster=None):
        cells = [
            Cell(f"system {s}", f"{i}", Path(files) / f"{s}-{i}.txt", ()) for s in range(4) for i in range(40)
        ]
        with open_store(Path(folder)) as store:
            print("began", flush=True)
            workers = 2 if cluster is None else None
            outcome = run_grid(
                LettersJob(seconds=seconds), cells, store=store, workers=workers, cluster=cluster, progress=False
            )
        return outcome
    """
)

ONE = DRIVER + textwrap.dedent(
    """
    if __name__ == "__main__":
        options = json.loads(sys.argv[1])
        exec(options.pop("first", ""))
        try:
            outcome = drive(**options)
        except UsageError as error:
            print("refused:", error, flush=True)
            sys.exit(2)
        for failure in outcome.failures:
            print("failed:", failure.system, failure.image, failure.reason)
        print("done", outcome.computed, outcome.reused, len(outcome.failures), flush=True)
    """
)


@pytest.fixture
def start(tmp_path, letters):
    """Start a driver of its own process; it says "began" as soon as it holds the run folder."""
    script = tmp_path / "driver.py"
    script.write_text(ONE)
    started = []

    def start(folder, **options):
        options |= {"folder": str(folder), "files": str(tmp_path / "files")}
        command = [sys.executable, str(script), json.dumps(options)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


KILLER = DRIVER + textwrap.dedent(
    """
    # A driver is a fork of this process, which has everything imported: twenty of them start in no time.
    import os, random, signal, time
    from hyperacuity.run import check_run
    from hyperacuity.run.code import code_version

    folder, files = sys.argv[1:]
    code_version(LettersJob())
    chance, kept, killed = random.Random(11), 0, 0
    for turn in range(20):
        hears, says = os.pipe()
        driver = os.fork()
        if driver == 0:
            os.dup2(says, 1)
            drive(folder, files, seconds=0.05)
            os._exit(0)
        os.close(says)  # so that reading ends, too, where the driver does
        if turn % 2:  # half of them are killed while they still prepare, the others at work
            os.read(hears, 1)
        time.sleep(chance.uniform(0.0, 0.4 if turn % 2 else 0.1))
        os.kill(driver, signal.SIGKILL)
        killed += os.waitpid(driver, 0)[1] == signal.SIGKILL
        os.close(hears)
        if (Path(folder) / "run.sqlite").exists():
            health = check_run(Path(folder))
            assert all("stopped before it started" in problem for problem in health.problems), health.problems
            assert health.tallies >= kept, "what was written stays"
            kept = health.tallies
    print(killed, kept)
    """
)


def test_the_driver_is_killed_twenty_times(tmp_path, letters, grid, undisturbed):
    (tmp_path / "killer.py").write_text(KILLER)
    command = [sys.executable, str(tmp_path / "killer.py"), str(tmp_path / "run"), str(tmp_path / "files")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    killed, kept = map(int, done.stdout.split()[-2:])
    assert killed == 20
    assert 0 < kept < 160
    outcome = go_on(tmp_path / "run", letters, grid)
    assert (outcome.reused, outcome.computed, outcome.failures) == (kept, 160 - kept, [])
    assert contents(tmp_path / "run") == undisturbed


def test_the_driver_of_a_cluster_is_killed_and_its_workers_go_too(tmp_path, letters, grid, undisturbed, start):
    psutil = pytest.importorskip("psutil")
    driver = start(tmp_path / "run", seconds=0.05, cluster="local:2")
    assert driver.stdout.readline() == "began\n"
    run = tmp_path / "run"
    wait_until(lambda: (run / "run.sqlite").exists() and check_run(run).tallies > 0)
    family = psutil.Process(driver.pid).children(recursive=True)
    assert len(family) >= 2
    driver.kill()
    driver.communicate()
    _, alive = psutil.wait_procs(family, timeout=300)
    assert alive == []
    outcome = go_on(run, letters, grid)
    assert outcome.reused > 0
    assert contents(run) == undisturbed


def wait_until(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_worker_of_a_cluster_is_killed(tmp_path, letters, scheduler, grid, undisturbed):
    """Each worker once, at some moment; nothing is lost and nobody has to start anything again."""
    distributed = pytest.importorskip("distributed")
    chance, killed = random.Random(3), []  # noqa: S311

    def kill_some():
        with distributed.Client(scheduler, set_as_default=False) as client:
            for worker, number in client.run(os.getpid).items():
                end = time.monotonic() + 300
                while not client.processing().get(worker) and time.monotonic() < end:
                    time.sleep(0.01)  # before it has work, there is nothing that it could lose
                time.sleep(chance.uniform(0, 0.1))
                os.kill(number, signal.SIGKILL)
                killed.append(number)

    with open_store(tmp_path / "run") as store, ThreadPoolExecutor(1) as pool:
        killing = pool.submit(kill_some)
        outcome = run_grid(letters(seconds=0.02), grid, store=store, cluster=scheduler, progress=False)
        killing.result()
    assert len(killed) == 2
    assert (outcome.computed, outcome.failures) == (160, [])
    assert contents(tmp_path / "run") == undisturbed
    with open_run(tmp_path / "run") as run:
        reasons = {entry["reason"] for entry in run.metadata(SIGNATURE)["tried again"]}
    assert all(reason.startswith("the worker tcp://") for reason in reasons)
    assert reasons


def test_a_worker_of_a_cluster_runs_out_of_memory(tmp_path, letters, grid, undisturbed):
    """Its keeper ends it at the limit; the cell is named, the others are whole."""
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    victim, text = grid[7], grid[7].prediction.read_text()
    victim.prediction.write_text("greedy")
    strict = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    size = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with strict, distributed.LocalCluster(**size, memory_limit="250MB") as cluster:
        outcome = go_on(tmp_path / "run", letters, grid[:12], cluster=cluster.scheduler_address)
    (failure,) = outcome.failures
    assert (failure.system, failure.image) == (victim.system, victim.image)
    assert "died (out of memory, or killed)" in failure.reason
    assert outcome.computed == 11
    victim.prediction.write_text(text)
    assert go_on(tmp_path / "run", letters, grid).reused == 11
    assert contents(tmp_path / "run") == undisturbed


def test_a_thread_runs_out_of_memory(tmp_path, letters, grid, undisturbed, start):
    """The driver may have a gigabyte of addresses, one cell wants more."""
    victim, text = grid[7], grid[7].prediction.read_text()
    victim.prediction.write_text("greedy")
    limit = (
        "import resource, numpy, hyperacuity.run.grid as grid; grid.PAUSE = 0.01; "
        "mine = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize(); "
        "resource.setrlimit(resource.RLIMIT_AS, (mine + (250 << 20),) * 2)"
    )
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc to know the size of a process")
    lines = start(tmp_path / "run", first=limit).communicate()[0].splitlines()
    assert lines[-2].startswith("failed: system 0 7 ")
    assert "MemoryError" in lines[-2]
    assert lines[-2].endswith("(tried 3 times)")
    assert lines[-1] == "done 159 0 1"
    victim.prediction.write_text(text)
    assert go_on(tmp_path / "run", letters, grid).reused == 159
    assert contents(tmp_path / "run") == undisturbed


def test_the_disk_is_full(tmp_path, letters, grid, undisturbed, start):
    """A disk of 128 kilobytes, made for the purpose; then one with room."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(small)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("may not mount a small disk")
    try:
        lines = start(small / "run").communicate()[0].splitlines()
        shutil.copytree(small / "run", tmp_path / "run")
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert lines[-1].startswith(f"refused: cannot use {small}/run/run.sqlite: ")
    assert lines[-1].endswith("what was written before is kept")
    assert go_on(tmp_path / "run", letters, grid).failures == []
    assert contents(tmp_path / "run") == undisturbed


def test_a_file_may_not_grow(tmp_path, letters, grid, undisturbed, start):
    """As for a quota: writing fails in the middle of the run, after some tallies were kept."""
    limit = (
        "import resource, hyperacuity.run.store as store; store.BATCH = 10; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200 << 10,) * 2)"
    )
    lines = start(tmp_path / "run", first=limit, seconds=0.002).communicate()[0].splitlines()
    assert lines[-1].startswith("refused: cannot use ")
    kept = check_run(tmp_path / "run").tallies
    assert 0 < kept < 160
    outcome = go_on(tmp_path / "run", letters, grid)
    assert (outcome.reused, outcome.computed) == (kept, 160 - kept)
    assert contents(tmp_path / "run") == undisturbed


def test_files_vanish_and_shrink_during_the_run(tmp_path, letters, grid, undisturbed, monkeypatch):
    """While the first cell is evaluated, later ones lose their files; another is cut short while it is read itself."""
    gone, short, cut = grid[50], grid[60], grid[70]
    texts = {cell: cell.prediction.read_text() for cell in (gone, short, cut)}
    evaluate = letters.evaluate

    def meddling(self, cell):
        if cell.prediction == grid[0].prediction:
            gone.prediction.unlink()
            short.prediction.write_text("")
        tally = evaluate(self, cell)
        if cell.prediction == cut.prediction:
            os.truncate(cut.prediction, 10)
        return tally

    monkeypatch.setattr(letters, "evaluate", meddling)
    outcome = go_on(tmp_path / "run", letters, grid, workers=2)
    assert [(f.system, f.image, f.reason) for f in outcome.failures] == [
        (gone.system, gone.image, f"{gone.prediction}: cannot be read (No such file or directory)"),
        (short.system, short.image, f"{short.prediction}: is empty (0 bytes)"),
        (
            cut.system,
            cut.image,
            f"{cut.prediction}: changed while it was being evaluated; run again when it is complete",
        ),
    ]
    missing = {(cell.system, cell.image) for cell in (gone, short, cut)}
    assert contents(tmp_path / "run") == {key: data for key, data in undisturbed.items() if key not in missing}
    monkeypatch.undo()
    for cell, text in texts.items():
        cell.prediction.write_text(text)
    assert (outcome := go_on(tmp_path / "run", letters, grid)).computed == 3
    assert outcome.reused == 157
    assert contents(tmp_path / "run") == undisturbed


def test_two_drivers_want_one_run_folder(tmp_path, letters, grid, undisturbed, start):
    first = start(tmp_path / "run", seconds=0.02)
    assert first.stdout.readline() == "began\n"
    first.send_signal(signal.SIGSTOP)  # holds on until the second has started, however slow the machine
    second = start(tmp_path / "run")
    answer = second.communicate()[0]
    first.send_signal(signal.SIGCONT)
    assert answer == (
        f"refused: the run folder {tmp_path / 'run'} is in use by another run (process {first.pid} on "
        f"{os.uname().nodename}): wait until it ends, or choose another folder\n"
    )
    assert second.returncode == 2
    assert first.communicate()[0] == "done 160 0 0\n"
    assert contents(tmp_path / "run") == undisturbed


@pytest.mark.parametrize("days", [-400, 400])
def test_the_clock_jumps(tmp_path, letters, grid, undisturbed, monkeypatch, days):
    """Back or forth at random, by up to so many days, each time somebody looks; some files are dated accordingly."""
    chance = random.Random(days)  # noqa: S311
    real, real_ns = time.time, time.time_ns

    def jump():
        return chance.uniform(0, days * 86400)

    monkeypatch.setattr(time, "time", lambda: real() + jump())
    monkeypatch.setattr(time, "time_ns", lambda: real_ns() + int(jump() * 1e9))
    for cell in grid[::3]:
        os.utime(cell.prediction, (real() + jump(),) * 2)
    assert go_on(tmp_path / "run", letters, grid).computed == 160
    assert go_on(tmp_path / "run", letters, grid).reused == 160
    changed = grid[3]
    before, text = changed.prediction.stat(), changed.prediction.read_text()
    changed.prediction.write_text(text[::-1])
    os.utime(changed.prediction, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert go_on(tmp_path / "run", letters, grid).computed == 1, "a change is seen for all that"
    changed.prediction.write_text(text)
    assert go_on(tmp_path / "run", letters, grid).reused == 160
    assert contents(tmp_path / "run") == undisturbed


def test_ctrl_c_in_a_terminal_reaches_the_workers_of_a_cluster_too_and_they_finish(tmp_path, letters, grid, start):
    """The signal goes to all processes of the terminal; what was in hand is kept."""
    listen = "import os, signal; os.setsid(); signal.signal(signal.SIGINT, signal.default_int_handler)"
    driver = start(tmp_path / "run", first=listen, seconds=0.05, cluster="local:2")
    wait_until(lambda: (tmp_path / "run" / "run.sqlite").exists() and check_run(tmp_path / "run").tallies > 0)
    os.killpg(driver.pid, signal.SIGINT)
    output = driver.communicate(timeout=300)[0]
    assert output.splitlines()[-1] == "KeyboardInterrupt"
    with open_run(tmp_path / "run") as run:
        assert run.metadata(SIGNATURE)["status"] == "interrupted"
        assert 0 < len(run.waiting(SIGNATURE)) < 160
        assert run.failures(SIGNATURE) == []


CLUSTER = textwrap.dedent(
    """
    import time
    from distributed import LocalCluster

    if __name__ == "__main__":
        with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
            print(cluster.scheduler_address, flush=True)
            time.sleep(1000)
    """
)


def test_the_scheduler_of_a_cluster_freezes_and_is_killed(tmp_path, letters, grid, undisturbed, start):
    """Both end a driver with its sentence and nothing else."""
    pytest.importorskip("distributed")
    (tmp_path / "cluster.py").write_text(CLUSTER)
    command = [sys.executable, str(tmp_path / "cluster.py")]
    run, kept = tmp_path / "run", 0
    hasty = "from hyperacuity.run import cluster; cluster.SCHEDULER_SECONDS = 5"
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as cluster:
        try:
            address = cluster.stdout.readline().strip()
            for disturbance in (signal.SIGSTOP, signal.SIGKILL):
                driver = start(run, seconds=0.1, cluster=address, first=hasty)
                wait_until(lambda: (run / "run.sqlite").exists() and check_run(run).tallies > kept)  # noqa: B023
                cluster.send_signal(disturbance)
                said = driver.communicate(timeout=300)[0]
                cluster.send_signal(signal.SIGCONT)
                sentence = f"refused: `cluster='{address}'`: the scheduler was lost; finished work is saved"
                assert said.splitlines() == ["began", sentence]
                kept = check_run(run).tallies
        finally:
            cluster.kill()  # or a test that fails would wait for it
    assert 0 < kept < 160
    assert go_on(tmp_path / "run", letters, grid).reused == kept
    assert contents(tmp_path / "run") == undisturbed
