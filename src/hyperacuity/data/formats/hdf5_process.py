"""HDF5 read in a separate process.

The HDF5 library trusts the files it opens, and a damaged one may crash it or send it into an endless loop. So the module
``mat73`` works in a child process with limits on memory and processor time (on Windows only crashes are caught). A child answers
one request after another; there are as many as threads that read such files at once.

A request is a line of JSON. An answer is a line of JSON and the bytes of its arrays; nothing is unpickled, so a hijacked child
cannot run code here. In the JSON, an array is its index, a cell a list and a struct a mapping.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import MAX_BYTES, first_line
from hyperacuity.data.formats.mat5 import Value, Variable

MAX_SECONDS = 60
"""Most processor time that one request may take."""

_MEMORY = 3 * MAX_BYTES
"""Memory of a child beyond what it needs to start: an array, its transpose and a chunk."""

_START = "from hyperacuity.data.formats.hdf5_process import serve; serve()"

Answer = tuple[dict[str, Any], list[NDArray[Any]]]


def variables(path: Path) -> list[Variable]:
    """As :func:`hyperacuity.data.formats.mat73.variables`; ``ValueError`` also where the library fails."""
    answer, _ = _ask(path=path)
    return [Variable(name, kind, tuple(shape)) for name, kind, shape in answer["variables"]]


def decode(path: Path, name: str, fields: Collection[str] | None = None) -> Value:
    """As :func:`hyperacuity.data.formats.mat73.decode`; ``ValueError`` also where the library fails."""
    answer, arrays = _ask(path=path, name=name, fields=None if fields is None else sorted(fields))
    return _with_arrays(answer["value"], arrays)


def _with_arrays(tree: Any, arrays: list[NDArray[Any]]) -> Value:
    if isinstance(tree, int):
        return arrays[tree]
    if isinstance(tree, list):
        return [_with_arrays(item, arrays) for item in tree]
    return None if tree is None else {name: _with_arrays(item, arrays) for name, item in tree.items()}


_idle: list[subprocess.Popen[bytes]] = []
_lock = threading.Lock()


def _ask(*, path: Path, **request: Any) -> Answer:
    child, finished = _idle_child() or _start(), False
    try:
        answer, arrays = _exchange(child, {"path": os.fspath(path.absolute()), **request})
        finished = True
    finally:
        if finished:
            with _lock:
                _idle.append(child)
        else:
            child.kill()
            child.communicate()
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer, arrays


def _idle_child() -> subprocess.Popen[bytes] | None:
    with _lock:
        while _idle:
            child = _idle.pop()
            if child.poll() is None:
                return child
    return None


def _start() -> subprocess.Popen[bytes]:
    folders = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", "-W", "ignore", "-c", _START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": folders, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        start_new_session=True,  # Ctrl-C is for the run, which then ends its children
    )


def _exchange(child: subprocess.Popen[bytes], request: dict[str, Any]) -> Answer:
    requests: Any = child.stdin
    answers: Any = child.stdout
    try:
        requests.write(json.dumps(request).encode() + b"\n")
        requests.flush()
        line = answers.readline(MAX_BYTES)
        if not line.endswith(b"\n"):
            raise EOFError
        answer: dict[str, Any] = json.loads(line)
        arrays = []
        for dtype, shape, fortran in answer.get("arrays", ()):
            array = np.empty(shape, np.dtype(dtype), order="F" if fortran else "C")
            if answers.readinto(_bytes_of(array)) != array.nbytes:
                raise EOFError
            arrays.append(array)
    except (EOFError, OSError) as error:
        status = child.wait()
        if status == -getattr(signal, "SIGXCPU", 0):
            raise ValueError(f"it takes more than {MAX_SECONDS} s to read") from error
        name = signal.Signals(-status).name if status < 0 else f"status {status}"
        raise ValueError(f"the HDF5 library fails on it: {name}") from error
    return answer, arrays


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1, order="A").view(np.uint8).data


@atexit.register
def _end_children() -> None:
    """Children end when their input does."""
    while _idle:
        _idle.pop().communicate()


def _forget_children() -> None:
    """A forked process must not talk to its parent's children."""
    global _lock
    _lock = threading.Lock()
    for child in _idle:
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        child.returncode = 0  # not ours to wait for
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_children)


def serve() -> None:
    """The child: answers requests from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    _limit_memory()
    for line in sys.stdin.buffer:
        _limit_time()
        try:
            answer, arrays = _answer(**json.loads(line))
        except Exception as error:  # h5py raises many kinds; all of them mean that the file is bad
            answer, arrays = {"error": first_line(error)}, []
        answers.write(json.dumps(answer).encode() + b"\n")
        for array in arrays:
            answers.write(_bytes_of(array))
        answers.flush()


def _answer(path: str, name: str | None = None, fields: Collection[str] | None = None) -> Answer:
    from hyperacuity.data.formats import mat73

    if name is None:
        return {"variables": [(v.name, v.kind, v.shape) for v in mat73.variables(Path(path))]}, []
    arrays: list[NDArray[Any]] = []
    value = _without_arrays(mat73.decode(Path(path), name, fields), arrays)
    described = [(array.dtype.str, array.shape, array.flags.fnc) for array in arrays]
    return {"value": value, "arrays": described}, arrays


def _without_arrays(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, np.ndarray):
        arrays.append(value if value.flags.forc else np.ascontiguousarray(value))
        return len(arrays) - 1
    if isinstance(value, list):
        return [_without_arrays(item, arrays) for item in value]
    return None if value is None else {name: _without_arrays(item, arrays) for name, item in value.items()}


def _limit_memory() -> None:
    if sys.platform == "linux":
        import resource

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))


def _limit_time() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time()) + MAX_SECONDS, hard))
