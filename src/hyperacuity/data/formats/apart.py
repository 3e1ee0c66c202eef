"""HDF5 read in a process apart.

The HDF5 library trusts the files it opens. A chunk of 2 MB may unpack to 2 GB, a chunk may be shorter than it says, so that
memory nobody wrote is read, and a damaged index may send it in circles or crash it, and with it Python and a run of hours. So
the module ``mat73`` works in a child process with limits on memory and processor time. A file that breaks them, or the
child, fails alone. A child answers one question after the other; there are as many as threads that read such files at once.

A question is a line of JSON. An answer is a length, JSON of that length, and the bytes of its arrays; nothing is unpickled. In
the JSON, an array is its number, a cell a list and a struct a mapping. Processes cannot be limited on Windows, so there only
crashes are caught.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from math import ceil
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data.files import MAX_BYTES, first_line
from hyperacuity.data.formats.mat5 import Value

if TYPE_CHECKING:
    from hyperacuity.data.formats.mat73 import Variable

MAX_SECONDS = 60
"""Most processor time that one question may take."""

_MEMORY = 3 * MAX_BYTES
"""What a child may use beyond what it needs to start: an array, its transpose and a chunk."""

_START = "from hyperacuity.data.formats.apart import serve; serve()"


def variables(path: Path) -> list[Variable]:
    """As :func:`hyperacuity.data.formats.mat73.variables`; ``ValueError`` also where the library fails."""
    from hyperacuity.data.formats.mat73 import Variable

    answer, _ = _ask({"path": os.fspath(path.absolute())})
    return [Variable(name, kind, tuple(shape), path) for name, kind, shape in answer["variables"]]


def decode(variable: Variable, fields: Collection[str] | None = None) -> Value:
    """As :func:`hyperacuity.data.formats.mat73.decode`; ``ValueError`` also where the library fails."""
    chosen = None if fields is None else sorted(fields)
    question = {"path": os.fspath(variable.path.absolute()), "name": variable.name, "fields": chosen}
    answer, arrays = _ask(question)
    return _with_arrays(answer["value"], arrays)


def _with_arrays(tree: Any, arrays: list[NDArray[Any]]) -> Value:
    if isinstance(tree, int):
        return arrays[tree]
    if isinstance(tree, list):
        return [_with_arrays(item, arrays) for item in tree]
    return None if tree is None else {name: _with_arrays(item, arrays) for name, item in tree.items()}


_idle: list[subprocess.Popen[bytes]] = []
_lock = threading.Lock()


def _ask(question: dict[str, Any]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    child, finished = _waiting() or _start(), False
    try:
        answer, arrays = _exchange(child, question)
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


def _waiting() -> subprocess.Popen[bytes] | None:
    """A child that has nothing to do and is still there."""
    with _lock:
        while _idle:
            child = _idle.pop()
            if child.poll() is None:
                return child
    return None


def _start() -> subprocess.Popen[bytes]:
    places = os.pathsep.join(place or os.getcwd() for place in sys.path)
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", "-W", "ignore", "-c", _START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": places, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        start_new_session=True,  # Ctrl-C is for the run, which then lets its children go
    )


def _exchange(child: subprocess.Popen[bytes], question: dict[str, Any]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    assert child.stdin is not None  # noqa: S101
    assert child.stdout is not None  # noqa: S101
    try:
        child.stdin.write(json.dumps(question).encode() + b"\n")
        child.stdin.flush()
        (length,) = struct.unpack("<Q", _exactly(child.stdout, 8))
        answer: dict[str, Any] = json.loads(_exactly(child.stdout, min(length, MAX_BYTES)))
        arrays = []
        for dtype, shape, fortran in answer.get("arrays", ()):
            array = np.empty(shape, np.dtype(dtype), order="F" if fortran else "C")
            _fill(child.stdout, array.reshape(-1, order="A").view(np.uint8).data)
            arrays.append(array)
    except (EOFError, OSError) as error:
        raise ValueError(_why(child.wait())) from error
    return answer, arrays


def _why(status: int) -> str:
    if status == -getattr(signal, "SIGXCPU", 0):
        return f"it takes more than {MAX_SECONDS} s to read"
    name = signal.Signals(-status).name if status < 0 else f"status {status}"
    return f"the HDF5 library fails on it: {name}"


def _exactly(file: IO[bytes], count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise EOFError
    return data


def _fill(file: IO[bytes], view: memoryview) -> None:
    while view:
        count = file.readinto(view)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        view = view[count:]


@atexit.register
def _let_go() -> None:
    """Children end when nothing can be asked any more."""
    while _idle:
        child = _idle.pop()
        assert child.stdin is not None  # noqa: S101
        child.stdin.close()
        child.wait()


def _forget() -> None:
    """A forked process must not talk to its parent's children."""
    global _lock
    _lock = threading.Lock()
    for child in _idle:
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None  # noqa: S101
            pipe.close()
        child.returncode = 0  # not ours to wait for
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def serve() -> None:
    """The child: answers questions from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    _limit_memory()
    for line in sys.stdin.buffer:
        _limit_time()
        try:
            answer, arrays = _answer(json.loads(line))
        except Exception as error:  # h5py raises many kinds; all of them mean that the file is bad
            answer, arrays = {"error": first_line(error)}, []
        head = json.dumps(answer).encode()
        answers.write(struct.pack("<Q", len(head)) + head)
        for array in arrays:
            answers.write(array.reshape(-1, order="A").view(np.uint8).data)
        answers.flush()


def _answer(question: dict[str, Any]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    from hyperacuity.data.formats import mat73

    path = Path(question["path"])
    if "name" not in question:
        return {"variables": [(v.name, v.kind, v.shape) for v in mat73.variables(path)]}, []
    arrays: list[NDArray[Any]] = []
    value = _without_arrays(mat73.decode(path, question["name"], question["fields"]), arrays)
    described = [(array.dtype.str, array.shape, array.flags.fnc) for array in arrays]
    return {"value": value, "arrays": described}, arrays


def _without_arrays(value: Value, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, np.ndarray):
        whole = value if value.flags.c_contiguous or value.flags.f_contiguous else np.ascontiguousarray(value)
        arrays.append(whole)
        return len(arrays) - 1
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return [_without_arrays(item, arrays) for item in value]
    return {name: _without_arrays(item, arrays) for name, item in value.items()}  # type: ignore[union-attr]


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
