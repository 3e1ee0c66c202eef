"""The text files of Berkeley's benchmark, so that old plotting scripts go on working."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hyperacuity.boundary.scores import BoundaryScore


def _line(*values: float) -> str:
    """Numbers in ten columns each with six significant digits, as ``fprintf('%10g')`` writes them."""
    return " ".join(f"{value:10g}" for value in values) + "\n"


def write_berkeley(score: BoundaryScore, folder: Path) -> list[Path]:
    """Write ``eval_bdry.txt``, ``eval_bdry_thr.txt`` and ``eval_bdry_img.txt``; returns their paths.

    ``eval_bdry.txt``: threshold, recall, precision and F at ODS; recall, precision and F of OIS; AP.
    ``eval_bdry_thr.txt``: a line per threshold with recall, precision, F.
    ``eval_bdry_img.txt``: a line per image, numbered from 1, with its best threshold, recall, precision, F.
    """
    ods, ois, curve = score.ods, score.ois, score.curve
    texts = {
        "eval_bdry.txt": _line(
            ods.threshold, ods.recall, ods.precision, ods.f, ois.recall, ois.precision, ois.f, score.ap
        ),
        "eval_bdry_thr.txt": "".join(
            _line(*row) for row in np.stack([curve.threshold, curve.recall, curve.precision, curve.f], axis=1)
        ),
        "eval_bdry_img.txt": "".join(
            _line(number, point.threshold, point.recall, point.precision, point.f)
            for number, point in enumerate(score.per_image, 1)
        ),
    }
    paths = []
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="ascii")
        paths.append(path)
    return paths
