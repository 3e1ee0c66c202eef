"""The experiments of Cabezas & Trujillo (2011): Pareto dominance in stereo vision, on baseline systems and the server's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperacuity.compare import Table, stability
from hyperacuity.compare.criteria import table_of
from hyperacuity.compare.ranking import Ranking, compare
from hyperacuity.data import Sample, read_table
from hyperacuity.detect.stereo import Matcher, grid, matcher
from hyperacuity.disparity import Protocol, consistency_curve, distances, stereo_views, tally
from hyperacuity.errors import UsageError
from hyperacuity.evaluation import disparity_inputs
from hyperacuity.evaluation.inputs import Inputs
from hyperacuity.evaluation.jobs import job_for
from hyperacuity.evaluation.readers.disparity import DisparityReader
from hyperacuity.maps import DisparityMap, EdgeMap
from hyperacuity.studies.roc import RocCurve, Standing, curve, feasibility
from hyperacuity.studies.running import Failures, failures_of, tally_cells, write_csv
from hyperacuity.studies.system_maps import disparities_of, match_scenes, read_pair
from hyperacuity.tasks import task

PAPER = {"dense": 16, "semi-dense": 13, "local, semi-dense": 7}
"""Sizes of the optimal sets in the paper's tables 2 to 4, of the server's systems of 2011."""

DENSE = ("nonocc", "all", "disc")
SEMI_DENSE = ("nonocc", "disc")
SIGMAS = (0.5, 1.0, 2.0)
MARGINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)

SERVER_LOCAL = ("SAD", "SSD", "BMS")
"""The systems of the server's table of ten that match by a window alone."""

HEADINGS = ("system", "average rank", "rank", "in A*", "group", "in A* (mean)", "group (mean)")


@dataclass(frozen=True)
class Scenario:
    """Which systems are compared by which regions, and the outcome with each way to make vectors."""

    name: str
    regions: tuple[str, ...]
    concat: Ranking
    mean: Ranking

    def rows(self) -> list[list[str]]:
        """The cells below :data:`HEADINGS`, by average rank, as in the paper's tables."""
        return [
            [
                self.concat.systems[i],
                f"{self.concat.average_rank[i]:.2f}",
                str(self.concat.place[i]),
                "yes" if self.concat.optimal[i] else "",
                str(self.concat.group[i] + 1),
                "yes" if self.mean.optimal[i] else "",
                str(self.mean.group[i] + 1),
            ]
            for i in np.argsort(self.concat.average_rank, kind="stable")
        ]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        rankings = {"concat": self.concat.as_json(), "mean": self.mean.as_json()}
        return {"scenario": self.name, "regions": self.regions, **rankings}


def scenarios(table: Table, local: Sequence[str]) -> list[Scenario]:
    """Evaluate a table whose criteria are the regions nonocc, all and disc in each of the paper's scenarios.

    They are dense, semi-dense, and local systems only. ``local`` names the systems that decide at each pixel by its
    surroundings alone; without any, the third scenario is left out. Average ranks are those within the scenario.

    >>> table = Table.flat(["A", "B", "C"], DENSE, [[1, 5, 3], [2, 4, 3], [3, 6, 4]])
    >>> [(s.name, s.mean.groups()[0]) for s in scenarios(table, ["B", "C"])]
    [('dense', ['A', 'B']), ('semi-dense', ['A']), ('local, semi-dense', ['B'])]
    """
    if missing := set(DENSE) - set(table.criteria):
        raise UsageError(
            f"the scenarios need the regions nonocc, all and disc, but there is no {', '.join(sorted(missing))}"
        )
    parts = [("dense", DENSE, table.systems), ("semi-dense", SEMI_DENSE, table.systems)]
    if local:
        parts.append(("local, semi-dense", SEMI_DENSE, tuple(local)))
    found = []
    for name, regions, systems in parts:
        part = table.select(systems=systems, criteria=regions)
        found.append(Scenario(name, regions, compare(part, vector="concat"), compare(part, vector="mean")))
    return found


@dataclass(frozen=True, eq=False)
class Cabezas2011:
    """Everything found. ``stability`` is how often a resampled set of images leaves each baseline system optimal.

    ``curves``, ``boundary`` and ``standing`` are error rate against sparsity on one ``scene``
    (:mod:`~hyperacuity.studies.roc`); ``consistency`` holds, for one setting per technique, the shares of points whose two
    depths, from left and from right, differ by no more than each of :data:`SIGMAS`.
    """

    signature: str
    baselines: list[Scenario]
    server: list[Scenario]
    systems: tuple[str, ...]
    stability: NDArray[np.float64]
    scene: str
    curves: dict[str, RocCurve]
    boundary: RocCurve
    standing: dict[str, Standing]
    consistency: dict[str, list[float]]
    failures: Failures

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "signature": self.signature,
            "paper": PAPER,
            "baselines": [one.as_dict() for one in self.baselines],
            "server": [one.as_dict() for one in self.server],
            "stability": dict(zip(self.systems, self.stability, strict=True)),
            "roc": {name: vars(one) for name, one in self.standing.items()},
            "consistency": {"sigma": SIGMAS, **self.consistency},
        }

    def write_tables(self, folder: Path) -> None:
        """Write a CSV file per scenario."""
        for kind, found in (("baselines", self.baselines), ("server", self.server)):
            for one in found:
                records = [dict(zip(HEADINGS, row, strict=True)) for row in one.rows()]
                write_csv(folder / f"{kind}-{one.name.replace(', ', '-')}.csv", records)


def cabezas2011(
    data_set: str, folder: Path, *, data: Path | None, delta: float, sgm: bool | None, workers: int | None
) -> Cabezas2011:
    """Judge baseline systems under a grid of parameters, and the server's table where the data set has one.

    Maps and the run go to ``folder``, where both are resumed. ``delta`` is the error threshold in pixels; ``sgm`` says
    whether semi-global matching takes part, by default where OpenCV is installed.
    """
    scenes = disparity_inputs.stereo_samples(data_set, data)
    systems = parameter_grid(find_spec("cv2") is not None if sgm is None else sgm)
    maps, unmatched = match_scenes(scenes, systems, folder / "maps", workers, reuse=True)
    inputs = disparity_inputs.find(DisparityReader, maps, data_set, data=data)
    protocol: Protocol = inputs.agree(Protocol((delta,), DENSE))
    table, unscored = _score(inputs, protocol, folder / "run", workers)
    local = [str(system) for system in systems if system.base != "sgm"]
    pair = _one_pair(scenes, inputs)
    points = _sparsity_and_error(pair, protocol)
    boundary, standing = feasibility(points)
    server = server_table(scenes)
    return Cabezas2011(
        str(protocol.signature),
        scenarios(table, [name for name in local if name in table.systems]),
        [] if server is None else scenarios(server, SERVER_LOCAL),
        table.systems,
        stability(table),
        pair.scene,
        {base: curve(settings) for base, settings in points.items()},
        boundary,
        standing,
        _consistency(pair, systems),
        [*unmatched, *unscored],
    )


def parameter_grid(with_sgm: bool) -> list[Matcher]:
    """The systems of the study: one technique per line, under several parameters each."""
    systems = [*grid("sad", window=(5, 9, 13, 21)), *grid("census", window=(3, 5, 9, 15))]
    return [*systems, *grid("sgm", window=(3, 7), smooth=(0.25, 1.0, 4.0))] if with_sgm else systems


def _score(inputs: Inputs, protocol: Protocol, run: Path, workers: int | None) -> tuple[Table, Failures]:
    """The table of bad pixels, criteria named after the regions, and what failed."""
    outcome = tally_cells(job_for(task("disparity"), protocol, inputs.reader), list(inputs), run, workers)
    table = table_of(outcome.tallies)
    chosen = table.select(criteria=[f"{protocol.measures[0]} {region}" for region in protocol.regions])
    return replace(chosen, criteria=protocol.regions), failures_of(outcome)


@dataclass(frozen=True, eq=False)
class StereoPair:
    """One scene: its pictures, its truth, what both pictures show, and how many disparities to try."""

    scene: str
    left: NDArray[Any]
    right: NDArray[Any]
    truth: DisparityMap
    matchable: EdgeMap
    disparities: int


def _one_pair(scenes: Mapping[str, Sample], inputs: Inputs) -> StereoPair:
    """Teddy if the data set has it, else the first scene with pictures."""
    pictured = [one for one in scenes.values() if one.image is not None and "right" in one.extras]
    if not pictured:
        raise UsageError("no scene has its pictures: there is nothing to match")
    sample = max(pictured, key=lambda one: one.name == "teddy")
    cell = next(cell for cell in inputs if cell.image == sample.name)
    reader = inputs.reader
    assert isinstance(reader, DisparityReader)  # noqa: S101  # as it was found
    (truth,) = reader.truths(cell)
    left, right = read_pair(sample)
    both = reader.regions(cell, truth, ("nonocc",))["nonocc"]
    return StereoPair(sample.name, left, right, truth, both, disparities_of(sample, left.shape[1]))


def _sparsity_and_error(pair: StereoPair, protocol: Protocol) -> dict[str, list[tuple[float, float]]]:
    """Sparsity and error rate of each technique under settings that leave out more and more doubtful pixels."""
    judged = replace(protocol, regions=("nonocc",))
    points: dict[str, list[tuple[float, float]]] = {}
    for base in ("sad", "census"):
        for setting in [matcher(base), *(matcher(base, check=1, margin=margin) for margin in MARGINS)]:
            disparity = setting(pair.left, pair.right, pair.disparities)
            found = tally(disparity, pair.truth, judged, masks={"nonocc": pair.matchable})
            pixels, known, wrong = int(found.pixels[0]), int(found.known[0]), int(found.bad[0, 0])
            points.setdefault(base, []).append(((pixels - known) / pixels, wrong / pixels))
    return points


def _consistency(pair: StereoPair, systems: Sequence[Matcher]) -> dict[str, list[float]]:
    """The shares of consistent points, of the first setting of each technique."""
    found = {}
    for system in {system.base: system for system in reversed(systems)}.values():
        there = system(pair.left, pair.right, pair.disparities)
        back = system(pair.right[:, ::-1].copy(), pair.left[:, ::-1].copy(), pair.disparities)[:, ::-1]
        found[str(system)] = consistency_curve(distances(stereo_views(there, back)), SIGMAS).tolist()
    return dict(sorted(found.items()))


def server_table(scenes: Mapping[str, Sample]) -> Table | None:
    """The Middlebury server's table beside the scenes, as systems × images × regions; None where there is none."""
    path = next(iter(scenes.values())).truths[0].parents[1] / "server-table-10.csv"
    if not path.is_file():
        return None
    found = read_table(path)
    images = [column.removesuffix("_nonocc") for column in found.columns if column.endswith("_nonocc")]
    values = np.stack([[found.column(f"{image}_{region}") for region in DENSE] for image in images])
    senses = ("min",) * len(DENSE)
    return Table(found.names, tuple(images), DENSE, senses, values.transpose(2, 0, 1).copy(), "server table, δ = 1")
