"""``hyperacuity train``: train the systems that can be trained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from hyperacuity.cli import common, detect, output
from hyperacuity.cli.options import Folder, InvertTruth, Json, Workers
from hyperacuity.cli.output import Reserved, finish, plural, print_line
from hyperacuity.errors import UsageError

app = typer.Typer(help="Train the network, pb, gpb or depth-cues on pictures and human labels.", no_args_is_help=True)
app.command("pb")(detect.train_pb)
app.command("gpb")(detect.train_gpb)
app.command("depth-cues")(detect.train_depth_cues)

OPTIONS = "smallest, largest, paste, rate, encoder_rate, decay, owner_weight"


@app.command("net")
def net(
    out: Annotated[Path, Option("--out", metavar="FILE", help="The network, as an ONNX file.")],
    data: Annotated[str, Option(metavar="NAME|DIR", help="bsds500, its folder, or none: scenes alone.")] = "bsds500",
    images: Annotated[Path | None, Folder(help="Other pictures to learn from.")] = None,
    labels: Annotated[Path | None, Folder(help="Human labels: a file, or several, for each.")] = None,
    owners: Annotated[Path | None, Folder(help="Their figure/ground labels: +1 figure, -1 ground, 0 or NaN.")] = None,
    segmentation: Annotated[Path | None, Folder(help="Their regions: figures are cut out and pasted.")] = None,
    invert_truth: InvertTruth = False,
    scenes: Annotated[int, Option(min=0, help="Number of generated scenes to learn from as well.")] = 0,
    steps: Annotated[int, Option(min=1, help="Batches to learn from.")] = 1250,
    batch: Annotated[int, Option(min=2, help="Crops in a batch.")] = 16,
    crop: Annotated[int, Option(help="Side of a crop in pixels, a multiple of 32.")] = 384,
    encoder: Annotated[str, Option(help="EfficientNet lite0 or lite2.")] = "lite2",
    option: Annotated[
        list[str] | None, Option(metavar="NAME=VALUE", help=f"Any of {OPTIONS}; may be repeated.")
    ] = None,
    start: Annotated[
        str | None, Option(metavar="FILE|none", help="ImageNet weights (default: those installed).")
    ] = None,
    hold: Annotated[float, Option(help="Share held out to measure progress: 0.1 is every tenth by name.")] = 0.1,
    every: Annotated[int, Option(min=1, help="Steps between scores, with a checkpoint each.")] = 125,
    resume: Annotated[bool, Option("--resume", help="Resume from the checkpoint, FILE.checkpoint.")] = False,
    device: Annotated[str, Option(help="auto, cpu or cuda.")] = "auto",
    seed: Annotated[int, Option(min=0, help="Seed of weights and crops.")] = 0,
    allow_reserved: Reserved = False,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Train the network that sees boundaries and who owns them, and write it to a file.

    The defaults are the settings of the built-in network. It was trained on all 200 images that are not reserved (--hold 0),
    after the settings had been chosen with a fifth of them held out.

    Example: [bold]hyperacuity train net --data bsds500 --out net.onnx[/bold]

    After Ctrl-C or a power cut, --resume continues and arrives at the same weights.

    Example: [bold]hyperacuity train net --out net.onnx --resume[/bold]

    A try on a CPU, without any data:

    Example: [bold]hyperacuity train net --data none --scenes 9 --steps 50 --out my.onnx[/bold]

    Use it: [bold]hyperacuity detect photos --with "net(model='my.onnx')" --out maps[/bold]
    """  # fmt: skip
    from hyperacuity.detect.net.settings import Settings
    from hyperacuity.train.net import require_torch, start_file, train_net

    settings = Settings(encoder, steps, batch, crop, seed=seed, **_more(option or []))
    path = output.model_file(out)
    require_torch()
    curriculum = _curriculum(data, images, labels, owners, segmentation, invert_truth, allow_reserved, scenes)
    if curriculum.unpaired:
        files, first = len(curriculum.unpaired), curriculum.unpaired[0].name
        common.warn(f"{files} files have no partner and are left out: {first}, …")
    options: Any = {"start": start_file(start, encoder), "device": device, "every": every, "workers": workers}
    learned = train_net(curriculum.holding(hold), settings, path, resume=resume, **options)

    def show() -> None:
        about = learned.about
        counts, scores = about["data"], about["judged"]
        print_line(
            f"Learned from {plural(counts['photographs'], 'photograph')} and {plural(counts['scenes'], 'scene')}, "
            f"{counts['with_owners']} of them with labelled owners"
        )
        judged = f"ODS {scores['ods']:.3f}, OIS {scores['ois']:.3f}, AP {scores['ap']:.3f}" if scores else ""
        scored = (
            f"{judged} on {plural(counts['held_out'], 'picture')} held out" if scores else "no picture was held out"
        )
        print_line(f"{scored}; the network is {path}")

    finish(learned.as_dict(), show, json=json)


def _more(options: list[str]) -> dict[str, float]:
    """Settings given as NAME=VALUE."""
    more = {}
    for one in options:
        name, _, value = one.partition("=")
        if name not in OPTIONS.split(", "):
            raise UsageError(f"--option {one}: expected NAME=VALUE with a name among {OPTIONS}")
        try:
            more[name] = float(value)
        except ValueError:
            raise UsageError(f"--option {one}: expected a number after {name}=") from None
    return more


def _curriculum(
    data: str,
    images: Path | None,
    labels: Path | None,
    owners: Path | None,
    segmentation: Path | None,
    inverted: bool,
    allow_reserved: bool,
    scenes: int,
) -> Any:
    from hyperacuity.train.net_lessons import Curriculum, bsds500_curriculum, folder_curriculum, with_scenes

    if bool(images) != bool(labels) or ((owners or segmentation) and not images):
        raise UsageError("--images needs --labels, and --owners and --segmentation need both")
    if images and labels:
        curriculum = folder_curriculum(
            images, labels, owners, segmentation, inverted=inverted, allow_reserved=allow_reserved
        )
    elif data == "none":
        curriculum = Curriculum()
    else:
        place = None if data == "bsds500" and not Path(data).is_dir() else Path(data)
        curriculum = bsds500_curriculum(place, allow_reserved=allow_reserved)
    return with_scenes(curriculum, scenes) if scenes else curriculum
