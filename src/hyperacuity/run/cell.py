"""A cell of the grid. Jobs pick their files through it, so its code counts in the version of every job's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cell:
    """One system on one image, and the files it takes: all that a tally may depend on besides the job.

    ``extras`` are further files by role (``nonocc``, ``regions``, …). ``picture`` is the photograph that a report shows; the
    tally does not depend on it, but a run notes what it is, so that no other one is shown beside the score. ``meaning`` is what a
    run has its job say of the cell (:class:`~hyperacuity.run.Job`).
    """

    system: str
    image: str
    prediction: Path
    truths: tuple[Path, ...]
    extras: tuple[tuple[str, Path], ...] = ()
    picture: Path | None = None
    meaning: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that the tally depends on."""
        return (self.prediction, *self.truths, *(path for _, path in self.extras))

    @property
    def named_files(self) -> tuple[Path, ...]:
        """Every file of the cell, with the photograph."""
        return self.files if self.picture is None else (*self.files, self.picture)

    def file_of(self, role: str) -> Path | None:
        """The further file of this role, if there is one."""
        return dict(self.extras).get(role)
