"""Figures saved to files: panels of one size, and a chart as SVG and PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from hyperacuity.report import theme

BOX = (420, 300)
"""Panels of the sheets: width and height in pixels."""


def boxed(picture: NDArray[Any]) -> NDArray[Any]:
    """A picture resized to fit the box of a panel, on the sheet's ground."""
    image = Image.fromarray(np.ascontiguousarray(picture)).convert("RGB")
    return np.asarray(ImageOps.pad(image, BOX, Image.Resampling.BOX, color=theme.GROUND))


def save_both(chart: Any, stem: Path, signature: str) -> list[Path]:
    """The chart as SVG and as PNG."""
    return [theme.save(chart, stem.with_name(stem.name + suffix), signature=signature) for suffix in (".svg", ".png")]
