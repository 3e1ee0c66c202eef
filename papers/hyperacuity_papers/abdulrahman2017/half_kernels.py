"""Half Gaussian kernels under noise: a grid over their length, width and angle step, and over what a decibel means.

Abdulrahman et al. (2017, section 4) find H-K the best of six detectors on noisy shapes under most measures. They give
neither the kernels' parameters nor the definition of the signal-to-noise ratio, so all that is plausible is tried: under
each condition a setting of H-K meets the other five detectors on the same noisy pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hyperacuity.audit.risk import wilson
from hyperacuity.edges.names import measures
from hyperacuity.edges.synthetic import SnrDefinition, add_noise, shapes
from hyperacuity.errors import UsageError, option
from hyperacuity.run.keeping import Kept
from hyperacuity.run.many import each
from hyperacuity.tally import Signature
from hyperacuity_papers.abdulrahman2017.edge_sweeps import lowest

RIVALS = ("sobel", "canny", "sf1", "sf5", "agk")
DEFINITIONS: tuple[SnrDefinition, ...] = get_args(SnrDefinition)


@dataclass(frozen=True, order=True)
class HalfKernel:
    """One setting: σ across the edge and along it in pixels, and the step of the angle Δθ in degrees."""

    across: float
    along: float
    step: float

    def __str__(self) -> str:
        return f"hk(across={self.across:g}, along={self.along:g}, step={self.step:g})"

    @property
    def whole(self) -> str:
        """The anisotropic Gaussian kernels of the same size, by name."""
        return f"agk(across={self.across:g}, along={self.along:g})"


@dataclass(frozen=True)
class NoiseCondition:
    """Noise of a level in decibel, by one of the definitions of the signal."""

    level: float
    definition: SnrDefinition

    def __str__(self) -> str:
        return f"{self.level:g} dB, {self.definition}"


@dataclass(frozen=True)
class HalfKernelGrid:
    """Grid of trials: every setting under every level of noise by every definition; and ``beyond``, stronger noise (PSNR, dB)."""

    measures: tuple[str, ...]
    lengths: tuple[float, ...] = (3, 5, 10)
    widths: tuple[float, ...] = (1, 2)
    steps: tuple[float, ...] = (2, 5, 15)
    levels: tuple[float, ...] = (4, 3.3)
    definitions: tuple[SnrDefinition, ...] = DEFINITIONS
    beyond: tuple[float, ...] = (0, -3)
    seeds: int = 5
    size: int = 256

    def __post_init__(self) -> None:
        if self.seeds < 2:
            raise UsageError(f"{option('seeds', self.seeds)}: expected 2 or more, or there are no intervals")

    @property
    def settings(self) -> tuple[HalfKernel, ...]:
        """Those of the half kernels."""
        return tuple(HalfKernel(*parts) for parts in product(self.widths, self.lengths, self.steps))

    @property
    def conditions(self) -> tuple[NoiseCondition, ...]:
        """The kinds of noise: those of the paper's levels first."""
        named = (NoiseCondition(level, definition) for definition, level in product(self.definitions, self.levels))
        return *named, *(NoiseCondition(level, "psnr") for level in self.beyond)

    @property
    def named(self) -> slice:
        """The conditions of the paper's levels."""
        return slice(0, len(self.definitions) * len(self.levels))

    @property
    def signature(self) -> str:
        """
        >>> HalfKernelGrid(("psi",)).signature
        'edges|study:half-kernels|data:shapes256|seeds:5|thr:101|norm:max|v:1'
        """
        parts = {"study": "half-kernels", "data": f"shapes{self.size}", "seeds": self.seeds}
        return str(Signature.of("edges", 1, **parts, thr=101, norm="max"))


@dataclass(frozen=True, eq=False)
class HalfKernelStudy:
    """Lowest scores over thresholds of each noisy picture, [condition, seed, detector, measure].

    ``halves`` are those of the grid's settings, ``wholes`` of the kernels of the same size that are not cut in two (one per
    setting), ``rivals`` of the other five detectors at their defaults, :data:`RIVALS`.
    """

    grid: HalfKernelGrid
    halves: NDArray[np.float64]
    wholes: NDArray[np.float64]
    rivals: NDArray[np.float64]

    @cached_property
    def margin(self) -> NDArray[np.float64]:
        """Excess of H-K's score over that of the best rival, as a share of it: [condition, seed, setting, measure].

        Below 0 H-K wins. Where the best rival is perfect it is 0 for a tie and infinite otherwise.
        """
        rival = self.rivals.min(axis=2, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(self.halves == rival, 0.0, self.halves / rival - 1))

    @cached_property
    def won(self) -> NDArray[np.int64]:
        """Count the noisy pictures on which H-K is alone at the top, [condition, setting, measure]."""
        return np.asarray((self.margin < 0).sum(axis=1))

    def trials(self, conditions: slice) -> int:
        """Sweeps of a half kernel under some kinds of noise."""
        return int(np.prod(self.halves[conditions].shape[:3]))

    def share(self, conditions: slice) -> tuple[float, float, float]:
        """Share of all (setting, measure, picture) that H-K wins under some kinds of noise, and Wilson's interval.

        Scores on one noisy picture go together, so the interval takes each picture, not each score, as one trial.
        """
        won = self.margin[conditions] < 0
        pictures = won.shape[0] * won.shape[1]
        return float(won.mean()), *wilson(float(won.mean()) * pictures, pictures)

    def interval(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean over seeds (axis 1) and half the width of its 95 % interval (Student's)."""
        seeds = values.shape[1]
        half = stats.t.ppf(0.975, seeds - 1) * values.std(axis=1, ddof=1) / np.sqrt(seeds)
        return values.mean(axis=1), np.asarray(half)

    def surely_won(self) -> NDArray[np.bool_]:
        """Mask of margins whose whole 95 % interval lies below 0, [condition, setting, measure]."""
        mean, half = self.interval(self.margin)
        return np.asarray(mean + half < 0)

    def surely_lost(self) -> NDArray[np.bool_]:
        """Mask of margins whose whole 95 % interval lies above 0."""
        mean, half = self.interval(self.margin)
        return np.asarray(mean - half > 0)

    def first(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Under how many of some measures H-K has the lowest mean of all six, [condition, setting]."""
        chosen = [self.grid.measures.index(name) for name in names]
        rival = self.rivals.mean(axis=1).min(axis=1)[:, np.newaxis]
        return np.asarray((self.halves.mean(axis=1) < rival)[..., chosen].sum(axis=-1))

    def best_setting(self, names: Sequence[str], conditions: slice) -> tuple[str, int]:
        """Among some kinds of noise, where H-K is first under most of some measures, and under how many."""
        first = self.first(names)[conditions]
        c, s = np.unravel_index(first.argmax(), first.shape)
        return f"{self.grid.settings[s]} at {self.grid.conditions[conditions][c]}", int(first.max())

    def whole_better(self, names: Sequence[str], conditions: slice) -> int:
        """Count the measures under which the kernels of the same size that are not cut in two have a lower mean still."""
        first = self.first(names)[conditions]
        c, s = np.unravel_index(first.argmax(), first.shape)
        return int(
            (self.wholes[conditions][c, :, s].mean(axis=0) < self.halves[conditions][c, :, s].mean(axis=0)).sum()
        )

    def beats_whole(self) -> float:
        """Share of (noise, setting, measure) in which the half kernels have a lower mean than whole ones of the same size."""
        return float((self.halves.mean(axis=1) < self.wholes.mean(axis=1)).mean())

    def sentences(self) -> list[str]:
        """Describe the results in a few sentences."""
        grid, count = self.grid, len(self.grid.measures)
        share, low, high = self.share(grid.named)
        lost = self.surely_lost()[grid.named].mean()
        where, most = self.best_setting(grid.measures, grid.named)
        levels = " and ".join(f"{level:g}" for level in grid.levels)
        found = [
            f"At {levels} dB H-K wins {100 * share:.1f} % of {self.trials(grid.named)} trials under {count} measures each (95 % "
            f"interval {100 * low:.1f}–{100 * high:.1f} %) and surely loses in {100 * lost:.0f} % "
            f"of the grid's cells; at best, {where}, it is first under {most} of {count} measures.",
            f"Whole kernels of the same size beat the halves in {100 * (1 - self.beats_whole()):.0f} % of the cells.",
        ]
        if grid.beyond:
            stronger = slice(grid.named.stop, None)
            share, low, high = self.share(stronger)
            where, most = self.best_setting(grid.measures, stronger)
            whole = self.whole_better(grid.measures, stronger)
            found.insert(
                1,
                f"In stronger noise (PSNR {' and '.join(f'{level:g}' for level in grid.beyond)} dB) it wins {100 * share:.0f} % "
                f"({100 * low:.0f}–{100 * high:.0f} %); at best, {where}, it is first under {most} of {count} measures, "
                f"though AGK of the same size is better under {whole}.",
            )
        return found

    def rows(self) -> list[dict[str, Any]]:
        """One row per kind of noise, setting and measure, for a CSV file."""
        mean, half = self.interval(self.margin)
        scores, rivals = self.halves.mean(axis=1), self.rivals.mean(axis=1)
        return [
            {
                "noise": one.definition,
                "dB": one.level,
                "across": setting.across,
                "along": setting.along,
                "step": setting.step,
                "measure": name,
                "H-K": float(scores[c, s, m]),
                "best rival": RIVALS[int(rivals[c, :, m].argmin())],
                "rival": float(rivals[c, :, m].min()),
                "margin": float(mean[c, s, m]),
                "low": float(mean[c, s, m] - half[c, s, m]),
                "high": float(mean[c, s, m] + half[c, s, m]),
                "won": int(self.won[c, s, m]),
                "pictures": self.grid.seeds,
            }
            for c, one in enumerate(self.grid.conditions)
            for s, setting in enumerate(self.grid.settings)
            for m, name in enumerate(self.grid.measures)
        ]

    def table(self) -> list[tuple[str, ...]]:
        """A row per kind of noise and length: the share won, the median margin, and the best measure."""
        found: list[tuple[str, ...]] = []
        for c, one in enumerate(self.grid.conditions):
            for length in self.grid.lengths:
                here = [s for s, setting in enumerate(self.grid.settings) if setting.along == length]
                margin = self.margin[c][:, here]
                lead = margin.mean(axis=(0, 1))
                best = int(lead.argmin())
                found.append(
                    (
                        str(one),
                        f"{length:g}",
                        f"{100 * float((margin < 0).mean()):.1f} %",
                        f"{100 * float(np.median(margin)):+.0f} %",
                        f"{self.grid.measures[best]} {100 * float(lead[best]):+.0f} %",
                    )
                )
        return found


def definitions_of(names: str, *, most: int = len(DEFINITIONS)) -> tuple[SnrDefinition, ...]:
    """Definitions of the signal from a text with commas, at most ``most``.

    >>> definitions_of("psnr, power")
    ('power', 'psnr')
    """
    wanted = {name.strip() for name in names.split(",")}
    if not wanted <= set(DEFINITIONS) or len(wanted) > most:
        what = "one" if most == 1 else "some"
        raise UsageError(f"{option('definition', names)}: expected {what} of {', '.join(DEFINITIONS)}")
    return tuple(name for name in DEFINITIONS if name in wanted)


def half_kernels(grid: HalfKernelGrid, kept: Kept, workers: int | None) -> HalfKernelStudy:
    """Try every setting of the grid under every kind of noise with every seed, and the other detectors."""
    made = shapes(grid.size)
    names = [str(m) for m in measures(grid.measures)]
    halves = [str(setting) for setting in grid.settings]
    wholes = list(dict.fromkeys(setting.whole for setting in grid.settings))
    tried = [*halves, *wholes, *RIVALS]

    def work(case: tuple[NoiseCondition, int]) -> NDArray[np.float64]:
        condition, seed = case
        picture = add_noise(made.image, condition.level, definition=condition.definition, seed=seed)
        return kept(["lowest", *names, *tried, picture, made.truth], lambda: lowest(picture, made.truth, tried, names))[
            "lowest"
        ]

    cases = list(product(grid.conditions, range(grid.seeds)))
    found = np.array(list(each(work, cases, workers, "noisy pictures")))
    found = found.reshape(len(grid.conditions), grid.seeds, *found.shape[1:])
    first, second = len(halves), len(halves) + len(wholes)
    same_size = [wholes.index(setting.whole) for setting in grid.settings]
    return HalfKernelStudy(grid, found[:, :, :first], found[:, :, first:second][:, :, same_size], found[:, :, second:])
