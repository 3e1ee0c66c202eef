"""The network between driver and cluster stalls, or is cut: the run goes on, or ends with a sentence and goes on later."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from hyperacuity.errors import UsageError
from hyperacuity.run import Cell, check_run, open_run, open_store, run_grid

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
SIGNATURE = "letters|v:1"


class Proxy:
    """Passes bytes on between whoever connects and an address, as long as nobody stalls or cuts it."""

    def __init__(self, address):
        host, port = address.removeprefix("tcp://").split(":")
        self._target = (host, int(port))
        self._door = socket.create_server(("127.0.0.1", 0))
        self._flows = threading.Event()
        self._flows.set()
        self._open, self._done = [], False
        self.address = f"tcp://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while not self._done:
                near = self._door.accept()[0]
                far = socket.create_connection(self._target)
                self._open += [near, far]
                threading.Thread(target=self._pass_on, args=(near, far), daemon=True).start()

    def _pass_on(self, near, far):
        with contextlib.suppress(OSError, ValueError):
            while True:
                ready = select.select([near, far], [], [], 1)[0]
                self._flows.wait()
                for one in ready:
                    data = one.recv(1 << 16)
                    if not data:
                        raise OSError
                    (far if one is near else near).sendall(data)
        for one in (near, far):
            one.close()

    def stall(self, seconds):
        self._flows.clear()
        time.sleep(seconds)
        self._flows.set()

    def cut(self):
        self._done = True
        self._door.close()
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(scheduler):
    proxy = Proxy(scheduler)
    yield proxy
    proxy.cut()


@pytest.fixture
def grid(tmp_path):
    cells = []
    for number in range(40):
        path = tmp_path / f"{number}.txt"
        path.write_text(f"{number}" * (number + 1))
        cells.append(Cell("system", str(number), path, ()))
    return cells


@pytest.fixture
def undisturbed(letters, grid):
    return {image: tally.pack() for image, tally in run_grid(letters(), grid, progress=False).tallies["system"].items()}


def contents(folder):
    assert check_run(folder).problems == ()
    with open_run(folder) as run:
        return run.packed(SIGNATURE, "system")


def at_work(folder, disturb):
    """Wait until some cells are done, then disturb."""
    end = time.monotonic() + 60
    while not ((folder / "run.sqlite").exists() and check_run(folder).tallies):
        assert time.monotonic() < end
        time.sleep(0.05)
    disturb()


def run_disturbed(folder, job, grid, address, disturb):
    with open_store(folder) as store, ThreadPoolExecutor(1) as pool:
        disturbing = pool.submit(at_work, folder, disturb)
        try:
            return run_grid(job, grid, store=store, cluster=address, progress=False)
        finally:
            disturbing.result()


def test_a_network_that_stalls_for_some_seconds(tmp_path, letters, grid, undisturbed, proxy):
    outcome = run_disturbed(tmp_path / "run", letters(seconds=0.05), grid, proxy.address, lambda: proxy.stall(3))
    assert (outcome.computed, outcome.failures) == (40, [])
    assert contents(tmp_path / "run") == undisturbed


def test_a_network_that_is_cut_ends_the_run_with_a_sentence(
    tmp_path, letters, grid, undisturbed, proxy, scheduler, no_traceback
):
    with pytest.raises(
        UsageError, match=f"`cluster='{proxy.address}'`: the scheduler was lost; finished work is saved"
    ):
        run_disturbed(tmp_path / "run", letters(seconds=0.1), grid, proxy.address, proxy.cut)
    kept = check_run(tmp_path / "run").tallies
    assert 0 < kept < 40
    with open_store(tmp_path / "run") as store:
        outcome = run_grid(letters(), grid, store=store, cluster=scheduler, progress=False)
    assert (outcome.reused, outcome.computed, outcome.failures) == (kept, 40 - kept, [])
    assert contents(tmp_path / "run") == undisturbed


def test_a_worker_that_stands_still_for_some_seconds(tmp_path, letters, grid, undisturbed, scheduler):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(scheduler, set_as_default=False) as client:
        number = next(iter(client.run(os.getpid).values()))

    def stand_still():
        os.kill(number, signal.SIGSTOP)
        time.sleep(3)
        os.kill(number, signal.SIGCONT)

    outcome = run_disturbed(tmp_path / "run", letters(seconds=0.05), grid, scheduler, stand_still)
    assert (outcome.computed, outcome.failures) == (40, [])
    assert contents(tmp_path / "run") == undisturbed
