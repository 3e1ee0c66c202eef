"""The text files of Berkeley's region benchmark, so that scripts that read them still work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from hyperacuity.regions.benchmark import RegionTally, collect, level_names


def berkeley_files(tallies: Mapping[str, RegionTally]) -> dict[str, str]:
    """The files that ``regionBench`` would write, by name; images are numbered in the order given.

    ========================  ==========================================================================
    ``eval_cover.txt``        level of ODS, ODS, OIS, best
    ``eval_cover_th.txt``     level, covering
    ``eval_cover_img.txt``    image number, its best level, covering of the truth, covering of the prediction
    ``eval_RI_VOI.txt``       level, PRI, PRI with each image at its best; level, VI, VI with each image at its best
    ``eval_RI_VOI_thr.txt``   level, PRI, VI
    ========================  ==========================================================================

    Columns have six significant digits. Berkeley's files were rounded twice, also once per image, and differ
    from these by up to a few units of the last digit.
    """
    score = collect(tallies, resamples=1)
    levels = level_names(tallies)
    covering, pri, vi = score.curves
    images = []
    for number, one in enumerate(tallies.values(), start=1):
        k = int(np.argmax(one.covered))
        area = max(int(one.truth_area), 1)
        images.append((number, levels[k], one.covered[k] / area, one.covering[k] / max(int(one.machine_area[k]), 1)))
    return {
        "eval_cover.txt": _rows([(score.covering.level, score.covering.ods, score.covering.ois, score.best)]),
        "eval_cover_th.txt": _rows(zip(levels, covering, strict=True)),
        "eval_cover_img.txt": _rows(images),
        "eval_RI_VOI.txt": _rows(
            [(score.pri.level, score.pri.ods, score.pri.ois, score.vi.level, score.vi.ods, score.vi.ois)]
        ),
        "eval_RI_VOI_thr.txt": _rows(zip(levels, pri, vi, strict=True)),
    }


def _rows(rows: Iterable[Iterable[float]]) -> str:
    return "".join(" ".join(f"{value:10g}" for value in row) + "\n" for row in rows)
