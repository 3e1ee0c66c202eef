"""Edge measures in a report: measures on the leaderboard, scores over thresholds, and edge maps that follow the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import read_boundary_truths, read_image, read_soft
from hyperacuity.edges.benchmark import EdgeTally, Protocol, collect, is_binary
from hyperacuity.edges.names import measure
from hyperacuity.edges.sweeps import Best, edges_at
from hyperacuity.errors import InputError
from hyperacuity.kernels.suppression import suppress_structured
from hyperacuity.maps import EdgeMap, SoftMap
from hyperacuity.report import theme
from hyperacuity.report.charts import edges
from hyperacuity.report.pictures import layers, slider
from hyperacuity.report.sheets.judged import MOST_COLUMNS, Judged, judge, judged_sheet
from hyperacuity.report.sheets.sheet import Column, Each, Figure, Layer, Sheet, Viewer, picture_of
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid

LAYERS = (
    Layer("match", "Edges", "Hits, false and missed pixels at the threshold"),
    Layer("prediction", "Prediction", "The map as the system gave it; dark is strong"),
    Layer("truth", "Truth", "What people drew; the darker, the more of them drew the pixel"),
    Layer("photo", "Photograph"),
)

MOST_PICTURED = 8
"""Systems up to which a sheet of small pictures can be read."""

LEGEND = (
    ("hit", theme.HIT, "hit", "detected where somebody drew an edge"),
    ("false", theme.FALSE, "false", "detected where nobody drew one"),
    ("miss", theme.MISS, "missed", "drawn by somebody, but not detected"),
)


def sheet(grid: Grid, each: Each) -> Sheet:
    """The edges part of a report; systems are ranked by the first measure."""
    names = tuple(grid.options["protocol"]["names"])
    columns = [
        Column(name, measure(name).symbol, better="min", digits=4, note=f"{name}: mean over images of the least score")
        for name in names[:MOST_COLUMNS]
    ]
    judged = judge(grid, columns)
    protocol = Protocol(**{**grid.options["protocol"], "names": names})
    look = _Look(protocol, bool(grid.options.get("inverted", False)), judged, grid)
    return judged_sheet(
        grid,
        judged,
        title="Edges",
        figures=_figures(judged, look) if judged.lines else (),
        viewer=Viewer(LAYERS, LEGEND, look),
    )


def _figures(judged: Judged, look: _Look) -> tuple[Figure, ...]:
    protocol = look.protocol
    scores = {line.system: collect(judged.tallies[line.system], protocol, resamples=1) for line in judged.lines}
    several = len(protocol.names) > 1
    figures = [
        Figure(
            "score-over-threshold",
            "Scores over the threshold",
            f"The mean of {'each measure' if several else measure(protocol.names[0]).symbol} over images at every threshold, "
            "a curve for each system; lower is better.",
            lambda hover: edges.mean_curves_chart(scores, columns=min(3, len(protocol.names))),
            fluid=False,
            span=8 if several else 4,
        )
    ]
    if several and len(scores) > 1:
        figures.append(
            Figure(
                "sheet",
                "Detectors by measures",
                "The mean over images of the least score, a row for each system and a column for each measure; lower is better.",
                lambda hover: edges.score_sheet_chart(scores),
                fluid=False,
                span=4 if len(protocol.names) < 7 else 12,
            )
        )
    typical = _typical(judged)
    best = look.best_maps(typical) if typical and len(scores) <= MOST_PICTURED else {}
    if best:
        figures.append(
            Figure(
                "best-maps",
                "The best edge map under each measure",
                f"The image {typical}: a row for each measure, a column for each system, with the threshold and the score.",
                lambda hover: edges.best_maps_chart(typical, look.drawn(typical), best),
                fluid=False,
                span=8,
            )
        )
    return tuple(figures)


def _typical(judged: Judged) -> str:
    """The image that all systems have and on which their mean score is the median one; empty if there is none."""
    known = {
        image: sum(of.values())
        for image, of in judged.image_scores.items()
        if len(of) == len(judged.lines) and np.isfinite(list(of.values())).all()
    }
    return sorted(known, key=lambda image: (known[image], image))[(len(known) - 1) // 2] if known else ""


class _Look:
    """Makes the pictures of one image, for all systems."""

    def __init__(self, protocol: Protocol, inverted: bool, judged: Judged, grid: Grid) -> None:
        self.protocol, self.inverted, self.judged, self.cells = protocol, inverted, judged, grid.cells
        self.images = len(judged.image_scores)

    def __call__(self, image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        some = next(iter(cells.values()))
        truths = read_boundary_truths(some.truths, inverted=self.inverted)
        height, width = truths[0].shape
        shared: dict[str, Any] = {"truth": layers.strength(layers.agreement(truths, 0), len(truths))}
        if (picture := picture_of(cells)) is not None:
            shared["photo"] = layers.photograph(read_image(picture))
        drawn = np.logical_or.reduce(truths)
        systems: list[dict[str, Any]] = []
        room = slider.Room(images=self.images, systems=len(self.judged.lines), taken=slider.letters(shared))
        for line in self.judged.lines:
            counts = self.judged.tallies[line.system].get(image)
            try:
                if counts is None:
                    raise InputError("this system has no score on this image")
                systems.append(self._system(cells[line.system], drawn, counts, room))
            except InputError as error:
                systems.append({"missing": str(error)})
            room.take(slider.letters(systems[-1]))
        return {"size": [width, height], "shared": shared, "systems": systems}

    def drawn(self, image: str) -> EdgeMap:
        """What anybody drew of an image."""
        cell = self.cells[self.judged.lines[0].system][image]
        truths = read_boundary_truths(cell.truths, inverted=self.inverted)
        return np.asarray(np.logical_or.reduce(truths), np.bool_)

    def best_maps(self, image: str) -> dict[str, dict[str, Best]]:
        """Each system's best edge map of an image under each measure; nothing if a file has moved since."""
        found: dict[str, dict[str, Best]] = {}
        names = self.protocol.names[:MOST_COLUMNS]
        try:
            self.drawn(image)
            for line in self.judged.lines:
                soft, _ = self._prepared(read_soft(self.cells[line.system][image].prediction))
                tally = self.judged.tallies[line.system][image]
                found[line.system] = {
                    name: Best(float(score), float(at), (float(at), float(at)), edges_at(soft, float(at)))
                    for name, score, at in zip(names, tally.minimum, tally.threshold, strict=False)
                }
        except InputError:
            return {}
        return found

    def _prepared(self, soft: SoftMap) -> tuple[SoftMap, NDArray[np.float64]]:
        """A map as it is thresholded, and the thresholds."""
        if is_binary(soft):
            return soft, np.zeros(1)
        soft = suppress_structured(soft) if self.protocol.thin == "structured" else soft
        highest = float(soft.max())
        return soft / np.float32(highest) if self.protocol.norm == "max" and highest > 0 else soft, self.protocol.levels

    def _system(self, cell: Cell, drawn: NDArray[np.bool_], counts: EdgeTally, room: slider.Room) -> dict[str, Any]:
        soft = read_soft(cell.prediction)
        given = layers.soft_picture(soft)
        soft, levels = self._prepared(soft)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = (counts.scores[0] / counts.counted[0])[: levels.size]
        best = int(np.argmin(np.abs(levels - counts.threshold[0])))
        found = np.stack([edges_at(soft, level) for level in levels])
        match, kept = slider.fitted(
            np.where(found, np.where(drawn, 1, 2), np.where(drawn, 3, 0)).astype(np.uint8),
            closeness=np.nan_to_num(scores[best] / np.maximum(scores, 1e-12)),
            best=best,
            room=room.share(slider.letters(given)),
        )
        return {
            "match": match,
            "prediction": given,
            "steps": [round(float(levels[place]), 3) for place in kept],
            "of": levels.size,
            "start": kept.index(best),
            "numbers": {measure(self.protocol.names[0]).symbol: [float(f"{scores[place]:.4g}") for place in kept]},
        }
