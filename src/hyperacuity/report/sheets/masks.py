"""Masks in a report: boundary measures side by side, what the dilation rule gives away, and outlines that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from hyperacuity.kinds.masks import TRUE_FRAME
from hyperacuity.kinds.masks import frames_of as frame_files
from hyperacuity.masks import MaskScore
from hyperacuity.masks.objects import Frame, frames_of, pairs_of
from hyperacuity.masks.outcomes import outcomes
from hyperacuity.masks.task import SCORES
from hyperacuity.report import theme
from hyperacuity.report.pictures import layers
from hyperacuity.report.pictures.maps import label_picture
from hyperacuity.report.pictures.slider import Budget
from hyperacuity.report.sheets.engine import Judged, TaskSheet, findings
from hyperacuity.report.sheets.sheet import Figure
from hyperacuity.report.sheets.viewer import PHOTO, Layer, Shared, Viewer, legend
from hyperacuity.run import Cell

NOTICEABLE = 0.02
"""From this difference on, outlines are said to run along the truth more than once."""

MOST_FRAMES = 12
"""Frames of a sequence that the viewer shows."""

MOST_LABELS = 30
"""Labels that the chart by label has room for: the most frequent ones."""


def _findings(judged: Judged) -> list[str]:
    """Sentences on the leader, on what the dilation rule gives the system that gains most by it, and whether that decides."""
    scores: Mapping[str, MaskScore] = judged.scores
    gain = {name: score.mean["f"] - score.mean["one_to_one"] for name, score in scores.items()}
    most = max(gain, key=lambda name: gain[name])
    exact_f = scores[most].mean["one_to_one"]
    text = f"Matched one to one, {most} has F {exact_f:.3f}, {gain[most]:.3f} less"
    text += ": its outlines run along the truth more than once." if gain[most] > NOTICEABLE else "."
    best, exact = (max(scores, key=lambda name: scores[name].mean[key]) for key in ("f", "one_to_one"))
    text += f" {exact} is then ahead of {best}." if exact != best else ""
    first, *others = findings(judged)
    return [first, text, *others]


def _figures(judged: Judged) -> list[Figure]:
    scores: Mapping[str, MaskScore] = judged.scores
    figures = [
        Figure(
            "rules",
            "Near, or matched",
            "F by the dilation rule and by one-to-one matching, a line for each system from the one to the other.",
            partial(_rules, scores),
            fluid=True,
        )
    ]
    if any(score.labels for score in scores.values()):
        words = "F matched one to one of every label, a mark for each system."
        figures.append(Figure("labels", "Label by label", words, partial(_by_label, scores), fluid=True))
    return figures


def _rules(scores: Mapping[str, MaskScore], hover: bool) -> Any:
    import altair as alt

    names = {"f": "near (DAVIS)", "one_to_one": "one to one", "boundary_iou": "Boundary IoU"}
    rows = [
        {"system": system, "rule": title, "score": round(score.mean[key], 4)}
        for system, score in scores.items()
        for key, title in names.items()
    ]
    colour, dash, _ = theme.channels(theme.systems(list(scores)), legend=theme.key(len(scores)))
    base = theme.chart(rows).encode(
        x=alt.X("rule:N", sort=list(names.values()), title=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("score:Q", scale=alt.Scale(domain=[0, 1]), title="mean over objects"),
        color=colour,
        strokeDash=dash,
    )
    return base.mark_line(point=True).properties(width=theme.ONE_COLUMN, height=220)


def _by_label(scores: Mapping[str, MaskScore], hover: bool) -> Any:
    import altair as alt

    often: dict[int, int] = {}
    for score in scores.values():
        for label, one in score.labels.items():
            often[label] = max(often.get(label, 0), one.images)
    shown = sorted(sorted(often, key=lambda label: -often[label])[:MOST_LABELS])
    rows = [
        {"system": system, "label": str(label), "F one to one": round(score.labels[label].mean["one_to_one"], 4)}
        for system, score in scores.items()
        for label in shown
        if label in score.labels
    ]
    colour, _, shape = theme.channels(theme.systems(list(scores)), legend=theme.key(len(scores)))
    base = theme.chart(rows).encode(
        x=alt.X("label:N", sort=[str(label) for label in shown], title="label", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("F one to one:Q", scale=alt.Scale(domain=[0, 1])),
        color=colour,
        shape=shape,
    )
    return base.mark_point().properties(width=theme.TWO_COLUMNS, height=220)


class MaskViewer(Viewer):
    """Outlines by both rules, and the objects in colours. Of a sequence, some frames are shown, evenly spaced."""

    layers = (
        Layer("match", "Matched", "Outlines, every pixel with a partner of its own or without"),
        Layer(
            "near", "Near (DAVIS)", "Outlines by the dilation rule: a pixel is right when any of the truth's is near"
        ),
        Layer("prediction", "Prediction", "Objects in colours by their label or id"),
        Layer("truth", "Truth", "Objects in colours by their label or id"),
        PHOTO,
    )
    legend = legend(
        "outline with a partner in the truth",
        "outline without one: too far, or the partner is taken",
        "true outline without a partner",
    )
    note = "Outlines are drawn on the pixel above and to the left of the border, as DAVIS defines them."

    def shared(self, cell: Cell) -> Shared:
        """The true objects; of a sequence, those of a frame in the middle."""
        (truth,) = self.reader.truths(cell)
        frame = _middle(frames_of(truth, truth, self.protocol))
        return Shared(frame.truth.shape, {"truth": layers.picture_uri(label_picture(frame.truth))}, truth)

    def of_system(self, system: str, cell: Cell, truth: Any, budget: Budget) -> dict[str, Any]:
        """A system's objects, and its outlines by both rules."""
        frames = frames_of(self.reader.prediction(cell, self.protocol), truth, self.protocol)
        pairs, shown = pairs_of(frames, self.protocol), _shown(len(frames))
        exact, dilated = zip(*(outcomes(frames[n], pairs) for n in shown), strict=True)
        made = {
            "prediction": layers.picture_uri(label_picture(_middle(frames).prediction)),
            "match": layers.states(np.stack(exact)),
            "near": layers.states(np.stack(dilated)),
            "numbers": self._numbers(system, cell.image),
        }
        if len(frames) == 1:
            return made
        names = list(frame_files(cell, TRUE_FRAME))
        steps = [names[n] for n in shown]
        return made | {"what": "Frame", "steps": steps, "of": len(frames), "start": len(shown) // 2}

    def _numbers(self, system: str, image: str) -> dict[str, str]:
        """All scores of a system on an image."""
        tally = self.grid.tally(system, image)
        (values,) = self.grid.task.criteria(self.grid.protocol).alone([tally])
        return {column.title: column.as_text(value) for column, value in zip(SCORES, values.tolist(), strict=True)}


def _shown(count: int) -> list[int]:
    """Frames of a sequence that are shown: all, or some that are evenly spaced."""
    return [round(n) for n in np.linspace(0, count - 1, min(count, MOST_FRAMES))]


def _middle(frames: Sequence[Frame]) -> Frame:
    """The picture, or the frame at which the slider of a sequence starts."""
    shown = _shown(len(frames))
    return frames[shown[len(shown) // 2]]


SHEET = TaskSheet(MaskViewer, _figures, _findings)
