"""``hyperacuity semantic``: semantic boundaries, class by class; ``semantic truth`` turns label maps into boundaries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import (
    Evaluation,
    Json,
    Pred,
    SoftFiles,
    Truth,
    grouped,
    or_default,
    protocol_help,
    thresholds_of,
)
from hyperacuity.cli.output import Out, finish, plural, print_line
from hyperacuity.errors import UsageError
from hyperacuity.small_files import read_text

Classes = Annotated[
    Path | None, Option(metavar="FILE", help="Names of the classes, one per line (default: the protocol's).")
]
FirstLabel = Annotated[int, Option(min=0, help="In plain label maps, the label of the first class.")]
IgnoreLabel = Annotated[int, Option(help="In plain label maps, the label of unknown pixels.")]


ABOUT = protocol_help("semantic/protocols.py")


@grouped
def semantic(
    prediction: Annotated[
        Path, Pred(help="Folder with class_001/NAME.png …, or of stacks H×W×C (npy, npz), or of bits in PNGs.")
    ],
    truth: Annotated[str, Truth(help="Folder of SBD (cls, inst) or Cityscapes, of label maps, or of boundaries.")],
    protocol: Annotated[
        str,
        Option(
            metavar="NAME",
            help="plain, sbd (its authors'), sbd-thin, sbd-raw, cityscapes-thin, cityscapes-raw (SEAL's).",
        ),
    ] = "plain",
    tolerance: Annotated[float | None, Option(help=or_default(ABOUT["tolerance"]))] = None,
    thresholds: Annotated[
        str, Option(metavar="N", help=ABOUT["thresholds"].replace("rising.", "rising: 0.2,0.5,0.8."))
    ] = "99",
    instances: Annotated[bool | None, Option("--instances/--no-instances", help=ABOUT["instances"])] = None,
    internal: Annotated[Literal["count", "drop"] | None, Option(help=ABOUT["internal"])] = None,
    absent: Annotated[Literal["count", "skip"] | None, Option(help=ABOUT["absent"])] = None,
    border: Annotated[int | None, Option(min=0, help=ABOUT["border"])] = None,
    classes: Classes = None,
    truth_as: Annotated[
        Literal["auto", "labels", "boundaries"], Option(help="What a plain folder of truths holds.")
    ] = "auto",
    first_label: FirstLabel = 1,
    ignore_label: IgnoreLabel = 255,
    split: Annotated[str | None, Option(help="Part of SBD or Cityscapes: val (default), train or all.")] = None,
    *,
    maps: SoftFiles,
    how: Evaluation,
) -> None:
    """Score semantic boundaries: ODS, OIS and AP of each class, and their means over classes.

    Each class has a soft map, which is thresholded, thinned and matched with that class's boundaries, exactly. Classes without a
    map, or without truth, are listed and left out of the means.

    Example: [bold]hyperacuity semantic maps/mine SBD/dataset --protocol sbd-thin[/bold]

    Example: [bold]hyperacuity semantic maps/mine cityscapes --protocol cityscapes-raw[/bold]
    """
    from hyperacuity.semantic import protocol as named

    changes: dict[str, Any] = {"tolerance": tolerance, "instances": instances, "internal": internal, "absent": absent}
    changes |= {"border": border, "thresholds": thresholds_of(thresholds), "classes": _names(classes)}
    agreed = named(protocol, **{name: value for name, value in changes.items() if value is not None})
    reading = {"truth_as": truth_as, "first_label": first_label, "ignore_label": ignore_label, "split": split}
    result = common.evaluated("semantic", prediction, truth, how, protocol=agreed, **reading, **maps.options())
    common.show(result, how=how)


def semantic_truth(
    truth: Annotated[Path, Argument(metavar="TRUTH", help="Folder of SBD or Cityscapes, or of label maps.")],
    out: Out,
    protocol: Annotated[str, Option(metavar="NAME", help="Whose boundaries to make; see semantic --help.")] = "plain",
    radius: Annotated[
        float | None, Option(min=1, help="Reach of boundaries to either side, px (default: the protocol's).")
    ] = None,
    raw: Annotated[
        bool | None, Option("--raw/--thin", help="Leave boundaries wide, or thin them (default: the protocol's).")
    ] = None,
    instances: Annotated[
        bool | None, Option("--instances/--no-instances", help="Boundaries between touching objects of a class.")
    ] = None,
    classes: Classes = None,
    first_label: FirstLabel = 1,
    ignore_label: IgnoreLabel = 255,
    split: Annotated[str | None, Option(help="Part of SBD or Cityscapes: val (default), train or all.")] = None,
    json: Json = False,
) -> None:
    """Turn label maps into boundaries: folders class_001, class_002 … with a PNG for every image that shows the class.

    Use the result as truth for `hyperacuity semantic`, or for training. Boundaries have the size and the border of the protocol.

    Example: [bold]hyperacuity semantic truth cityscapes --raw --radius 2 --out edges[/bold]
    """
    from rich.progress import Progress

    from hyperacuity.evaluation.semantic_truths import label_truths, write_boundaries
    from hyperacuity.semantic import protocol as named

    changes: dict[str, Any] = {"radius": radius, "instances": instances, "classes": _names(classes)}
    changes["truth"] = None if raw is None else "raw" if raw else "thin"
    agreed = named(protocol, **{name: value for name, value in changes.items() if value is not None})
    truths = label_truths(truth, split=split, first_label=first_label, ignore_label=ignore_label)
    folder = common.output_folder(out)
    with Progress(console=common.messages, transient=True, disable=not common.messages.is_terminal) as progress:
        task = progress.add_task("boundaries", total=len(truths))
        written = write_boundaries(truths, agreed, folder, done=lambda: progress.advance(task))
    failures = list(written.failures.items())

    def show() -> None:
        print_line(
            f"boundaries of {len(written.classes)} classes in {plural(len(written.images), 'image')} written to {out}"
        )

    summary = {"folder": out, "images": len(written.images), "classes": written.classes, "failed": dict(failures)}
    finish(summary, show, json=json, failures=failures)


def _names(path: Path | None) -> tuple[str, ...] | None:
    """The names in a file, one per line."""
    if path is None:
        return None
    text = read_text(path, "one class per line")
    names = tuple(line.strip() for line in text.splitlines() if line.strip())
    if not names:
        raise UsageError(f"--classes {path}: holds no name, expected one class per line")
    return names
