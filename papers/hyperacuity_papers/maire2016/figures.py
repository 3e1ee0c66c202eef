"""Figures 1 and 2 of Maire, Narihira & Yu (2016): orders on common regions, and who owns each boundary, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont, ImageOps
from scipy import ndimage

from hyperacuity.data import write_png
from hyperacuity.maps import LabelMap
from hyperacuity.ordering import Partition, compare_neighbours, ordering, transfer
from hyperacuity.ordering.figure_ground import Ownership, with_whole_order
from hyperacuity.ordering.orderings import Ordering
from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import DARK, FAINT, rgb
from hyperacuity.report.pictures.ordering import order_picture, ownership_picture, panel_sheet
from hyperacuity.run.keeping import code_key, keep_files, key_of, system_key
from hyperacuity.run.many import PictureSource, each
from hyperacuity_papers.common.depth_pictures import Loaded
from hyperacuity_papers.maire2016.figure_ground_table import KeptMaps
from hyperacuity_papers.maire2016.study import Maire2016

SHEETS = ("figure1.png", "figure2.png")
PANEL = (280, 190)
"""Width and height of a panel in pixels."""

Panels = list[tuple[NDArray[Any], str]]


def draw_maire2016(study: Maire2016, folder: Path, *, workers: int | None = None) -> Maire2016:
    """The figures on people's regions and on those of the leading system; the study with the names of the files.

    Two rows per picture: the picture, the filled true order and each system's order; below, the regions that are asked about,
    and each system's owners: green where right, vermilion where wrong, yellow where it ties.
    """
    shown = study.shown()

    def draw(files: Sequence[Path]) -> None:
        rows = list(each(lambda one: _rows(study, one), shown, workers, "figures"))
        for sheet, file in enumerate(files):
            panels = [panel for row in rows for panel in row[sheet]]
            write_png(file, panel_sheet(panels, columns=len(study.systems) + 2, least=max(PANEL)))

    images = [one.load()[0] for one in shown]
    systems = {name: system_key(system) for name, system in study.systems.items()}
    key = key_of(code_key(__name__, panel_sheet.__module__, "hyperacuity.detect.registry"), systems, *images)
    keep_files([folder / name for name in SHEETS], key, draw)
    return study.drawn(*SHEETS)


def _rows(study: Maire2016, picture: PictureSource[Loaded]) -> tuple[Panels, Panels]:
    image, truths, given = picture.load()
    truth = with_whole_order(truths[0])
    kept = {
        name: KeptMaps(system, study.folders[name], picture.name, resume=True) for name, system in study.systems.items()
    }
    said = {name: ordering(system(image)) for name, system in kept.items()}
    on = (given, kept[study.leading].regions(image))
    first, second = (_row(picture.name, image, truth, said, labels) for labels in on)
    return first, second


def _row(name: str, image: NDArray[Any], truth: Ordering, said: dict[str, Ordering], labels: LabelMap) -> Panels:
    whole = truth if isinstance(truth, Partition) else truth.whole
    filled = np.full(labels.shape, np.nan, np.float32) if whole is None else _filled(whole, labels)
    panels = [(panel(image), name), (panel(order_picture(filled)), "truth: warm is near")]
    for system, order in said.items():
        dense = order.order if isinstance(order, Partition) else order.sides
        panels.append((panel(order_picture(_ranked(transfer(dense, labels)))), system))
    panels += [
        (panel(outlined(image, labels)), "the regions asked about"),
        (panel(key_picture()), "who owns each boundary"),
    ]
    for system, order in said.items():
        asked = compare_neighbours(order, truth, labels)
        panels.append((panel(owners_picture(asked, labels)), f"{system}: B-ACC {asked.accuracy()['bacc']:.2f}"))
    return panels


def outlined(image: NDArray[Any], labels: LabelMap) -> NDArray[np.uint8]:
    """A pale picture with the borders of its regions in ink."""
    colour = np.repeat(image[..., None], 3, axis=2) if image.ndim == 2 else image[..., :3]
    bright = colour.astype(np.float64) / (1 if colour.dtype.kind == "f" else np.iinfo(colour.dtype).max)
    pale = (255 - 90 * (1 - bright)).astype(np.uint8)
    border = np.zeros(labels.shape, np.bool_)
    border[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    border[1:] |= labels[1:] != labels[:-1]
    pale[ndimage.binary_dilation(border)] = rgb(theme.INK)
    return pale


def key_picture() -> NDArray[np.uint8]:
    """Key to the colours of owners."""
    sheet = Image.new("RGB", PANEL, theme.GROUND)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(13)
    meanings = (
        (theme.HIT, "right"),
        (theme.FALSE, "wrong"),
        (theme.INCONSISTENT, "a tie"),
        (FAINT, "the truth does not say"),
    )
    for n, (colour, text) in enumerate(meanings):
        y = 40 + 30 * n
        pen.line((40, y + 8, 90, y + 8), fill=colour, width=4)
        pen.text((105, y), text, fill=theme.INK, font=font)
    return np.asarray(sheet)


def _filled(whole: Partition, labels: LabelMap) -> NDArray[np.float32]:
    """The whole order on these regions, by medians; unknown where nothing is known."""
    return transfer(whole.painted().astype(np.float32), labels)


def _ranked(order: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rank of each value, so that maps of any range show their order: equal values have equal ranks."""
    known = ~np.isnan(order)
    ranked = np.full(order.shape, np.nan, np.float32)
    ranked[known] = np.unique(order[known], return_inverse=True)[1].reshape(-1)
    return ranked


def owners_picture(asked: Ownership, labels: LabelMap) -> NDArray[np.uint8]:
    """Owners of boundaries, right and wrong, in lines thick enough to be seen in a small picture."""
    drawn = ownership_picture(asked, labels)
    thick = drawn.copy()
    for colour in (theme.HIT, theme.INCONSISTENT, theme.FALSE):
        thick[ndimage.binary_dilation((drawn == rgb(colour)).all(axis=2))] = rgb(colour)
    return thick


def panel(picture: NDArray[Any]) -> NDArray[Any]:
    """A picture made to fit a panel."""
    image = Image.fromarray(np.ascontiguousarray(picture)).convert("RGB")
    ground = DARK if (picture[0, 0] == rgb(DARK)).all() else theme.GROUND
    return np.asarray(ImageOps.pad(image, PANEL, Image.Resampling.BOX, color=ground))
