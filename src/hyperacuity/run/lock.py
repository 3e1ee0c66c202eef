"""One driver per run folder: a lock that the operating system drops when its process dies, however it dies."""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

from hyperacuity.errors import UsageError

if sys.platform == "win32":
    import msvcrt

    # Windows locks bytes against reading too, so the locked byte lies far behind the text that says who holds it.
    _FAR = 1 << 30

    def _try_lock(file: int) -> None:
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


HOLDER = b"process "
"""Start of the text in a lock."""

PATIENCE = 0.5
"""Seconds: a program that a killed driver was just starting may hold the lock for a moment longer than the driver lived."""


def _lock_soon(file: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            _try_lock(file)
        except (BlockingIOError, PermissionError):
            if time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return


class FolderLock:
    """Holds ``folder/run.lock`` until :meth:`release`; the file itself stays, since removing it would open a race.

    The holder's name in the file is for the message alone. The lock is the operating system's: the file a killed process
    leaves behind locks nobody out.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / "run.lock"
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise UsageError(f"cannot write to the run folder {folder}: {error.strerror}") from error
        try:
            _lock_soon(self._file)
        except OSError as error:
            os.lseek(self._file, 0, os.SEEK_SET)
            holder = os.read(self._file, 200).decode(errors="replace").strip()
            os.close(self._file)
            if isinstance(error, BlockingIOError | PermissionError):
                raise UsageError(
                    f"the run folder {folder} is in use by another run ({holder or 'holder unknown'}): "
                    "wait until it ends, or choose another folder"
                ) from error
            raise UsageError(f"cannot lock the run folder {folder}: {error.strerror}") from error
        with suppress(OSError):  # a full disk does not hold a name, but the lock holds
            os.lseek(self._file, 0, os.SEEK_SET)
            if os.read(self._file, len(HOLDER)) not in (b"", HOLDER):
                return  # somebody's file of that name: it can be locked all the same
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, HOLDER + f"{os.getpid()} on {socket.gethostname()}\n".encode())

    def release(self) -> None:
        """Let the next driver in."""
        os.close(self._file)
