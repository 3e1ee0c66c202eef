"""Pictures of one image's order: matched contours, who owns boundaries, which regions stand for which, pairs of regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from hyperacuity.maps import LabelMap, OrderMap
from hyperacuity.ordering import Ordering, Partition, Protocol, match_image, match_regions
from hyperacuity.ordering.figure_ground import Ownership, compare_neighbours, neighbours
from hyperacuity.ordering.local import CONSISTENT, FALSE, INCONSISTENT, MISSED, LocalMatch
from hyperacuity.ordering.orderings import transfer
from hyperacuity.ordering.pairwise import known_regions, pair_tables
from hyperacuity.report import theme
from hyperacuity.report.pictures.colours import DARK, DEPTHS, FAINT, UNKNOWN, Picture, plain, ramp, rgb
from hyperacuity.report.pictures.layers import scale_layer

MATCHED = {MISSED: theme.MISS, FALSE: theme.FALSE, INCONSISTENT: theme.INCONSISTENT, CONSISTENT: theme.HIT}
"""Colours of contours after matching."""

PANEL = 420
"""Longer side of a panel, at least."""


def order_picture(order: OrderMap) -> Picture:
    """An order map in colours: warm is near, cool is far, by rank; grey is unknown.

    >>> order_picture(np.array([[1, 2, np.nan]], np.float32)).shape
    (1, 3, 3)
    """
    known = ~np.isnan(order)
    picture = plain(order.shape, UNKNOWN)
    if known.any():
        levels, rank = np.unique(order[known], return_inverse=True)
        picture[known] = ramp(rank / max(levels.size - 1, 1), DEPTHS)
    return picture


def order_layer(order: OrderMap, *, room: int | None = None) -> dict[str, Any]:
    """Depth order as a layer of the viewer whose levels can be read back; the farthest is level 1."""
    unknown = np.isnan(order)
    levels = np.unique(order[~unknown])
    share = np.searchsorted(levels, np.where(unknown, 0, order)) / max(levels.size - 1, 1)
    ends = (1, max(levels.size, 1))
    return scale_layer(share, DEPTHS, ends=ends, unit="level", others=[(unknown, UNKNOWN, "unknown")], room=room)


def matching_picture(found: LocalMatch) -> Picture:
    """Contours after matching: consistent green, inconsistent yellow, false vermilion, missed blue, on dark.

    Partners are both drawn, so a displaced contour is a double line.
    """
    picture = plain(found.truth.pixels.shape, DARK)
    for drawn in (found.truth_codes(), found.detected_codes()):
        for code, colour in MATCHED.items():
            picture[drawn == code] = rgb(colour)
    return picture


def ownership_picture(asked: Ownership, labels: LabelMap) -> Picture:
    """Boundaries by whether the right owner was predicted, drawn on the true owner's side.

    Right green, wrong vermilion, tie yellow. Boundaries that the truth gives to nobody are faint.
    """
    beside = neighbours(labels)
    verdict = np.full(beside.count, -1)
    number = {pair: n for n, pair in enumerate(zip(beside.first.tolist(), beside.second.tolist(), strict=True))}
    front = np.full(beside.count, -1)
    for first, second, true, predicted in zip(
        asked.first.tolist(), asked.second.tolist(), asked.true.tolist(), asked.predicted.tolist(), strict=True
    ):
        pair = number[first, second]
        verdict[pair] = 2 if predicted == 0 else int(predicted == true)
        front[pair] = first if true > 0 else second
    picture = plain(labels.shape, DARK)
    flat = picture.reshape(-1, 3)
    regions = beside.labels.ravel()
    for code, colour in ((-1, FAINT), (1, theme.HIT), (2, theme.INCONSISTENT), (0, theme.FALSE)):
        of_code = verdict[beside.pair] == code
        for side in (beside.here, beside.there):
            owned = of_code & ((regions[side] == front[beside.pair]) | (code == -1))
            flat[side[owned]] = rgb(colour)
    return picture


def region_picture(system: Partition, truth: Partition) -> Picture:
    """The system's regions in the colour of the true region each stands for (:func:`~hyperacuity.ordering.match_regions`)."""
    system, truth = known_regions(system), known_regions(truth)
    standing_for = np.append(match_regions(system, truth), -1)
    return _with_borders(_region_colours(truth)[standing_for[system.labels]], system.labels)


def true_region_picture(truth: Partition) -> Picture:
    """The true regions in the colours that :func:`region_picture` uses."""
    truth = known_regions(truth)
    return _with_borders(_region_colours(truth)[truth.labels], truth.labels)


def pair_table_pictures(system: Partition, truth: Partition, *, side: int = PANEL) -> tuple[Picture, Picture]:
    """Tables of all pairs of true regions and of the system's, nearest first (Fig. 5 of Palou & Salembier 2014).

    True pairs: green to yellow by the share of consistent pairs that stand for them, blue when missed. Pairs of the system's:
    consistent green, inconsistent yellow, false vermilion. Grey has no pair.
    """
    system, truth = known_regions(system), known_regions(truth)
    shares, table = pair_tables(system, truth)
    near_truth, near_system = np.argsort(-truth.depth, kind="stable"), np.argsort(-system.depth, kind="stable")
    shares, table = shares[np.ix_(near_truth, near_truth)], table[np.ix_(near_system, near_system)]
    right, wrong = np.array(rgb(theme.HIT), float), np.array(rgb(theme.INCONSISTENT), float)
    mixed = np.nan_to_num(shares)[..., None] * right + (1 - np.nan_to_num(shares))[..., None] * wrong
    mixed[np.isnan(shares)] = rgb(theme.MISS)
    mixed[np.eye(len(shares), dtype=bool)] = rgb(UNKNOWN)
    codes = np.array([rgb(theme.INCONSISTENT), rgb(theme.HIT), rgb(UNKNOWN), rgb(theme.FALSE)], np.uint8)
    true_pairs, our_pairs = (
        Image.fromarray(pairs).resize((side, side), Image.Resampling.NEAREST)
        for pairs in (mixed.round().astype(np.uint8), codes[table])
    )
    return np.asarray(true_pairs), np.asarray(our_pairs)


def picture_sheet(
    prediction: Ordering, truth: Ordering, protocol: Protocol | None = None, labels: LabelMap | None = None
) -> Picture:
    """Everything about one image and one annotator on one sheet, each panel with its numbers.

    ``labels`` are the regions to ask about; without them the truth's own.
    """
    protocol = protocol or Protocol()
    found = match_image(prediction, [truth], protocol)[0]
    counts = found.outcomes()
    verdicts = (
        f"green {counts.consistent:.0f} consistent, yellow {counts.inconsistent:.0f} inconsistent, "
        f"vermilion {counts.false:.0f} false, blue {counts.missed:.0f} missed"
    )
    orders = (
        given.painted().astype(np.float32) if isinstance(given, Partition) else given.sides
        for given in (truth, prediction)
    )
    panels = [
        *zip(map(order_picture, orders), ("truth: warm is near", "prediction"), strict=True),
        (matching_picture(found), verdicts),
    ]
    regions = truth.labels if labels is None else labels
    if regions is not None:
        asked = compare_neighbours(prediction, truth, regions, middle=protocol.middle, reach=protocol.reach)
        accuracy = asked.accuracy(protocol.question_tie)
        if isinstance(prediction, Partition):
            panels.append((order_picture(transfer(prediction.order, regions)), "prediction, median of each region"))
        numbers = f"R-ACC {accuracy['racc']:.2f}, B-ACC {accuracy['bacc']:.2f}"
        panels.append(
            (ownership_picture(asked, regions), f"owners: {numbers} (green right, vermilion wrong, yellow tie)")
        )
    if isinstance(prediction, Partition) and isinstance(truth, Partition) and prediction.regions <= 2000:
        side = int(min(panels[0][0].shape[:2]) * _scale(panels[0][0]))
        true_pairs, our_pairs = pair_table_pictures(prediction, truth, side=side)
        panels += [
            (true_region_picture(truth), f"{truth.regions} true regions"),
            (region_picture(prediction, truth), f"{prediction.regions} regions by the true one they stand for"),
            (true_pairs, "true pairs: green right, yellow wrong, blue missed"),
            (our_pairs, "pairs of regions: the same; vermilion false"),
        ]
    return panel_sheet(panels)


def _region_colours(truth: Partition) -> Picture:
    """A colour per true region: hues apart by the golden angle, so that neighbours in number differ; the last is for none."""
    hues = (np.arange(truth.regions) * 0.6180339887) % 1
    phase = (hues[:, None] + np.array([0, 1 / 3, 2 / 3])) % 1
    return np.vstack([np.round(150 + 80 * np.cos(2 * np.pi * phase)), rgb(UNKNOWN)]).astype(np.uint8)


def _with_borders(picture: Picture, labels: LabelMap) -> Picture:
    border = np.zeros(labels.shape, bool)
    border[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    border[:-1] |= labels[:-1] != labels[1:]
    picture[border] = rgb(DARK)
    return picture


def _scale(picture: Picture, least: int = PANEL) -> float:
    """A whole number of times larger, so that single pixels can be seen, or as it is."""
    return float(max(1, -(-least // max(picture.shape[:2]))))


def panel_sheet(panels: list[tuple[Picture, str]], *, columns: int = 3, least: int = PANEL) -> Picture:
    """Panels in rows, a caption under each; panels smaller than ``least`` pixels are enlarged."""
    font, gap, line = ImageFont.load_default(13), 12, 17
    scale = _scale(panels[0][0], least)
    width, height = (int(length * scale) for length in panels[0][0].shape[1::-1])
    measure = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    captions = [_wrapped(text, lambda words: measure.textlength(words, font) <= width) for _, text in panels]
    caption = 4 + line * max(len(lines) for lines in captions)
    rows = -(-len(panels) // columns)
    size = (gap + columns * (width + gap), gap + rows * (height + caption + gap))
    sheet = Image.new("RGB", size, theme.GROUND)
    pen = ImageDraw.Draw(sheet)
    for n, ((picture, _), lines) in enumerate(zip(panels, captions, strict=True)):
        x, y = gap + (n % columns) * (width + gap), gap + (n // columns) * (height + caption + gap)
        image = Image.fromarray(picture)
        if picture.shape[:2] == panels[0][0].shape[:2]:
            image = image.resize((width, height), Image.Resampling.NEAREST)
        sheet.paste(image, (x, y))
        pen.multiline_text((x, y + height + 4), "\n".join(lines), fill=theme.INK, font=font)
    return np.asarray(sheet)


def _wrapped(text: str, fits: Callable[[str], bool]) -> list[str]:
    """The text in lines that fit, broken between words.

    >>> _wrapped("one two three", lambda line: len(line) < 8)
    ['one two', 'three']
    """
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and not fits(longer):
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
