r"""Which of two neighbouring regions is in front: a logistic function of their cues, learned from figure/ground labels.

.. math:: P(a \text{ before } b) = \frac{1}{1 + e^{-w·x(a, b)}}, \qquad x(b, a) = -x(a, b)

There is no constant, and every cue changes its sign when the regions swap; so P(a before b) + P(b before a) = 1, and
what regions are called or which is listed first makes no difference.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.detect.depth.cues import GROUPS, PairCues, Values, group_of
from hyperacuity.errors import InputError, UsageError

SETS: Mapping[str, tuple[str, ...]] = {"all": GROUPS, "tjc": ("convexity", "junctions")}
"""Sets of cues that are learned: all, and those of Palou & Salembier's rivals BPT+TJC and UCM+TJC."""

PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Strengths that are tried; larger lets weights grow."""

FOLDS = 5


@dataclass(frozen=True, eq=False)
class CueLesson:
    """The pairs of one image to learn from: their cues, and +1 where the first region is in front, −1 the second, 0 unknown."""

    cues: PairCues
    front: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CueWeights:
    """What one set of cues is worth: a weight for each cue in units of its spread."""

    names: tuple[str, ...]
    weights: Values
    spreads: Values
    penalty: float

    def scores(self, cues: PairCues) -> Values:
        """The log odds that each pair's first region is in front."""
        if cues.beside.count == 0:
            return np.zeros(0)
        scores: Values = cues.of(self.names) @ (self.weights / self.spreads)
        return scores

    def advantages(self, cues: PairCues) -> Values:
        """P(first before second) − P(second before first) of each pair, −1 to 1."""
        return np.tanh(self.scores(cues) / 2)


@dataclass(frozen=True, eq=False)
class CueModel:
    """Weights by name of the set of cues, and how they were obtained."""

    sets: Mapping[str, CueWeights]
    about: str

    def save(self, path: Path) -> Path:
        """Write as readable JSON, a line per cue."""
        sets = ",\n".join(f"  {json.dumps(name)}: {_written(one)}" for name, one in self.sets.items())
        about = json.dumps(self.about, ensure_ascii=False)
        path.write_text(f'{{\n "about": {about},\n "sets": {{\n{sets}\n }}\n}}\n', encoding="utf-8")
        return path

    def choose(self, name: str) -> CueWeights:
        """The weights of a set of cues."""
        if name not in self.sets:
            raise UsageError(f"there are no cues {name!r}; there are {', '.join(self.sets)}")
        return self.sets[name]


def _written(one: CueWeights) -> str:
    lines = (
        f"    {json.dumps(name, ensure_ascii=False)}: "
        + json.dumps({"weight": round(float(weight), 4), "spread": float(f"{spread:.4g}")})
        for name, weight, spread in zip(one.names, one.weights, one.spreads, strict=True)
    )
    return f'{{\n   "penalty": {one.penalty:g},\n   "cues": {{\n' + ",\n".join(lines) + "\n   }\n  }"


def load_cue_model(path: Path) -> CueModel:
    """Read a model; ``InputError`` when the file holds none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        sets = {str(name): _weights(one) for name, one in found["sets"].items()}
        about = str(found["about"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: holds no model of depth cues ({error})") from error
    unknown = [name for one in sets.values() for name in one.names if group_of(name) not in GROUPS]
    if unknown:
        raise InputError(f"{path}: has a cue {unknown[0]!r}, which is not known")
    return CueModel(sets, about)


def _weights(written: Mapping[str, Any]) -> CueWeights:
    cues = written["cues"]
    weights, spreads = (np.array([float(cue[part]) for cue in cues.values()]) for part in ("weight", "spread"))
    if not (np.isfinite(weights).all() and np.isfinite(spreads).all() and (spreads > 0).all()):
        raise ValueError("weights must be finite and spreads positive")
    return CueWeights(tuple(cues), weights, spreads, float(written["penalty"]))


def learn_cues(lessons: Sequence[CueLesson], *, about: str = "") -> CueModel:
    """Learn every set of cues from images. The order of the images decides the folds; nothing is random.

    Each pair counts with the square root of its border's length. The penalty is the one under which images that were left out
    are most likely, over five folds.

    Examples
    --------
    >>> from hyperacuity.detect.depth.cues import pair_cues
    >>> disc = (np.hypot(*np.mgrid[-20:21, -30:31]) < 12).astype(int)
    >>> front = {-1: disc, 1: 1 - disc}  # the disc, whether it is the second region or the first
    >>> lessons = [CueLesson(pair_cues(0.2 + 0.6 * one, one), np.array([sign])) for sign, one in front.items()]
    >>> model = learn_cues(lessons)
    >>> model.choose("tjc").advantages(lessons[0].cues) < 0
    array([ True])
    """
    lessons = [one for one in lessons if one.front.any()]
    if not lessons:
        raise UsageError("there is nothing to learn from: no image has a pair of regions of which one is in front")
    return CueModel({name: learn_set(lessons, groups) for name, groups in SETS.items()}, about)


def learn_set(lessons: Sequence[CueLesson], groups: Sequence[str]) -> CueWeights:
    """Learn what the cues of some groups are worth (:func:`learn_cues`)."""
    names = tuple(name for name in lessons[0].cues.names if group_of(name) in groups)
    # A pair whose second region is in front is the pair the other way round.
    facing = [(one.cues.of(names) * one.front[:, None])[one.front != 0] for one in lessons]
    weights = [np.sqrt(one.cues.beside.cracks)[one.front != 0] for one in lessons]
    every, weight = np.concatenate(facing), np.concatenate(weights)
    weight = weight / weight.mean()
    spreads = np.sqrt(np.average(every**2, axis=0, weights=weight))
    spreads[spreads == 0] = 1.0
    every = every / spreads
    image = np.repeat(np.arange(len(lessons)), [len(part) for part in facing])
    penalty = _likeliest_penalty(every, weight, image) if len(lessons) > 1 else 0.1
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


def antisymmetric_fit(facing: Values, weight: Values, penalty: float) -> Values:
    r"""Weights w that make examples likely whose cues all face the truth, by Newton's method.

    .. math:: \min_w \sum_i v_i \log(1 + e^{-w·x_i}) + \frac{1}{2C} |w|^2

    >>> antisymmetric_fit(np.array([[1.0], [1.0], [-1.0]]), np.ones(3), 1e6).round(3)  # odds of 2 : 1
    array([0.693])
    """
    learned = np.zeros(facing.shape[1])

    def cost(w: Values) -> float:
        return float(weight @ np.logaddexp(0, -facing @ w) + w @ w / (2 * penalty))

    for _ in range(100):
        wrong = 1 / (1 + np.exp(np.clip(facing @ learned, -500, 500)))
        slope = facing.T @ (weight * wrong) - learned / penalty
        bend = (facing * (weight * wrong * (1 - wrong))[:, None]).T @ facing + np.eye(len(learned)) / penalty
        step = np.linalg.solve(bend, slope)
        before, size = cost(learned), 1.0
        while cost(learned + size * step) > before and size > 1e-10:
            size /= 2
        learned = learned + size * step
        if not math.isfinite(before) or np.abs(size * step).max(initial=0) < 1e-9:
            break
    return learned
