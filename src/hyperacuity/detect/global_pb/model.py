"""The weights of gPb's cues. ``gpb.json`` next to this module holds those of the package, and how they were obtained."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect.global_pb.cues import LOCAL_CUES
from hyperacuity.errors import InputError
from hyperacuity.outputs import write_bytes
from hyperacuity.small_files import read_json

SHIPPED = Path(__file__).with_name("gpb.json")

LOCAL_NAMES = tuple(cue.name for cue in LOCAL_CUES)
CUE_NAMES = (*LOCAL_NAMES, "spectral")


@dataclass(frozen=True, eq=False)
class GpbModel:
    """Weights of two logistic functions of the fourth roots of cues, the constant first; ``about`` says how they were obtained.

    ``local`` has the local cues alone, and finds the contours that part pixels in the spectral part; ``combined`` has all.
    """

    local: NDArray[np.float64]
    combined: NDArray[np.float64]
    about: str

    def as_written(self) -> GpbModel:
        """The model as a file holds it: weights with four decimals."""
        return GpbModel(self.local.round(4), self.combined.round(4), self.about)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: weights by the names of their cues."""
        parts = {"local": (self.local, LOCAL_NAMES), "combined": (self.combined, CUE_NAMES)}
        return {"about": self.about} | {
            part: {name: round(float(w), 4) for name, w in zip(("constant", *names), weights, strict=True)}
            for part, (weights, names) in parts.items()
        }

    def save(self, path: Path) -> Path:
        """Write as readable JSON."""
        write_bytes(path, (json.dumps(self.as_dict(), indent=1) + "\n").encode())
        return path


def load_gpb(path: Path = SHIPPED) -> GpbModel:
    """Read a model; ``InputError`` when the file holds none."""
    result = read_json(path, "model of gpb")
    try:
        local, combined = (
            np.array([result[part][name] for name in ("constant", *names)], np.float64)
            for part, names in (("local", LOCAL_NAMES), ("combined", CUE_NAMES))
        )
        about = str(result["about"])
    except (ArithmeticError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: holds no model of gpb ({error})") from error
    if not (np.isfinite(local).all() and np.isfinite(combined).all()):
        raise InputError(f"{path}: has a weight that is no finite number")
    return GpbModel(local, combined, about)
