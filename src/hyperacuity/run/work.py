"""One cell, from its files to its tally: what a worker does, be it a thread here or a process on another machine.

A worker knows nothing of the store. The driver hands it a :class:`WorkItem` with what the store knows about the cell, and gets a
:class:`WorkResult` that says what to keep.
"""

from __future__ import annotations

import errno
import json
import traceback
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hyperacuity.data.remote import LocalCopies, is_remote
from hyperacuity.errors import InputError
from hyperacuity.run.fingerprint import Digests, Recorded, refuse_changed
from hyperacuity.run.job import Cell, Failure, Job, cell_from_text, files_as_text
from hyperacuity.run.progress import Ending
from hyperacuity.tally import Tally

_PASSING = {
    getattr(errno, name)
    for name in ("EIO", "ESTALE", "EAGAIN", "ETIMEDOUT", "ENETDOWN", "ENETUNREACH", "EHOSTUNREACH", "EREMOTEIO")
    if hasattr(errno, name)
}
"""Errors of a file server in a bad moment."""


@dataclass(frozen=True)
class WorkItem:
    """A cell to evaluate. ``kept`` are the inputs for which the store holds a tally, ``recorded`` the digests it has of files.

    ``keyed`` is false when there is no store: then nothing is hashed.
    """

    position: int
    cell: Cell
    keyed: bool = False
    kept: frozenset[bytes] = frozenset()
    recorded: Mapping[str, Recorded] = field(default_factory=dict)


def pack_tasks(tasks: Sequence[WorkItem]) -> bytes:
    """Tasks as a few hundred bytes each, with full paths: what travels, and what logs on the way keep of it, stays small.

    >>> from pathlib import Path
    >>> [task] = unpack_tasks(pack_tasks([WorkItem(7, Cell("canny", "church", Path("/maps/church.png"), ()), True)]))
    >>> task.position, task.cell.prediction.name, task.keyed
    (7, 'church.png', True)
    """
    rows = [
        (
            task.position,
            task.cell.system,
            task.cell.image,
            files_as_text(task.cell),
            task.keyed,
            [inputs.hex() for inputs in task.kept],
            {path: (seen, digest.hex()) for path, (seen, digest) in task.recorded.items()},
        )
        for task in tasks
    ]
    return zlib.compress(json.dumps(rows).encode())


def unpack_tasks(data: bytes) -> list[WorkItem]:
    """The inverse of :func:`pack_tasks`."""
    return [
        WorkItem(
            position,
            cell_from_text(system, image, files),
            keyed,
            frozenset(bytes.fromhex(inputs) for inputs in kept),
            {path: (seen, bytes.fromhex(digest)) for path, (seen, digest) in recorded.items()},
        )
        for position, system, image, files, keyed, kept, recorded in json.loads(zlib.decompress(data))
    ]


@dataclass(frozen=True)
class WorkResult:
    """Result of a cell: a packed tally (if reused, the inputs under which the store has it), or a failure.

    ``read`` are the digests of files that had to be read, as (path, stamp, digest). ``passing`` marks a failure that another
    try may cure.
    """

    position: int
    ending: Ending
    inputs: bytes = b""
    packed: bytes = b""
    read: tuple[tuple[str, str, bytes], ...] = ()
    failure: Failure | None = None
    passing: bool = False


def evaluate(job: Job[Tally], task: WorkItem, digests: Digests) -> WorkResult:
    """Evaluate one cell. Whatever goes wrong here costs this cell only, and is part of the result."""
    with LocalCopies() as copies:
        read: list[tuple[str, str, bytes]] = []
        try:
            return _evaluate(job, task, digests, copies, read)
        except Exception as error:
            reason, detail = str(error), ""
            if not isinstance(error, InputError):
                reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
                detail = traceback.format_exc()
            failure = Failure(task.cell.system, task.cell.image, copies.restore_names(reason), detail)
            return WorkResult(task.position, "failed", read=tuple(read), failure=failure, passing=_is_passing(error))


def _evaluate(
    job: Job[Tally], task: WorkItem, digests: Digests, copies: LocalCopies, read: list[tuple[str, str, bytes]]
) -> WorkResult:
    cell = task.cell
    if not task.keyed:
        return WorkResult(task.position, "computed", packed=_packed(job, cell, copies))
    inputs, stamps = digests.of_cell(cell, task.recorded, copies, read)
    digests.note_picture(cell, task.recorded, copies, read)
    if inputs in task.kept:
        return WorkResult(task.position, "reused", inputs, read=tuple(read))
    packed = _packed(job, cell, copies)
    refuse_changed(cell.files, stamps)
    return WorkResult(task.position, "computed", inputs, packed, tuple(read))


def _packed(job: Job[Tally], cell: Cell, copies: LocalCopies) -> bytes:
    tally = job.evaluate(_here(cell, copies))
    if not isinstance(tally, job.tally_type):
        raise TypeError(f"the job returned {type(tally).__name__}, expected {job.tally_type.__name__}")
    return tally.pack()


def _here(cell: Cell, copies: LocalCopies) -> Cell:
    """The cell with its remote files fetched."""
    if not any(is_remote(path) for path in cell.files):
        return cell
    return replace(
        cell,
        prediction=copies.copy_of(cell.prediction),
        truths=tuple(copies.copy_of(path) for path in cell.truths),
        extras=tuple((role, copies.copy_of(path)) for role, path in cell.extras),
    )


def _is_passing(error: BaseException | None) -> bool:
    """True if the fault lies in the moment rather than in the file: memory, network, file server."""
    while error is not None:
        if isinstance(error, MemoryError | TimeoutError | ConnectionError):
            return True
        if isinstance(error, OSError) and error.errno in _PASSING:
            return True
        error = error.__cause__
    return False
