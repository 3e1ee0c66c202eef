"""Edge measures in a report: measures on the leaderboard, scores over thresholds, and edge maps that follow the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.data import read_boundary_truths, read_image, read_soft
from hyperacuity.edges.names import measure
from hyperacuity.edges.protocol import EdgeTally, Protocol, collect, is_binary
from hyperacuity.errors import InputError
from hyperacuity.kernels.suppression import suppress_structured
from hyperacuity.report import layers, slider, theme
from hyperacuity.report.gather import Grid
from hyperacuity.report.sheet import Column, Each, Figure, Layer, Sheet, Viewer
from hyperacuity.report.sheets.judged import MOST_COLUMNS, Judged, judge, judged_sheet
from hyperacuity.run import Cell

LAYERS = (
    Layer("match", "Edges", "Hits, false and missed pixels at the threshold"),
    Layer("prediction", "Prediction", "The map as the system gave it; dark is strong"),
    Layer("truth", "Truth", "What people drew; the darker, the more of them drew the pixel"),
    Layer("photo", "Photograph"),
)

WORTH_SEEING = 1.5
"""Thresholds matter most at which the first measure is at most this many times its least."""

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
    inverted = bool(grid.options.get("inverted", False))
    return judged_sheet(
        grid,
        judged,
        title="Edges",
        figures=_figures(judged, protocol) if judged.lines else (),
        viewer=Viewer(LAYERS, LEGEND, _Look(protocol, inverted, judged)),
    )


def _figures(judged: Judged, protocol: Protocol) -> tuple[Figure, ...]:
    scores = {line.system: collect(judged.tallies[line.system], protocol, resamples=1) for line in judged.lines}
    main = measure(protocol.names[0]).symbol

    def draw(hover: bool) -> Any:
        import altair as alt

        theme.register()
        styles = theme.systems(list(scores))
        rows = [
            {"system": system, "threshold": round(float(t), 3), "score": float(f"{value:.4g}")}
            for system, score in scores.items()
            for t, value in zip(protocol.levels, score.curves[0], strict=True)
            if np.isfinite(value)
        ]
        least = [float(np.nanmin(score.curves[0])) for score in scores.values()]
        top = 3 * float(np.median(least)) or 1.0
        names = list(scores)
        key = alt.Legend(title=None, orient="bottom", columns=3) if len(names) > 1 else None
        base = alt.Chart(alt.InlineData(values=rows)).encode(
            x=alt.X("threshold:Q"),
            y=alt.Y("score:Q", title=main, scale=alt.Scale(domain=[0, top], clamp=True)),
            color=alt.Color(
                "system:N", scale=alt.Scale(domain=names, range=[styles[n].colour for n in names]), legend=key
            ),
            strokeDash=alt.StrokeDash(
                "system:N", scale=alt.Scale(domain=names, range=[styles[n].dash for n in names]), legend=key
            ),
        )
        return base.mark_line(clip=True).properties(width=theme.ONE_COLUMN, height=220)

    words = f"The mean of {main} over images at every threshold, a curve for each system; lower is better."
    return (Figure("score-over-threshold", f"{main} over the threshold", words, draw),)


class _Look:
    """Makes the pictures of one image, for all systems."""

    def __init__(self, protocol: Protocol, inverted: bool, judged: Judged) -> None:
        self.protocol, self.inverted, self.judged = protocol, inverted, judged
        self.images = len(judged.image_scores)

    def __call__(self, image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        some = next(iter(cells.values()))
        truths = read_boundary_truths(some.truths, inverted=self.inverted)
        height, width = truths[0].shape
        shared: dict[str, Any] = {"truth": layers.strength(layers.agreement(truths, 0), len(truths))}
        if some.picture is not None:
            shared["photo"] = layers.photograph(read_image(some.picture))
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

    def _system(self, cell: Cell, drawn: NDArray[np.bool_], counts: EdgeTally, room: slider.Room) -> dict[str, Any]:
        soft = read_soft(cell.prediction)
        given = layers.soft_picture(soft)
        levels = np.zeros(1)
        if not is_binary(soft):
            soft = suppress_structured(soft) if self.protocol.thin == "structured" else soft
            highest = float(soft.max())
            soft = soft / np.float32(highest) if self.protocol.norm == "max" and highest > 0 else soft
            levels = self.protocol.levels
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = (counts.scores[0] / counts.counted[0])[: levels.size]
        best = int(np.argmin(np.abs(levels - counts.threshold[0])))
        found = np.stack([(soft >= level) & (soft > 0) for level in levels])
        match, kept = slider.fitted(
            np.where(found, np.where(drawn, 1, 2), np.where(drawn, 3, 0)).astype(np.uint8),
            worth=scores <= WORTH_SEEING * scores[best],
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
