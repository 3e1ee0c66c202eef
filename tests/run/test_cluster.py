"""The same grid on a Dask cluster: the same bytes, flat memory, lost workers, and what is said when there is no cluster."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from hyperacuity.data.files import DataWarning
from hyperacuity.errors import UsageError
from hyperacuity.run import Cell, Filled, cluster, fill_grid, open_run, open_store, run_grid
from hyperacuity.run.cluster import local_cluster
from hyperacuity.run.work import WorkItem, pack_tasks, unpack_tasks

dask = pytest.importorskip("dask", reason="needs the extra cluster")
distributed = pytest.importorskip("distributed", reason="needs the extra cluster")


@pytest.fixture
def grid(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    cells = []
    for system in ("canny", "sobel"):
        for image in range(12):
            path = folder / f"{system}-{image}.txt"
            path.write_text(f"{system} {image} " * (image + 1))
            os.utime(path, (time.time() - 3600,) * 2)
            cells.append(Cell(system, str(image), path, ()))
    return cells


def as_bytes(outcome):
    return {(s, i): tally.pack() for s, images in outcome.tallies.items() for i, tally in images.items()}


def kept(folder, signature="letters|v:1"):
    with open_run(folder) as run:
        assert run.waiting(signature) == []
        return {(s, i): data for s in run.systems(signature) for i, data in run.packed(signature, s).items()}


def test_tallies_are_the_same_bytes_as_those_of_threads(letters, scheduler, grid, tmp_path):
    here = run_grid(letters(), grid, progress=False)
    there = run_grid(letters(), grid, cluster=scheduler, progress=False)
    assert as_bytes(there) == as_bytes(here)
    assert [*there.tallies["sobel"]] == [str(k) for k in range(12)]
    with open_store(tmp_path / "here") as store:
        run_grid(letters(), grid, store=store, progress=False)
    with open_store(tmp_path / "there") as store:
        assert run_grid(letters(), grid, store=store, cluster=scheduler, progress=False).computed == 24
    assert kept(tmp_path / "there") == kept(tmp_path / "here") == as_bytes(here)


def test_threads_and_cluster_take_up_each_others_work(letters, scheduler, grid, tmp_path):
    with open_store(tmp_path / "run") as store:
        run_grid(letters(), grid[:8], store=store, progress=False)
        outcome = run_grid(letters(), grid[:16], store=store, cluster=scheduler, progress=False)
        assert (outcome.computed, outcome.reused) == (8, 8)
        grid[3].prediction.write_text("changed")
        outcome = run_grid(letters(), grid, store=store, cluster=scheduler, progress=False)
        assert (outcome.computed, outcome.reused) == (9, 15)
        assert run_grid(letters(), grid, store=store, progress=False).reused == 24


def test_a_bad_file_costs_its_cell_and_a_doubtful_one_is_told_here(letters, scheduler, grid):
    grid[5].prediction.write_text("")
    grid[6].prediction.write_text("odd numbers")
    with pytest.warns(DataWarning, match="canny-6.txt: looks odd"):
        outcome = run_grid(letters(), grid, cluster=scheduler, progress=False)
    assert [f.reason for f in outcome.failures] == [f"{grid[5].prediction}: is empty (0 bytes)"]
    assert outcome.computed == 23


def test_paths_may_be_relative_to_the_drivers_folder(letters, scheduler, grid, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    relative = [Cell(c.system, c.image, c.prediction.relative_to(tmp_path), ()) for c in grid]
    assert run_grid(letters(), relative, cluster=scheduler, progress=False).computed == 24


def test_few_cells_are_on_their_way_at_a_time(letters, scheduler, grid, monkeypatch):
    from hyperacuity.run.cluster import _MOST_CELLS, Cluster

    given = taken = most = 0
    give, take = Cluster.give, Cluster.take

    def counted_give(self, task):
        nonlocal given, most
        given += 1
        most = max(most, given - taken)
        give(self, task)

    def counted_take(self, seconds):
        nonlocal taken
        results = take(self, seconds)
        taken += len(results)
        return results

    monkeypatch.setattr(Cluster, "give", counted_give)
    monkeypatch.setattr(Cluster, "take", counted_take)
    monkeypatch.setattr("hyperacuity.run.cluster._TASK_SECONDS", 0.2)
    slow = run_grid(letters(seconds=0.2), grid[:12], cluster=scheduler, progress=False)
    assert (slow.computed, most) == (12, 4), "slow cells travel alone, two for each of two threads"
    given = taken = most = 0
    many = [Cell("s", str(k), grid[0].prediction, ()) for k in range(2000)]
    assert run_grid(letters(), many, cluster=scheduler, progress=False).computed == 2000
    assert 4 < most <= 2 * 2 * _MOST_CELLS, "quick cells travel in handfuls"


def test_what_travels_is_small(tmp_path):
    tasks = [
        WorkItem(
            k,
            Cell(
                "a system", f"{k:06}", tmp_path / "maps" / "a system" / f"{k}.png", (tmp_path / "truth" / f"{k}.mat",)
            ),
            True,
            frozenset({bytes(range(k, k + 20))}),
            {str(tmp_path / "truth" / f"{k}.mat"): (f"1:{k}:3:4", bytes(range(k, k + 20)))},
        )
        for k in range(50)
    ]
    packed = pack_tasks(tasks)
    assert unpack_tasks(packed) == tasks
    assert len(packed) < 200 * 50


def test_a_cell_that_kills_its_workers_fails_alone_and_says_so(letters, scheduler, grid, tmp_path):
    grid[7].prediction.write_text("kill whoever reads this")
    with open_store(tmp_path / "run") as store:
        outcome = run_grid(letters(), grid, store=store, cluster=scheduler, progress=False)
    (failure,) = outcome.failures
    assert (failure.system, failure.image) == ("canny", "7")
    assert failure.reason.startswith(
        "each of the 2 workers that started it died (out of memory, or killed), the last was tcp://"
    )
    assert outcome.computed == 23
    with open_run(tmp_path / "run") as run:
        told = run.metadata("letters|v:1")["tried again"]
    assert {"system", "image", "reason"} == set(told[0])
    assert any(entry["image"] == "7" and entry["reason"].endswith(" was lost") for entry in told)


def test_a_cluster_of_processes_can_be_made_on_the_spot(letters, grid, tmp_path):
    with open_store(tmp_path / "run") as store:
        filled = fill_grid(letters(), iter(grid), store=store, cluster="local:2", progress=False)
    assert filled == Filled(computed=24, reused=0, failures=[])
    with open_run(tmp_path / "run") as run:
        assert run.metadata("letters|v:1")["workers"] == 2


def test_our_own_workers_keep_their_memory(monkeypatch):
    """Dask would have them return it after every array, which makes a boundary cell a sixth slower."""
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)  # left behind by the clusters of other tests
    with local_cluster(1) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        (environment,) = client.run(lambda: dict(os.environ)).values()
    assert int(environment["MALLOC_TRIM_THRESHOLD_"]) > 100_000_000
    assert int(environment["MALLOC_MMAP_THRESHOLD_"]) > 30_000_000
    assert environment["OMP_NUM_THREADS"] == "1"


def test_workers_with_other_code_are_refused(letters, scheduler, grid, monkeypatch):
    monkeypatch.setattr("hyperacuity.run.cluster.code_elsewhere", lambda job: "0.0.1+other")
    with pytest.raises(UsageError, match=r"a worker has other code \(.*\) than this program \(0.0.1\+other\)"):
        run_grid(letters(), grid, cluster=scheduler, progress=False)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        (
            "tcp://127.0.0.1:9",
            "`cluster='tcp://127.0.0.1:9'`: no Dask scheduler answers there .* start one with: dask scheduler",
        ),
        ("localhost", "expected a scheduler's address, such as tcp://host:8786, or local:4"),
        ("local:many", "expected a number of processes, such as local:4"),
        ("local:0", "expected a number of processes, such as local:4"),
    ],
)
def test_a_cluster_that_is_not_there_is_a_wrong_call(letters, grid, address, sentence, monkeypatch):
    monkeypatch.setattr("hyperacuity.run.cluster.CONNECT_SECONDS", 1)
    with pytest.raises(UsageError, match=sentence):
        run_grid(letters(), grid, cluster=address, progress=False)


def test_threads_and_a_cluster_at_once_are_a_wrong_call(letters, grid):
    with pytest.raises(UsageError, match="give one or the other"):
        run_grid(letters(), grid, cluster="local:2", workers=2)


def test_without_dask_a_sentence_says_what_to_install(letters, grid, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        UsageError, match=r"needs Dask: pip install 'cryptography>=\S+' 'distributed>=\S+' 'fsspec>=\S+'$"
    ):
        run_grid(letters(), grid, cluster="local:2", progress=False)


def test_processes_share_the_memory_that_one_may_use(monkeypatch):
    monkeypatch.setenv("HYPERACUITY_MEMORY", "3")
    asked = {}
    monkeypatch.setattr(distributed, "LocalCluster", lambda **given: asked.update(given))
    local_cluster(4)
    assert (asked["n_workers"], asked["env"]) == (4, {"HYPERACUITY_MEMORY": "0.750000"})


def test_other_users_of_the_machine_are_turned_away(monkeypatch):
    monkeypatch.setenv("HYPERACUITY_MEMORY", "3")
    with local_cluster(1) as own:
        address = own.scheduler_address
        assert address.startswith("tls://127.0.0.1:")
        for stranger, security in ((address.replace("tls", "tcp"), None), (address, distributed.Security.temporary())):
            with pytest.raises(OSError, match=r"closed|does not match"):
                distributed.Client(stranger, timeout=60, security=security, set_as_default=False)
        with distributed.Client(own, set_as_default=False) as client:
            assert client.submit(abs, -3).result() == 3
            assert set(client.run(os.getenv, "HYPERACUITY_MEMORY").values()) == {"3.000000"}


@pytest.fixture
def deserted():
    """The address of a scheduler without workers."""
    with distributed.LocalCluster(n_workers=0, processes=False, protocol="tcp", dashboard_address="127.0.0.1:0") as own:
        yield own.scheduler_address


def test_a_cluster_without_workers_ends_with_a_sentence(letters, grid, deserted, monkeypatch, no_traceback):
    monkeypatch.setattr(cluster, "NO_WORKER_SECONDS", 2)
    began = time.monotonic()
    with pytest.raises(
        UsageError, match=r"had no worker for 2 s; finished work is saved\. Start workers with: dask worker"
    ):
        run_grid(letters(), grid, cluster=deserted, progress=False)
    assert time.monotonic() - began < cluster.STOP_SECONDS


def test_nothing_is_waited_for_after_ctrl_c_where_there_is_no_worker(letters, grid, deserted):
    with cluster.connect(letters(), deserted) as executor:
        for position, cell in enumerate(grid[:3]):
            executor.give(WorkItem(position, cell))
        assert executor.take(0.1) == []
        assert executor.forget() == 3


def test_a_frozen_worker_does_not_hold_up_ctrl_c(letters, grid, monkeypatch):
    monkeypatch.setattr(cluster, "STOP_SECONDS", 1)
    with cluster.connect(letters(), "local:1") as executor:
        (pid,) = executor._client.run(os.getpid).values()
        os.kill(pid, signal.SIGSTOP)
        try:
            executor.give(WorkItem(0, grid[0]))
            assert executor.take(0.1) == []
            assert executor.forget() == 0
            with pytest.raises(KeyboardInterrupt):
                executor.take(1.5)
        finally:
            os.kill(pid, signal.SIGCONT)
