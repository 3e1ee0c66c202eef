"""``hyperacuity study palou2014``: depth order from one image, after Palou & Salembier (2014), on scenes and photographs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperacuity.cli import common
from hyperacuity.cli.detect_train import each
from hyperacuity.cli.options import Json, Workers
from hyperacuity.errors import UsageError
from hyperacuity.studies.figure_ground import SPLIT, Labelled, read_labelled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperacuity.ordering import Ordering, OrderingScore
    from hyperacuity.regions import PruningPath
    from hyperacuity.studies.palou_systems import Found, Subject, Sums

PANELS = 6
"""How many λ the series of pictures (Fig. 6) shows."""

BOX = (420, 300)
"""Panels of the sheets: width and height in pixels."""


def palou2014(
    out: Annotated[Path, typer.Option("--out", help="Folder to write to; made if need be.", show_default=False)],
    bsds: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where BSDS500 and bsds-fg lie (default: as for --data).", show_default=False),
    ] = None,
    scenes: Annotated[int, typer.Option(min=1, help="How many scenes.")] = 6,
    first: Annotated[int, typer.Option("--seed", min=0, help="Seed of the first scene.")] = 1,
    size: Annotated[str, typer.Option(help="Width x height of the scenes in pixels.")] = "480x320",
    count: Annotated[
        int | None, typer.Option(min=0, help="Use so many photographs; 0: none (default: all).", show_default=False)
    ] = None,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Draw charts and sheets.")] = True,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Who is in front? Ownership, ownership on the tree, learned cues and controls, on scenes and on labelled photographs.

    Tells local and global depth consistency, the over-random index, and how often the nearer side is right. Photographs are
    the images of Berkeley's figure/ground set that were never learned from; without them scenes alone are used.

    Writes accuracy.csv, sweep.csv, charts, the λ series (lambda-series.png, Fig. 6) and the comparison (comparison.png, Fig. 9).

    Example: [bold]hyperacuity study palou2014 --out palou2014[/bold]

    Example: [bold]hyperacuity study palou2014 --bsds datasets --out palou2014[/bold]
    """
    if figures:
        from hyperacuity.report import theme

        theme.require()
    from hyperacuity.cli.scenes import parse_size

    folder = common.output_folder(out)
    sets = {"scenes": _scenes(range(first, first + scenes), parse_size(size))}
    if photographs := _photographs(bsds, count):
        sets["photographs"] = photographs
    results = {name: _examined(name, subjects, workers) for name, subjects in sets.items()}
    if figures:
        _draw(folder, sets, results)
    for name, rows in {"accuracy.csv": _accuracy_rows(results), "sweep.csv": _sweep_rows(results)}.items():
        _write_csv(folder / name, rows)
    if json:
        common.print_json({"out": folder, "split": SPLIT, "sets": {n: one.told() for n, one in results.items()}})
    else:
        for result in results.values():
            result.print()


def _scenes(seeds: Iterable[int], size: tuple[int, int]) -> list[Subject]:
    from hyperacuity.data.scenes import make_scene, name_of
    from hyperacuity.ordering import partition
    from hyperacuity.studies.palou_systems import Subject

    def loading(seed: int) -> Any:
        def load() -> tuple[NDArray[Any], tuple[Ordering, ...], Any]:
            scene = make_scene(seed, size=size)
            return scene.image, (partition(scene.order, scene.labels),), scene.labels

        return load

    return [Subject(name_of(seed), loading(seed)) for seed in seeds]


def _photographs(bsds: Path | None, count: int | None) -> list[Subject]:
    """The labelled photographs that were never learned from; none where the data are not there and nobody asked for them."""
    from hyperacuity.studies.palou_systems import Subject

    if count == 0:
        return []
    try:
        labelled = read_labelled(bsds, held_out=True, count=count)
    except UsageError as error:
        if bsds is not None:
            raise
        common.messages.print(f"scenes only: {error}", markup=False)
        return []

    def loading(one: Labelled) -> Any:
        def load() -> tuple[NDArray[Any], tuple[Ordering, ...], Any]:
            from hyperacuity.data import read_image
            from hyperacuity.ordering import Sides

            people = tuple(Sides(said.order, said.segmentation) for said in one.people)
            return read_image(one.photograph), people, one.people[0].segmentation

        return load

    return [Subject(one.name, loading(one)) for one in labelled]


class Result:
    """What one set of pictures says: accuracies by system and reading, and a score per system over its parameter."""

    def __init__(self, name: str, found: Mapping[str, Found]) -> None:
        from hyperacuity.ordering import collect, collect_sweep
        from hyperacuity.studies.palou_systems import SYSTEMS, Sums

        self.name = name
        people = {image: one.people for image, one in found.items() if one.people is not None}
        self.human = collect(people) if people else None
        self.images = len(found)
        self.sums: dict[tuple[str, str], Sums] = {}
        for one in found.values():
            for key, sums in one.sums.items():
                self.sums[key] = self.sums.get(key, Sums()).plus(sums)
        keys = list(next(iter(found.values())).sweeps)
        self.scores: dict[str, OrderingScore] = {
            system: collect_sweep(
                {
                    parameter: {image: one.sweeps[system, parameter] for image, one in found.items()}
                    for name, parameter in keys
                    if name == system
                }
            )
            for system in SYSTEMS
        }

    @property
    def systems(self) -> list[str]:
        """Those whose accuracy is told: the learned first, controls last."""
        from hyperacuity.studies.palou_systems import CUES, TJC

        names = list(dict.fromkeys(system for system, _ in self.sums))
        return [CUES, TJC, *(name for name in names if name not in (CUES, TJC))]

    def told(self) -> dict[str, Any]:
        """As JSON."""
        from hyperacuity.studies.palou_systems import COLUMNS

        def consistency(part: Any) -> Any:
            best = None if part is None else part.best
            return best and {"fmax": best.fmax, "fmin": best.fmin, "ori": best.ori, "fg": best.fg}

        def scored(score: OrderingScore) -> dict[str, Any]:
            at = score.parameters[score.chosen]
            return {"at": at, "ldc": consistency(score.ldc), "gdc": consistency(score.gdc)}

        return {
            "images": self.images,
            "signature": next(iter(self.scores.values())).protocol.signature,
            "accuracy": {
                system: {
                    column: {"bacc": self.sums[system, column].bacc, "racc": self.sums[system, column].racc}
                    for column in COLUMNS
                }
                for system in self.systems
            },
            "systems": {name: scored(score) for name, score in self.scores.items()},
            "human": None if self.human is None else {**scored(self.human), **self.human.accuracy},
        }

    def print(self) -> None:
        """As tables."""
        from rich.table import Table

        from hyperacuity.studies.palou_systems import COLUMNS

        common.results.print(
            f"[bold]{self.name}[/bold], {self.images} image{'' if self.images == 1 else 's'}: B-ACC / R-ACC, ties wrong"
        )
        table = Table("", box=None, pad_edge=False)
        for column in COLUMNS:
            table.add_column(column, justify="right")
        for system in self.systems:
            cells = (self.sums[system, column] for column in COLUMNS)
            table.add_row(system, *(f"{one.bacc:.3f} / {one.racc:.3f}" for one in cells))
        common.results.print(table)
        table = Table("", box=None, pad_edge=False)
        for heading in ("at", "LDC Fmax", "Fmin", "ORI", "f/g", "GDC Fmax", "Fmin", "ORI"):
            table.add_column(heading, justify="right")
        for name, score in {**self.scores, **({"people": self.human} if self.human else {})}.items():
            local = ["–"] * 4
            if score.ldc is not None:
                best = score.ldc.best
                local = [f"{value:.3f}" for value in (best.fmax, best.fmin, best.ori, best.fg)]
            whole = ["–"] * 3
            if score.gdc is not None:
                best = score.gdc.best
                whole = [f"{value:.3f}" for value in (best.fmax, best.fmin, best.ori)]
            table.add_row(name, score.parameters[score.chosen], *local, *whole)
        common.results.print()
        common.results.print(table)
        common.results.print(f"{next(iter(self.scores.values())).protocol.signature}\n", markup=False)


def _examined(name: str, subjects: Sequence[Subject], workers: int | None) -> Result:
    from hyperacuity.studies.palou_systems import examine

    found = each(examine, subjects, workers, name)
    return Result(name, dict(zip((one.name for one in subjects), found, strict=True)))


def _draw(folder: Path, sets: Mapping[str, Sequence[Subject]], results: Mapping[str, Result]) -> None:
    from hyperacuity.data import write_png
    from hyperacuity.report import theme
    from hyperacuity.report.charts.ordering import figure_ground_chart, prc_chart

    for name, result in results.items():
        signature = next(iter(result.scores.values())).protocol.signature
        human = result.human
        charts = {
            "ldc": prc_chart(result.scores, "ldc", human=human),
            "figure-ground": figure_ground_chart(result.scores, human=human),
        }
        if any(score.gdc is not None for score in result.scores.values()):
            charts["gdc"] = prc_chart(result.scores, "gdc")
        for kind, chart in charts.items():
            theme.save(chart, folder / f"{name}-{kind}.png", signature=signature)
    last = list(sets.values())[-1]
    write_png(folder / "lambda-series.png", _lambda_series(last[0]))
    write_png(
        folder / "comparison.png", _comparison([*sets["scenes"][:2], *(last[:4] if len(sets) > 1 else last[2:6])])
    )


def _lambda_series(subject: Subject) -> NDArray[Any]:
    """The picture, its ownership, and ownership on the tree from fine to coarse (Fig. 6)."""
    from hyperacuity.regions import piecewise_constant, pruning_path
    from hyperacuity.report.pictures.ordering import order_picture, panel_sheet
    from hyperacuity.studies.palou_systems import Views

    image, _, _ = subject.load()
    views = Views(image)
    panels = [(_boxed(image), subject.name), (_boxed(order_picture(views.ownership)), "ownership: warm is near")]
    for lam in _telling_lambdas(pruning_path(views.tree, piecewise_constant(views.tree, views.ownership))):
        found = views.pruned(lam)
        left = f"{found.regions} region{'' if found.regions == 1 else 's'}"
        panels.append((_boxed(order_picture(found.order)), f"lambda = {lam:.3g}: {left}"))
    return panel_sheet(panels, columns=4)


def _telling_lambdas(path: PruningPath) -> list[float]:
    """λ from many regions to few, in even steps of the logarithm of their number where there are such partitions."""
    import numpy as np

    lambdas = path.breakpoints
    merged = np.searchsorted(np.sort(path.scales), lambdas, side="right")
    regions = path.tree.leaves - merged
    lambdas, regions = lambdas[regions > 1], regions[regions > 1]
    if lambdas.size == 0:
        return [0.0]
    steps = np.geomspace(regions.max() / 2, regions.min(), PANELS)
    chosen = np.unique(np.abs(np.log(regions)[:, None] - np.log(steps)).argmin(axis=0))
    return [float(lam) * (1 + 1e-6) for lam in lambdas[chosen]]  # beyond the tie at the very λ


def _comparison(subjects: Sequence[Subject]) -> NDArray[Any]:
    """Each row a picture, its truth, and what the systems make of it (Fig. 9)."""
    import numpy as np

    from hyperacuity.detect.depth.by_ownership import DEFAULT_LAMBDA, LEVEL
    from hyperacuity.ordering import Partition
    from hyperacuity.report.pictures.ordering import order_picture, panel_sheet
    from hyperacuity.studies.palou_systems import CUES, OWNERSHIP, TJC, TREE, Views, truly_ordered

    panels = []
    for subject in subjects:
        image, truths, regions = subject.load()
        views = Views(image)
        own = views.tree.at(LEVEL)
        whole = truths[0] if isinstance(truths[0], Partition) else truly_ordered(regions, truths[0])
        panels += [
            (_boxed(image), subject.name),
            (_boxed(order_picture(whole.painted().astype(np.float32))), "truth"),
            (_boxed(order_picture(views.ownership)), OWNERSHIP),
            (_boxed(order_picture(views.pruned(DEFAULT_LAMBDA).order)), f"{TREE}, lambda = {DEFAULT_LAMBDA:g}"),
            (_boxed(order_picture(views.ordered(own, tjc=True).order)), TJC),
            (_boxed(order_picture(views.ordered(own).order)), CUES),
        ]
    return panel_sheet(panels, columns=6)


def _boxed(picture: NDArray[Any]) -> NDArray[Any]:
    """A picture made to fit the box of a panel, on the sheet's ground."""
    import numpy as np
    from PIL import Image, ImageOps

    from hyperacuity.report import theme

    shown = Image.fromarray(np.ascontiguousarray(picture)).convert("RGB")
    return np.asarray(ImageOps.pad(shown, BOX, Image.Resampling.BOX, color=theme.GROUND))


def _accuracy_rows(results: Mapping[str, Result]) -> list[Sequence[Any]]:
    def row(name: str, system: str, column: str, sums: Sums) -> Sequence[Any]:
        return (name, system, column, sums.bacc, sums.racc, sums.length, sums.pairs)

    rows = [row(name, *key, sums) for name, result in results.items() for key, sums in result.sums.items()]
    return [("set", "system", "reading", "bacc", "racc", "boundary length", "pairs"), *rows]


def _sweep_rows(results: Mapping[str, Result]) -> list[Sequence[Any]]:
    import numpy as np

    rows: list[Sequence[Any]] = [
        ("set", "system", "parameter", "measure", "recall", "precision", "f", "recall0", "precision0", "f0", "accuracy")
    ]
    for name, result in results.items():
        for system, score in result.scores.items():
            for measure, part in (("ldc", score.ldc), ("gdc", score.gdc)):
                if part is None:
                    continue
                o = part.outcomes
                columns = [np.atleast_1d(f(beta)) for beta in (1, 0) for f in (o.recall, o.precision, o.f)]
                for place, parameter in enumerate(score.parameters):
                    values = (float(column[place]) for column in (*columns, np.atleast_1d(o.accuracy)))
                    rows.append((name, system, parameter, measure, *values))
    return rows


def _write_csv(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([f"{value:.5g}" if isinstance(value, float) else value for value in row] for row in rows)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error
