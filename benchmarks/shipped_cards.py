"""Make the cards that come with the package: systems of today's code, measured where anybody can measure.

    python benchmarks/shipped_cards.py --maps maps [--data DIR] [--out DIR] [--only PART] [--workers N]

Three parts, each with its data set: ``bsds500-test`` (boundaries: people, gPb-owt-ucm by its authors' maps, our detectors),
``bsds-fg`` (figure/ground, the 50 labelled images that nothing learns from) and ``middlebury-v2`` (stereo). Maps go to
MAPS/PART/SYSTEM and are made where they are missing, tallies to MAPS/PART/run, cards to src/hyperacuity/cards/shipped. With no
maps at hand it takes about half an hour of one core.

Cards hold counts and digests, and nothing of pictures or labels.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import hyperacuity as ha
from hyperacuity.cards import SUFFIX, About, Card, read_card, write_card
from hyperacuity.cards.making import card_of_run
from hyperacuity.data import find_data, load_dataset
from hyperacuity.detect.registry import detector, is_orderer, orderer
from hyperacuity.detect.stereo import matcher_named
from hyperacuity.evaluation.references import bibtex
from hyperacuity.kinds.disparity import stereo_samples
from hyperacuity.outputs import output_folder
from hyperacuity.systems.maps import detect_pictures, match_scenes
from hyperacuity.train.figure_ground import read_labelled

SHIPPED = Path(__file__).parents[1] / "src/hyperacuity/cards/shipped"
COMMAND = "python benchmarks/shipped_cards.py"
OURS = ("Hyperacuity contributors",)
LICENCE = "BSD-3-Clause"
NET_LICENCE = "BSD-3-Clause AND Apache-2.0"
"""Of what learned on from weights under the latter."""

AUTHORS_MAPS = "gPb-owt-ucm"

ARBELAEZ = About(
    title="Contour Detection and Hierarchical Image Segmentation",
    authors=("Pablo Arbeláez", "Michael Maire", "Charless Fowlkes", "Jitendra Malik"),
    year=2011,
    link="https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html",
    description="The authors' own maps (ucm2), as distributed with BSDS500.",
    bibtex=bibtex(["arbelaez2011"]),
)


def ours(systems: Mapping[str, str]) -> dict[str, About]:
    """What we say of our own systems, from their descriptions."""
    return {
        name: About(authors=OURS, licence=NET_LICENCE if "net" in name else LICENCE, description=text)
        for name, text in systems.items()
    }


BOUNDARY = {
    "sobel": "Sobel's operator; thin maps of `hyperacuity detect`.",
    "canny": "Gaussian derivatives with non-maximum suppression (Canny 1986); thin maps of `hyperacuity detect`.",
    "sf1": "Steerable filter of order 1; thin maps of `hyperacuity detect`.",
    "sf5": "Steerable filter of order 5; thin maps of `hyperacuity detect`.",
    "agk": "Anisotropic Gaussian kernels; thin maps of `hyperacuity detect`.",
    "hk": "Half Gaussian kernels; thin maps of `hyperacuity detect`.",
    "pb": "Gradients of brightness, colour and texture after Martin, Fowlkes & Malik (2004), learned from BSDS500.",
    "gpb": "pb at several scales, and spectral, after Arbeláez et al. (2011), learned from BSDS500.",
    "gpb-ucm": "Hierarchy of regions over gpb, after Arbeláez et al. (2011).",
    "net": "The network of `hyperacuity see`, setting fast, as `hyperacuity detect` writes it; learned from 200 images.",
}  # fmt: skip
ORDER = {
    "ownership": "Who owns a boundary, by convexity; sees the photograph only.",
    "depth-cues": "Cues of depth order, learned from figure/ground labels of 100 images; sees the photograph only.",
    "depth-net": "The network of `hyperacuity see`; learned from figure/ground labels of 100 images; sees the photograph only.",
}
STEREO = {
    "sad": "Absolute differences over a window.",
    "ssd": "Squared differences over a window.",
    "census": "Census transform over a window (Zabih & Woodfill 1994).",
    "adaptive-weights": "Adaptive support weights (Yoon & Kweon 2006).",
    "cost-filter": "Cost volume smoothed by a guided filter (Rhemann et al. 2011).",
    "dp": "Dynamic programming along rows.",
    "sgm": "Semi-global matching (Hirschmüller 2008).",
    "bp": "Belief propagation (Felzenszwalb & Huttenlocher 2006).",
}


@dataclass(frozen=True)
class Part:
    """A data set, its benchmark, and the systems that have a card on it."""

    task: str
    truth: str
    data: str
    systems: Mapping[str, About]
    options: Mapping[str, Any] = field(default_factory=dict)
    people: str = ""


PARTS = {
    "bsds500-test": Part(
        "boundary",
        "bsds500",
        "BSDS500 test",
        {**ours(BOUNDARY), AUTHORS_MAPS: ARBELAEZ},
        {"split": "test"},
        people="Each annotator held against the others of the same image.",
    ),
    "bsds-fg": Part(
        "ordering",
        "bsds-fg",
        "BSDS figure/ground, 50 held-out images",
        ours(ORDER),
        people="One of the two people of an image held against the other.",
    ),
    "middlebury-v2": Part("disparity", "middlebury-v2", "Middlebury v2", ours(STEREO)),
}


def pictures_of(part: str, data: Path | None) -> list[Path]:
    """The photographs that the systems of a part look at."""
    if part == "bsds-fg":
        return [one.photograph for one in read_labelled(data, held_out=True)]
    return [one.image for one in load_dataset("bsds500", data, split="test").samples if one.image is not None]


def make_maps(part: str, folder: Path, data: Path | None, workers: int | None) -> dict[str, Path]:
    """The folders of the maps of a part's systems, made where they are missing."""
    folders = {name: folder / name for name in PARTS[part].systems if name != AUTHORS_MAPS}
    missing = [name for name, own in folders.items() if not own.is_dir()]
    if part == "middlebury-v2":
        match_scenes(stereo_samples(part, data), [matcher_named(name) for name in missing], folder, workers)
    elif missing:
        chosen = {name: orderer(name) if is_orderer(name) else detector(name) for name in missing}
        targets = {name: output_folder(folders[name]) for name in missing}
        failed = detect_pictures(pictures_of(part, data), chosen, targets, workers=workers)
        assert not failed, failed
    if AUTHORS_MAPS in PARTS[part].systems:
        folders[AUTHORS_MAPS] = find_data("bsds500", data) / "ucm2" / "test"
    return folders


def make_cards(part: str, maps: Path, data: Path | None, workers: int | None) -> dict[str, Card]:
    """The cards of a part by the names of their files."""
    about, folder = PARTS[part], output_folder(maps / part)
    folders, run = make_maps(part, folder, data, workers), folder / "run"
    where: dict[str, Any] = {"data": data, "workers": workers, "run": run, **about.options}
    result = ha.evaluate(about.task, folders, about.truth, **where)
    assert not result.failures, result.failures
    cards = {
        f"{part}-{name}": card_of_run(run, name, about=said, data=about.data, workers=workers)
        for name, said in about.systems.items()
    }
    if about.people:
        cards[f"{part}-people"] = card_of_run(
            run, about=About(description=about.people), data=about.data, people=True, workers=workers
        )
    return {name: replace(card, made=replace(card.made, command=COMMAND)) for name, card in cards.items()}


def main() -> None:
    """Make the cards, and print how large they are and what they say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--maps", type=Path, required=True, help="folder of maps and tallies, made where missing")
    parser.add_argument("--data", type=Path, help="folder of the data sets (default: HYPERACUITY_DATA)")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder of the cards")
    parser.add_argument("--only", choices=list(PARTS), action="append", help="only this part; may be repeated")
    parser.add_argument("--workers", type=int, help="threads")
    options = parser.parse_args()
    for part in options.only or PARTS:
        for name, card in make_cards(part, options.maps, options.data, options.workers).items():
            path = output_folder(options.out) / f"{name}{SUFFIX}"
            write_card(card, path)
            numbers = read_card(path).numbers
            said = ", ".join(f"{key} {numbers[key]:.4f}" for key in card.task.criteria(card.protocol).usual[:3])
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {len(card.images)} images, {said}")
    print(f"{sum(path.stat().st_size for path in options.out.glob(f'*{SUFFIX}')) / 1e6:.2f} MB in all")


if __name__ == "__main__":
    main()
