r"""The front one of two neighbouring regions: a logistic function of their cues, learned from figure/ground labels.

.. math:: P(a \text{ before } b) = \frac{1}{1 + e^{-w·x(a, b)}}, \qquad x(b, a) = -x(a, b)

There is no constant, and every cue changes its sign when the regions swap; so P(a before b) + P(b before a) = 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperacuity.detect.depth.cues import GROUPS, NETWORK, PairCues, Values, group_of
from hyperacuity.detect.depth.step_model import FEATURES, StepWeights, antisymmetric_fit, learn_steps, step_features
from hyperacuity.errors import InputError, UsageError
from hyperacuity.outputs import write_bytes
from hyperacuity.small_files import read_json

SETS: Mapping[str, tuple[str, ...]] = {
    "all": GROUPS,
    "tjc": ("convexity", "junctions"),
    "network": (NETWORK,),
    "joined": (*GROUPS, NETWORK),
}
"""Sets of cues that are learned: all that an image has, those of Palou & Salembier's rivals BPT+TJC and UCM+TJC; and where
lessons have a field of ownership, that alone and everything together."""

PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Strengths that are tried; larger lets weights grow."""

FOLDS = 5


@dataclass(frozen=True, eq=False)
class CueLesson:
    """The pairs of one image to learn from.

    Attributes
    ----------
    cues
        Their cues.
    front
        +1 where the first region is in front, −1 the second, 0 unknown.
    step, heights
        Whether a pair has a step in depth (1), has none (0), or neither is known (NaN); and the height of its boundary in the
        hierarchy that the regions are from. Without both nothing is learned about steps.
    image
        Name of the image, where it has several lessons: these are left out together.
    """

    cues: PairCues
    front: NDArray[np.int64]
    step: Values | None = None
    heights: Values | None = None
    image: str = ""


@dataclass(frozen=True, eq=False)
class CueWeights:
    """Weights of one set of cues, each in units of the cue's spread."""

    names: tuple[str, ...]
    weights: Values
    spreads: Values
    penalty: float

    def scores(self, cues: PairCues) -> Values:
        """The log odds that each pair's first region is in front."""
        if cues.borders.count == 0:
            return np.zeros(0)
        scores: Values = (cues.of(self.names) * (self.weights / self.spreads)).sum(axis=1)
        return scores

    def advantages(self, cues: PairCues) -> Values:
        """P(first before second) − P(second before first) of each pair, −1 to 1."""
        return np.tanh(self.scores(cues) / 2)


@dataclass(frozen=True, eq=False)
class CueModel:
    """Weights by name of the set of cues, and how they were obtained; by the same names, where learned, what steps look like."""

    sets: Mapping[str, CueWeights]
    about: str
    steps: Mapping[str, StepWeights] = field(default_factory=dict)

    def save(self, path: Path) -> Path:
        """Write as readable JSON, a line per cue."""
        sets = ",\n".join(
            _written(name, f'"penalty": {one.penalty:g},\n   "cues"', one.names, one) for name, one in self.sets.items()
        )
        steps = ",\n".join(
            _written(name, f'"constant": {one.constant:.4f},\n   "features"', FEATURES, one)
            for name, one in self.steps.items()
        )
        about = json.dumps(self.about, ensure_ascii=False)
        more = f',\n "steps": {{\n{steps}\n }}' if steps else ""
        write_bytes(path, f'{{\n "about": {about},\n "sets": {{\n{sets}\n }}{more}\n}}\n'.encode())
        return path

    def choose(self, name: str) -> CueWeights:
        """The weights of a set of cues."""
        if name not in self.sets:
            raise UsageError(f"there are no cues {name!r}; there are {', '.join(self.sets)}")
        return self.sets[name]

    def advantages(self, name: str, cues: PairCues, heights: ArrayLike | None = None) -> Values:
        """P(first before second) − P(second before first) of each pair, by a set of cues.

        With the ``heights`` of boundaries, pairs may also be level: where steps were learned, the advantage counts with the
        probability that there is one.
        """
        weights = self.choose(name)
        result = weights.advantages(cues)
        if heights is None or name not in self.steps or cues.borders.count == 0:
            return result
        return result * self.steps[name].probability(step_features(cues.borders, heights, weights.scores(cues)))


def _written(name: str, head: str, names: Sequence[str], one: CueWeights | StepWeights) -> str:
    lines = ",\n".join(
        f"    {json.dumps(name, ensure_ascii=False)}: "
        + json.dumps({"weight": round(float(weight), 4), "spread": float(f"{spread:.4g}")})
        for name, weight, spread in zip(names, one.weights, one.spreads, strict=True)
    )
    return f"  {json.dumps(name)}: {{\n   {head}: {{\n{lines}\n   }}\n  }}"


def load_cue_model(path: Path) -> CueModel:
    """Read a model; ``InputError`` when the file holds none."""
    result = read_json(path, "model of depth cues")
    try:
        sets = {str(name): _weights(one) for name, one in result["sets"].items()}
        steps = {str(name): read_steps(one) for name, one in result.get("steps", {}).items()}
        about = str(result["about"])
    except (ArithmeticError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: holds no model of depth cues ({error})") from error
    unknown = [name for one in sets.values() for name in one.names if group_of(name) not in (*GROUPS, NETWORK)]
    if unknown:
        raise InputError(f"{path}: has a cue {unknown[0]!r}, which is not known")
    return CueModel(sets, about, steps)


def read_steps(written: Mapping[str, Any]) -> StepWeights:
    """The weights of steps from JSON; ``ValueError`` or ``KeyError`` where they make no sense."""
    weights, spreads = _numbers([written["features"][name] for name in FEATURES])
    if not np.isfinite(constant := float(written["constant"])):
        raise ValueError("the constant must be finite")
    return StepWeights(constant, weights, spreads)


def _weights(written: Mapping[str, Any]) -> CueWeights:
    cues = written["cues"]
    return CueWeights(tuple(cues), *_numbers(cues.values()), float(written["penalty"]))


def _numbers(entries: Iterable[Mapping[str, Any]]) -> tuple[Values, Values]:
    every = list(entries)
    weights, spreads = (np.array([float(one[part]) for one in every]) for part in ("weight", "spread"))
    if not (np.isfinite(weights).all() and np.isfinite(spreads).all() and (spreads > 0).all()):
        raise ValueError("weights must be finite and spreads positive")
    return weights, spreads


def learn_cues(lessons: Sequence[CueLesson], *, about: str = "") -> CueModel:
    """Learn every set of cues that the lessons have. The order of the images decides the folds; nothing is random.

    Each pair counts with the square root of its border's length. The penalty is the one under which images that were left out
    are most likely, over five folds.

    >>> from hyperacuity.detect.depth.cues import pair_cues
    >>> disc = (np.hypot(*np.mgrid[-20:21, -30:31]) < 12).astype(int)
    >>> front = {-1: disc, 1: 1 - disc}  # the disc, whether it is the second region or the first
    >>> lessons = [CueLesson(pair_cues(0.2 + 0.6 * one, one), np.array([sign])) for sign, one in front.items()]
    >>> model = learn_cues(lessons)
    >>> model.choose("tjc").advantages(lessons[0].cues) < 0
    array([ True])
    """
    every = lessons
    lessons = [one for one in lessons if one.front.any()]
    if not lessons:
        raise UsageError("there is nothing to learn from: no image has a pair of regions of which one is in front")
    seen = {group_of(name) for name in lessons[0].cues.names}
    sets = {
        name: learn_set(lessons, groups) for name, groups in SETS.items() if NETWORK not in groups or NETWORK in seen
    }
    steps = {}
    for name, weights in sets.items():
        parts = [
            (step_features(one.cues.borders, one.heights, weights.scores(one.cues)), one.step, one.cues.borders.cracks)
            for one in every
            if one.step is not None and one.heights is not None
        ]
        if parts and (learned := learn_steps(*zip(*parts, strict=True))):
            steps[name] = learned
    return CueModel(sets, about, steps)


def learn_set(lessons: Sequence[CueLesson], groups: Sequence[str]) -> CueWeights:
    """Learn what the cues of some groups are worth (:func:`learn_cues`)."""
    names = tuple(name for name in lessons[0].cues.names if group_of(name) in groups)
    # A pair whose second region is in front is the pair the other way round.
    facing = [(one.cues.of(names) * one.front[:, None])[one.front != 0] for one in lessons]
    weights = [np.sqrt(one.cues.borders.cracks)[one.front != 0] for one in lessons]
    every, weight = np.concatenate(facing), np.concatenate(weights)
    weight = weight / weight.mean()
    spreads = np.sqrt(np.average(every**2, axis=0, weights=weight))
    spreads[spreads == 0] = 1.0
    every = every / spreads
    names_of = [one.image or str(n) for n, one in enumerate(lessons)]
    number = {name: n for n, name in enumerate(dict.fromkeys(names_of))}
    image = np.repeat([number[name] for name in names_of], [len(part) for part in facing])
    penalty = _likeliest_penalty(every, weight, image) if len(number) > 1 else 0.1
    return CueWeights(names, antisymmetric_fit(every, weight, penalty), spreads, penalty)


def _likeliest_penalty(facing: Values, weight: Values, image: NDArray[np.int64]) -> float:
    folds = min(FOLDS, int(image.max()) + 1)
    likelihood = dict.fromkeys(PENALTIES, 0.0)
    for fold in range(folds):
        left_out = image % folds == fold
        for penalty in PENALTIES:
            learned = antisymmetric_fit(facing[~left_out], weight[~left_out], penalty)
            likelihood[penalty] -= float(weight[left_out] @ np.logaddexp(0, -facing[left_out] @ learned))
    return max(PENALTIES, key=lambda penalty: likelihood[penalty])
