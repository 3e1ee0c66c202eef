"""Sheet of what is seen in a photograph: boundaries, regions, who owns each boundary, depth order, paper cut-outs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont, ImageOps
from scipy import ndimage

from hyperacuity.detect.depth.evidence import pair_evidence
from hyperacuity.detect.net.sight import LEVEL, Sight
from hyperacuity.maps import LabelMap, OrderMap, SoftMap
from hyperacuity.ordering.figure_ground import neighbours
from hyperacuity.ordering.orderings import consecutive, region_medians
from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import DEPTHS, Picture, ramp, rgb
from hyperacuity.report.pictures.layers import as_picture
from hyperacuity.report.pictures.strokes import Stroke, draw_line, hatch, strokes

SIDE = 640
"""Longer side of a panel."""

FINE = 2
"""Panels are drawn so many times as large and reduced, which smooths the lines."""

GAP, CAPTION, HEAD = 22, 48, 56

NEAR, FAR = "#d9480f", "#2b4c9b"
"""The figure's and the ground's side of a boundary."""

Values = NDArray[np.float64]


def sight_sheet(image: NDArray[Any], seen: Sight, name: str = "", *, level: float = LEVEL, note: str = "") -> Picture:
    """One sheet of what was seen in a photograph, of the size of its maps; ``name`` and ``note`` stand above it.

    >>> from hyperacuity.regions import hierarchy
    >>> soft = np.zeros((8, 12), np.float32); soft[:, 6] = 1
    >>> seen = Sight(soft, np.zeros((8, 12, 2), np.float32), hierarchy(soft), soft)
    >>> sight_sheet(np.zeros((8, 12), np.uint8), seen).shape
    (1050, 2008, 3)
    """
    photograph = as_picture(image).convert("RGB")
    labels = consecutive(seen.regions(level))
    canvas = Canvas(labels)
    count = int(labels.max()) + 1
    panels = [
        ("Photograph", "", canvas.photograph(photograph)),
        ("Boundaries", "the darker, the more people would draw it", canvas.ink(seen.boundaries)),
        ("Regions", f"{count} at level {level:g}, in their mean colours", canvas.regions(photograph)),
        ("Who owns each boundary", "orange is in front; ticks fall to what is behind", canvas.owners(photograph, seen)),
        ("Depth order", "", canvas.depth(seen.order)),
        ("As paper cut-outs", "what is nearer casts a shadow", canvas.paper(photograph, seen.order)),
    ]
    size = f"{labels.shape[1]} by {labels.shape[0]} pixels"
    return _arranged(panels, canvas.size, name, f"{size}, {note}" if note else size)


class Canvas:
    """Draws panels of one size for one segmentation."""

    def __init__(self, labels: LabelMap, *, side: int = SIDE) -> None:
        height, width = labels.shape
        scale = side / max(height, width)
        self.size = max(1, round(width * scale)), max(1, round(height * scale))
        self.labels = labels
        self.fine = FINE * self.size[0], FINE * self.size[1]
        self.scale = FINE * scale
        self.lines = [line.scaled(self.scale) for line in strokes(labels)]
        self.fine_labels = self._smooth_labels()

    def photograph(self, image: Image.Image) -> Image.Image:
        """The photograph itself."""
        return image.resize(self.size, Image.Resampling.LANCZOS)

    def ink(self, boundaries: SoftMap) -> Image.Image:
        """Boundaries as ink on white: a sure one is black."""
        large = np.asarray(Image.fromarray(boundaries).resize(self.size, Image.Resampling.BICUBIC))
        return Image.fromarray(ramp(np.clip(large, 0, 1) ** 0.8, (theme.GROUND, theme.INK)))

    def regions(self, image: Image.Image) -> Image.Image:
        """Regions in their mean colours, with thin outlines."""
        return self._outlined(self._filled(self._mean_colours(image)), "#ffffff", 0.75)

    def depth(self, order: OrderMap) -> Image.Image:
        """The order in colours, warm is near, with contours."""
        picture = Image.fromarray(ramp(_spread(order), DEPTHS)).resize(self.fine, NEAREST)
        return self._outlined(picture, DEPTHS[0], 0.6)

    def paper(self, image: Image.Image, order: OrderMap) -> Image.Image:
        """Regions cut from paper of their mean colours, lightened a little: a nearer one casts a shadow to the lower right."""
        depths = region_medians(_spread(order).astype(np.float32), self.labels)
        height = depths[self.fine_labels].astype(np.float32)
        reach = 0.006 * max(self.fine)
        above = ndimage.shift(height, reach, order=1, mode="nearest")
        shadow = np.clip(ndimage.gaussian_filter(above, reach) - height, 0, 0.35) / 0.35
        light = np.clip(
            height - ndimage.gaussian_filter(ndimage.shift(height, -1.5, order=1, mode="nearest"), 1.5), 0, 1
        )
        colours = np.asarray(self._filled(255 * (self._mean_colours(image) / 255) ** 0.8), np.float32)
        shaded = colours * (1 - 0.62 * shadow[..., np.newaxis]) + 60 * np.minimum(light, 0.5)[..., np.newaxis]
        return Image.fromarray(np.clip(shaded, 0, 255).astype(np.uint8)).resize(self.size, Image.Resampling.BOX)

    def owners(self, image: Image.Image, seen: Sight) -> Image.Image:
        """Contours on a faded photograph: the owner's side is orange, the other blue, with ticks that fall to it."""
        image = ImageOps.autocontrast(image, cutoff=1)
        grey = np.asarray(image.convert("L").convert("RGB").resize(self.fine, Image.Resampling.BICUBIC), np.float32)
        colour = np.asarray(image.resize(self.fine, Image.Resampling.BICUBIC), np.float32)
        faded = 255 - (255 - (0.4 * grey + 0.6 * colour)) * 0.45
        ground = Image.fromarray(faded.astype(np.uint8)).convert("RGBA")
        layer = Image.new("RGBA", self.fine, (255, 255, 255, 0))
        pen = ImageDraw.Draw(layer)
        beside = neighbours(self.labels)
        evidence = pair_evidence(seen.field, beside)
        sure = dict(
            zip(zip(beside.first.tolist(), beside.second.tolist(), strict=True), evidence.tolist(), strict=True)
        )
        for line in sorted(self.lines, key=lambda line: abs(_for_left(line, sure))):
            _draw_owned(pen, line, _for_left(line, sure))
        return Image.alpha_composite(ground, layer).convert("RGB").resize(self.size, Image.Resampling.BOX)

    def _mean_colours(self, image: Image.Image) -> Values:
        """A colour per region."""
        pixels = np.asarray(image, np.float64).reshape(-1, 3)
        flat = self.labels.ravel()
        sizes = np.bincount(flat)
        return np.stack([np.bincount(flat, pixels[:, c]) / sizes for c in range(3)], axis=1)

    def _filled(self, colours: Values) -> Image.Image:
        return Image.fromarray(np.rint(colours).astype(np.uint8)[self.fine_labels])

    def _smooth_labels(self) -> LabelMap:
        """The regions at the size that is drawn: near a line, every pixel goes to the region on its side of the line."""
        wide = np.asarray(Image.fromarray(self.labels).resize(self.fine, NEAREST))
        band = Image.new("1", self.fine, 0)
        pen = ImageDraw.Draw(band)
        for line in self.lines:
            draw_line(pen, line.points, 1, round(2 * self.scale) + 1)
        near = np.array(band)
        lost = np.bincount(wide[~near], minlength=int(self.labels.max()) + 1) == 0
        near &= ~lost[wide]  # a region that the lines cover keeps its pixels
        nearest = ndimage.distance_transform_edt(near, return_distances=False, return_indices=True)
        smooth: LabelMap = wide[tuple(nearest)]
        return smooth

    def _outlined(self, picture: Image.Image, colour: str, opacity: float) -> Image.Image:
        """The picture with thin lines along all contours, at the size of a panel."""
        layer = Image.new("L", self.fine, 0)
        pen = ImageDraw.Draw(layer)
        for line in self.lines:
            draw_line(pen, line.points, round(255 * opacity), FINE)
        picture.paste(Image.new("RGB", self.fine, colour), mask=layer)
        return picture.resize(self.size, Image.Resampling.BOX)


NEAREST = Image.Resampling.NEAREST


def _draw_owned(pen: ImageDraw.ImageDraw, line: Stroke, for_left: float) -> None:
    """A line with an owner: the surer, the stronger."""
    opacity = round(255 * (0.25 + 0.75 * abs(np.tanh(for_left / 2))))
    toward = 1.0 if for_left >= 0 else -1.0
    for tick in hatch(line, spacing=FINE * 13.0, length=-toward * FINE * 6.5):
        pen.line(tick, fill=(*rgb(FAR), opacity), width=FINE)
    draw_line(pen, line.beside(-toward * FINE * 0.7), (*rgb(FAR), opacity), round(FINE * 1.5))
    draw_line(pen, line.beside(toward * FINE * 1.3), (*rgb(NEAR), opacity), round(FINE * 2.5))


def _for_left(line: Stroke, sure: dict[tuple[int, int], float]) -> float:
    """Log-odds that the region to the left of a line is in front."""
    if line.left < line.right:
        return sure.get((line.left, line.right), 0.0)
    return -sure.get((line.right, line.left), 0.0)


def _spread(order: OrderMap) -> Values:
    """An order from 0, far, to 1, near. A hundredth of the pixels at each end is cut off, lest a speck flattens the rest."""
    known = order[~np.isnan(order)]
    low, high = (np.percentile(known, q) for q in (1, 99)) if known.size else (0.0, 0.0)
    if high <= low:
        return np.full(order.shape, 0.5)
    spread: Values = np.clip((np.nan_to_num(order, nan=float(low)) - low) / (high - low), 0, 1).astype(np.float64)
    return spread


def _arranged(panels: list[tuple[str, str, Image.Image]], size: tuple[int, int], name: str, note: str) -> Picture:
    """Panels in two rows with captions, under a heading."""
    columns, (width, height) = 3, size
    rows = -(-len(panels) // columns)
    whole = GAP + columns * (width + GAP), HEAD + rows * (height + CAPTION + GAP)
    sheet = Image.new("RGB", whole, theme.GROUND)
    pen = ImageDraw.Draw(sheet)
    large, plain = ImageFont.load_default(20), ImageFont.load_default(15)
    pen.text((GAP, 18), name, fill=theme.INK, font=large)
    pen.text((whole[0] - GAP, 22), note, fill=theme.FAINT, font=plain, anchor="ra")
    for n, (title, gloss, picture) in enumerate(panels):
        x, y = GAP + n % columns * (width + GAP), HEAD + n // columns * (height + CAPTION + GAP)
        sheet.paste(picture, (x, y))
        pen.rectangle((x - 1, y - 1, x + width, y + height), outline=theme.GRID)
        pen.text((x, y + height + 7), title, fill=theme.INK, font=plain)
        if gloss:
            pen.text((x, y + height + 27), gloss, fill=theme.FAINT, font=plain)
        if title == "Depth order":
            _depth_key(pen, plain, (x, y + height + 27))
    return np.asarray(sheet)


def _depth_key(pen: ImageDraw.ImageDraw, font: Any, at: tuple[float, float]) -> None:
    """The scale from far to near."""
    left, top = at
    pen.text(at, "far", fill=theme.FAINT, font=font)
    left += pen.textlength("far", font) + 8
    for x, colour in enumerate(ramp(np.linspace(0, 1, 120), DEPTHS).tolist()):
        pen.line((left + x, top + 5, left + x, top + 14), fill=tuple(colour))
    pen.text((left + 128, top), "near", fill=theme.FAINT, font=font)
