"""``hyperacuity detect``: run reference detectors on images, and train those that can be trained."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from hyperacuity.cli import common, output
from hyperacuity.cli.options import Data, Folder, InvertTruth, Json, Workers, numbers
from hyperacuity.cli.output import Model, Out, Reserved, Seed, Weak, finish, plural, print_line, print_table
from hyperacuity.errors import UsageError
from hyperacuity.outputs import output_file

if TYPE_CHECKING:
    from hyperacuity.train.drawings import Drawings


def detect(
    images: Annotated[list[Path], Argument(help="Pictures, or folders of pictures.")],
    out: Out,
    names: Annotated[
        str, Option("--with", help="Any of masks,sobel,canny,sf1,sf5,agk,hk,pb,gpb,gpb-ucm,net.")
    ] = "canny",
    lambdas: Annotated[
        str | None, Option("--lambda", help="λ of depth-order over the variance of ownership; several with commas.")
    ] = None,
    cues: Annotated[str | None, Option(help="Cues of depth-cues: all, or tjc (T-junctions, convexity).")] = None,
    segmentation: Annotated[
        Path | None, Folder(help="Regions for depth-cues, ucm-tj and depth-net, a file per picture.")
    ] = None,
    hierarchy: Annotated[
        str | None, Option(metavar="DIR|NAME", help="Hierarchy for the depth orders: ucm2 files, or a detector's.")
    ] = None,
    thin: Annotated[bool, Option("--thin/--soft", help="Write thin maps, or strength before suppression.")] = True,
    bits: Annotated[int, Option(help="Depth of the PNG files: 8 or 16.")] = 16,
    jobs: Annotated[int | None, Option(min=1, help="Images at a time (default: one per processor).")] = None,
    json: Json = False,
) -> None:
    """Detect edges and write one map per image: DIR/canny/NAME.png, DIR/hk/NAME.png and so on.

    Maps are divided by their largest value. Each folder DIR/DETECTOR is a system for the commands edges and boundary.

    For depth: ownership, depth-order, depth-cues, ae, ucm-tj and depth-net write order maps, larger = nearer (DIR/ae/NAME.pfm),
    for the command ordering. With --hierarchy they take the regions of another detector, or of files that segment wrote.

    Example: [bold]hyperacuity detect photos --with ae --hierarchy pb --out maps[/bold]

    A detector's options go in parentheses: --with "canny(sigma=2),hk".

    Example: [bold]hyperacuity detect photos --with canny,hk --out maps[/bold]

    To train pb on other pictures and labels, see hyperacuity detect train pb --help.

    Example: [bold]hyperacuity detect train pb --truth consensus --out my.json[/bold]

    Example: [bold]hyperacuity detect photos --with "pb(model='my.json')" --out maps[/bold]
    """
    if bits not in (8, 16):
        raise UsageError(f"--bits {bits}: expected 8 or 16")
    if images == [Path("train")] and not images[0].exists():
        raise UsageError("there is no file or folder train; hyperacuity detect train pb learns a detector")
    from hyperacuity.data.datasets.pairing import pictures_of

    pictures = pictures_of(images)

    from hyperacuity.detect import Orderer
    from hyperacuity.systems.maps import detect_pictures, map_folders, named_detectors, regions_for, trees_for

    chosen = named_detectors(names, lambdas=lambdas, cues=cues)
    options: Any = {"regions": regions_for(chosen, segmentation), "trees": trees_for(chosen, hierarchy)}
    options |= {"thin": thin, "bits": bits, "workers": jobs}
    folders = map_folders(chosen, common.output_folder(out))
    failed = detect_pictures(pictures, chosen, folders, **options)
    written, kind = len(pictures) - len(failed), "thin" if thin else "soft"

    def show() -> None:
        for name, folder in folders.items():
            deep = isinstance(chosen[name], Orderer)
            maps = plural(written, "order map") if deep else f"{plural(written, f'{kind} map')}, {bits} bit"
            print_line(f"{folder}: {maps}")

    summary = {
        "images": written,
        "map": kind,
        "bits": bits,
        "detectors": {name: {"folder": folder} for name, folder in folders.items()},
        "failed": [{"image": path, "reason": reason} for path, reason in failed],
    }
    finish(summary, show, json=json, failures=[(str(path), reason) for path, reason in failed])


def train_pb(
    out: Model,
    truth: Annotated[str, Option(help="Learn from all labels, or from those everyone drew: consensus.")] = "all",
    images: Annotated[Path | None, Folder(help="Pictures (default: BSDS500's training images).")] = None,
    labels: Annotated[Path | None, Folder(help="Human labels: a file, or several, for each.")] = None,
    invert_truth: InvertTruth = False,
    data: Data = None,
    split: Annotated[str, Option(help="Part of BSDS500 to learn from: train, or train,val.")] = "train",
    allow_reserved: Reserved = False,
    weak: Weak = "ignore",
    hist_distance: Annotated[str, Option(help="How histograms are compared: chi2 or quadratic.")] = "chi2",
    seed: Seed = 0,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Train the detector pb on pictures and human labels, and write it to a file.

    Without --images it learns from the training images of BSDS500, as the built-in pb did: from 100 of the 200,
    since the other 100 are reserved for measuring, and used only with --allow-reserved.

    Example: [bold]hyperacuity train pb --truth consensus --out my.json[/bold]

    The command has two names, train pb and detect train pb.

    Example: [bold]hyperacuity detect train pb --images a --labels b --out my.json[/bold]

    Use it: [bold]hyperacuity detect photos --with "pb(model='my.json')" --out maps[/bold]
    """  # fmt: skip
    from hyperacuity.train.pb import TRUTHS, PbTrainingConfig, learn_pb

    config = PbTrainingConfig(seed=seed, weak=weak, hist_distance=hist_distance)
    if truth not in TRUTHS:
        raise UsageError(f"--truth {truth}: expected all or consensus")
    path = output.model_file(out)
    drawings = _drawings(images, labels, invert_truth, data, split, allow_reserved)
    learned = learn_pb(drawings, [truth], config, workers)[truth]
    with output_file(path) as part:
        learned.model.save(part)
    summary = {"model": path, "images": len(drawings.pictures), "left_out": drawings.left_out, **learned.as_dict()}

    finish(summary, lambda: _print_learned(summary, summary["weights"]), json=json)


def train_gpb(
    out: Model,
    images: Annotated[Path | None, Folder(help="Pictures (default: BSDS500's training images).")] = None,
    labels: Annotated[Path | None, Folder(help="Human labels: a file, or several, for each.")] = None,
    invert_truth: InvertTruth = False,
    data: Data = None,
    split: Annotated[str, Option(help="Part of BSDS500 to learn from: train, or train,val.")] = "train",
    allow_reserved: Reserved = False,
    seed: Seed = 0,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Train the weights of the detector gpb on pictures and human labels, and write them to a file.

    Without --images it learns from the training images of BSDS500 that are not reserved for measuring, as the built-in gpb
    did; that takes about ten seconds of processor time per image.

    Example: [bold]hyperacuity train gpb --images a --labels b --out my.json[/bold]

    Use it: [bold]hyperacuity detect photos --with "gpb(model='my.json')" --out maps[/bold]
    """  # fmt: skip
    from hyperacuity.train import gpb as gpb_training

    path = output.model_file(out)
    drawings = _drawings(images, labels, invert_truth, data, split, allow_reserved)
    learned = gpb_training.train_gpb(drawings, seed=seed, workers=workers)
    with output_file(path) as part:
        learned.model.save(part)
    summary = {"model": path, "images": len(drawings.pictures), "left_out": drawings.left_out, **learned.as_dict()}

    finish(summary, lambda: _print_learned(summary, summary["combined"]), json=json)


def _print_learned(summary: Mapping[str, Any], weights: Mapping[str, float]) -> None:
    """Print the training data of a detector and the effect of each cue."""
    print_line(
        f"{summary['about']}\n{summary['pixels']} pixels, {100 * summary['boundaries']:.1f} % of them boundaries\n"
    )
    effects = {"constant": "", **{cue: f"{effect:.3f}" for cue, effect in summary["effects"].items()}}
    rows = [(cue, f"{weight:.3f}", effects[cue]) for cue, weight in weights.items()]
    print_table(("cue", "weight", "weight × deviation of the cue"), rows)
    print_line(f"\nmodel: {summary['model']}")


def _drawings(
    images: Path | None, labels: Path | None, inverted: bool, data: Path | None, split: str, allow_reserved: bool
) -> Drawings:
    """Pictures and labels to learn from: two folders, or BSDS500; files without a partner are reported."""
    from hyperacuity.train.drawings import bsds500_drawn, folders_drawn

    if bool(images) != bool(labels):
        raise UsageError("--images needs --labels, and the other way round")
    if not (images and labels):
        return bsds500_drawn(data, split=split, allow_reserved=allow_reserved)
    drawings = folders_drawn(images, labels, inverted=inverted, allow_reserved=allow_reserved)
    if drawings.unpaired:
        files, first = len(drawings.unpaired), drawings.unpaired[0].name
        common.warn(f"{files} files have no partner and are left out: {first}, …")
    return drawings


def train_depth_cues(
    out: Model,
    images: Annotated[Path | None, Folder(help="Pictures (default: Berkeley's figure/ground set).")] = None,
    order: Annotated[Path | None, Folder(help="Their true order, larger = nearer.")] = None,
    segmentation: Annotated[Path | None, Folder(help="Their regions.")] = None,
    hierarchy: Annotated[
        str | None, Option(metavar="DIR|NAME", help="Learn on regions of a hierarchy: ucm2 files, or a detector's.")
    ] = None,
    levels: Annotated[str, Option(help="Levels of the hierarchy, with commas.")] = "0.1,0.2,0.3",
    data: Data = None,
    allow_reserved: Reserved = False,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Learn which of two neighbouring regions is in front, from cues such as T-junctions, convexity and texture.

    Without --images it learns from two thirds of Berkeley's 150 images with figure/ground labels, as the built-in depth-cues
    did: of every three images by name, it learns from the first two; the third is reserved and held out.

    The command has two names, train depth-cues and detect train depth-cues.

    Example: [bold]hyperacuity detect train depth-cues --out my.json[/bold]

    With --hierarchy, the regions come from a detector, at several levels, and it also learns which of their borders have no
    step in depth at all.

    Example: [bold]hyperacuity train depth-cues --hierarchy pb --out my.json[/bold]

    From scenes: [bold]--images DIR/images --order DIR/order --segmentation DIR/labels[/bold]

    Use it: [bold]hyperacuity detect photos --with "depth-cues(model='my.json')" --out maps[/bold]
    """  # fmt: skip
    from hyperacuity.train.depth_cues import berkeley_lessons, folder_lessons, learn_depth_cues

    if hierarchy is not None and (images or order or segmentation):
        raise UsageError("--hierarchy is for Berkeley's labels; --images come with --segmentation")
    path = output.model_file(out)
    if images and order and segmentation:
        lessons, source = folder_lessons(images, order, segmentation, workers, allow_reserved=allow_reserved)
    elif images or order or segmentation:
        raise UsageError("--images, --order and --segmentation belong together: pictures, who is in front, and regions")
    elif allow_reserved:
        raise UsageError("--allow-reserved needs --images: a third of these images is always held out")
    else:
        cuts = numbers("--levels", levels, "numbers, with commas")
        lessons, source = berkeley_lessons(data, workers, hierarchy=hierarchy, levels=cuts)
    learned = learn_depth_cues(lessons, source)
    with output_file(path) as part:
        learned.model.save(part)
    effects = learned.effects()

    def show() -> None:
        print_line(f"{learned.model.about}\n")
        sets = effects.values()
        rows = [(cue, *(f"{one[cue]:.2f}" if cue in one else "" for one in sets)) for cue in effects["all"]]
        print_table(("cue", *effects), rows)
        print_line(f"\nmodel: {path}")

    summary = {"images": learned.images, "pairs": learned.pairs, "about": learned.model.about, "effects": effects}
    finish({"model": path, **summary}, show, json=json)
