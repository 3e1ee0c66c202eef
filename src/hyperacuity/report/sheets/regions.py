"""Region measures in a report: covering, Rand index and variation of information, and how they change with the level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.boundary import Protocol as Boundaries
from hyperacuity.boundary import overlays
from hyperacuity.data import holds_ucm, read_image, read_segmentations, read_soft, read_ucm
from hyperacuity.errors import InputError
from hyperacuity.maps import EdgeMap, LabelMap, boundary_marks
from hyperacuity.regions import Protocol, collect, hierarchy, ucm_levels
from hyperacuity.regions.benchmark import RegionScore
from hyperacuity.regions.levels import Levels
from hyperacuity.report import theme
from hyperacuity.report.pictures import layers, slider
from hyperacuity.report.sheets.judged import Judged, judge, judged_sheet
from hyperacuity.report.sheets.sheet import Column, Each, Figure, Layer, Sheet, Viewer, picture_of
from hyperacuity.run import Cell
from hyperacuity.run.gather import Grid

COLUMNS = (
    Column("covering", "covering", note="Of the annotators' regions, at the best level for all images"),
    Column("pri", "PRI", note="Probabilistic Rand index, at the best level for all images"),
    Column("vi", "VI", better="min", note="Variation of information, at the best level for all images"),
)


LAYERS = (
    Layer("match", "Borders", "Borders of regions at the level, against those that people drew"),
    Layer("prediction", "All levels", "Borders of the system's regions; the darker, the longer they last"),
    Layer("truth", "Truth", "Borders that people drew; the darker, the more of them"),
    Layer("photo", "Photograph"),
)

LEGEND = (
    ("hit", theme.HIT, "hit", "a border, matched with what somebody drew nearby"),
    ("false", theme.FALSE, "false", "a border, matched with nothing that anybody drew"),
    ("miss", theme.MISS, "missed", "a border that somebody drew, but the system lacks"),
)


def sheet(grid: Grid, each: Each) -> Sheet:
    """The regions part of a report."""
    judged = judge(grid, COLUMNS)
    protocol = Protocol(**grid.options["protocol"])
    scores = {line.system: collect(judged.tallies[line.system], protocol, resamples=1) for line in judged.lines}
    return judged_sheet(
        grid,
        judged,
        title="Regions",
        figures=_figures(scores) if scores else (),
        viewer=Viewer(LAYERS, LEGEND, _Look(judged, scores, protocol, grid.options.get("form"))),
    )


def _figures(scores: Mapping[str, RegionScore]) -> tuple[Figure, ...]:
    def draw(hover: bool) -> Any:
        import altair as alt

        theme.register()
        styles = theme.systems(list(scores))
        names = list(scores)
        key = alt.Legend(title=None, orient="bottom", columns=3) if len(names) > 1 else None
        rows = [
            {"system": system, "level": round(float(level), 3), "covering": round(float(value), 4)}
            for system, score in scores.items()
            for level, value in zip(score.levels, score.curves[0], strict=True)
        ]
        base = alt.Chart(alt.InlineData(values=rows)).encode(
            x=alt.X("level:Q", scale=alt.Scale(nice=False)),
            y=alt.Y("covering:Q", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(
                "system:N", scale=alt.Scale(domain=names, range=[styles[n].colour for n in names]), legend=key
            ),
            strokeDash=alt.StrokeDash(
                "system:N", scale=alt.Scale(domain=names, range=[styles[n].dash for n in names]), legend=key
            ),
        )
        return base.mark_line(point=len(rows) <= len(names)).properties(width=theme.ONE_COLUMN, height=220)

    words = "The covering of the annotators' regions at every level, a curve for each system; higher is better."
    return (Figure("covering-over-level", "Covering over the level", words, draw),)


class _Look:
    """Makes the pictures of one image, for all systems.

    Covering has no hits and misses of its own; borders are matched as the boundary benchmark does it, with its tolerance.
    """

    def __init__(self, judged: Judged, scores: Mapping[str, RegionScore], protocol: Protocol, form: object) -> None:
        self.judged, self.scores, self.protocol, self.form = judged, scores, protocol, form

    def __call__(self, image: str, cells: Mapping[str, Cell]) -> dict[str, Any]:
        some = next(iter(cells.values()))
        truths = [np.asarray(boundary_marks(labels), np.bool_) for labels in read_segmentations(some.truths)]
        height, width = truths[0].shape
        shared: dict[str, Any] = {"truth": layers.strength(layers.agreement(truths, 2), len(truths))}
        if (picture := picture_of(cells)) is not None:
            shared["photo"] = layers.photograph(read_image(picture))
        systems: list[dict[str, Any]] = []
        room = slider.Room(images=len(self.judged.image_scores), systems=len(self.scores), taken=slider.letters(shared))
        for system in self.scores:
            try:
                systems.append(self._system(system, image, cells[system], truths, room))
            except KeyError:
                systems.append({"missing": "this system was not run on this image"})
            except InputError as error:
                systems.append({"missing": str(error)})
            room.take(slider.letters(systems[-1]))
        return {"size": [width, height], "shared": shared, "systems": systems}

    def _system(self, system: str, image: str, cell: Cell, truths: list[EdgeMap], room: slider.Room) -> dict[str, Any]:
        counts = self.judged.tallies[system].get(image)
        if counts is None:
            return {"missing": "this image failed"}
        borders = _borders(self._read(cell))
        made: dict[str, Any] = {"prediction": layers.soft_picture(np.mean(borders, axis=0, dtype=np.float32))}
        own, all_images = collect({image: counts}, self.protocol, resamples=1), self.scores[system]
        levels = all_images.levels
        best = int(np.argmin(np.abs(levels - all_images.covering.level)))
        match, kept = slider.fitted(
            _matched(borders, truths),
            closeness=all_images.curves[0] / (all_images.curves[0].max() or 1),
            best=best,
            room=room.share(slider.letters(made)),
        )
        names = ("covering", "PRI", "VI")
        return made | {
            "match": match,
            "steps": [round(float(levels[place]), 3) for place in kept],
            "of": levels.size,
            "what": "Level",
            "start": kept.index(best),
            "numbers": {name: np.round(curve[kept], 3).tolist() for name, curve in zip(names, own.curves, strict=True)},
        }

    def _read(self, cell: Cell) -> Levels | list[LabelMap]:
        """A prediction as the verb reads it."""
        if self.form == "soft":
            return hierarchy(read_soft(cell.prediction)).levels(self.protocol.thresholds)
        if self.form == "ucm" or (self.form != "segmentations" and holds_ucm(cell.prediction)):
            return ucm_levels(read_ucm(cell.prediction), self.protocol.thresholds)
        return read_segmentations([cell.prediction])


def _borders(prediction: Levels | list[LabelMap]) -> NDArray[np.bool_]:
    """Where regions meet, a picture per level."""
    if not isinstance(prediction, Levels):
        return np.stack([boundary_marks(labels) for labels in prediction])
    found: list[NDArray[np.bool_]] = []
    for level, joins in enumerate(prediction.ends):
        same = level > 0 and joins == prediction.ends[level - 1]
        found.append(found[-1] if same else boundary_marks(prediction.at(level)))
    return np.stack(found)


def _matched(borders: NDArray[np.bool_], truths: list[EdgeMap]) -> NDArray[np.uint8]:
    """Hits, false and missed borders, a picture per level. Borders of a hierarchy only vanish, so one pass does them all."""
    nested = bool((borders[1:] <= borders[:-1]).all())
    if nested:
        count = len(borders)
        lasting = (borders.sum(axis=0) / count).astype(np.float32)
        thresholds = tuple((np.arange(count) + 0.5) / count)
        return overlays(lasting, truths, Boundaries(thin=False, thresholds=thresholds))
    alone = Boundaries(thin=False, thresholds=(0.5,))
    return np.concatenate([overlays(one.astype(np.float32), truths, alone) for one in borders])
