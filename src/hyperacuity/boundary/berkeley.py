"""The text files of Berkeley's benchmark, so that old plotting scripts still work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from hyperacuity.boundary.scores import BoundaryScore
from hyperacuity.outputs import write_output


def write_berkeley(score: BoundaryScore, folder: Path) -> list[Path]:
    """Write ``eval_bdry.txt``, ``eval_bdry_thr.txt`` and ``eval_bdry_img.txt``; returns their paths.

    ``eval_bdry.txt``: threshold, recall, precision and F at ODS; recall, precision and F of OIS; AP.
    ``eval_bdry_thr.txt``: a line per threshold with recall, precision, F.
    ``eval_bdry_img.txt``: a line per image, numbered from 1, with its best threshold, recall, precision, F.
    """
    ods, ois, curve = score.ods, score.ois, score.curve
    best = (ods.threshold, ods.recall, ods.precision, ods.f, ois.recall, ois.precision, ois.f, score.ap)
    files: dict[str, Iterable[Sequence[float]]] = {
        "eval_bdry.txt": [best],
        "eval_bdry_thr.txt": zip(curve.threshold, curve.recall, curve.precision, curve.f, strict=True),
        "eval_bdry_img.txt": [(n, p.threshold, p.recall, p.precision, p.f) for n, p in enumerate(score.per_image, 1)],
    }
    for name, rows in files.items():
        # Ten columns a number and six significant digits, as ``fprintf('%10g')`` writes them.
        text = "".join(" ".join(f"{value:10g}" for value in row) + "\n" for row in rows)
        write_output(folder / name, text.encode("ascii"))
    return [folder / name for name in files]
