"""How long the detectors take per image, and Sobel and Gaussian derivatives against scikit-image and OpenCV.

    python benchmarks/detect.py [PICTURE] [--json FILE]

CPU time of the whole process, best of several runs, warm. Without a picture, a made colour image of 481×321 is used. Peers do
less: they give one strength for a grey image, without direction, colour tensor or non-maximum suppression; the columns
say what each one includes. Peers run with one thread.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
from scipy import ndimage

from hyperacuity.data import read_image
from hyperacuity.detect import detector, detectors
from hyperacuity.detect.gradient import sobel
from hyperacuity.kernels.suppression import suppress, suppress_structured
from measuring import cpu_ms


def made_image() -> np.ndarray:
    """A colour image with structure at several scales."""
    noise = np.random.default_rng(0).random((3, 321, 481))
    image = sum(ndimage.gaussian_filter(noise, (0, s, s)) * s for s in (0.7, 2, 6))
    image = image - image.min()
    return np.moveaxis((image / image.max() * 255).astype(np.uint8), 0, 2)


def peers(grey: np.ndarray) -> dict[str, float]:
    """The same filters by other libraries, on grey floats, strength only."""
    import cv2
    import skimage.filters

    cv2.setNumThreads(1)

    def opencv() -> np.ndarray:
        return cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))

    return {
        "sobel, scikit-image": cpu_ms(lambda: skimage.filters.sobel(grey)),
        "sobel, scipy": cpu_ms(lambda: np.hypot(ndimage.sobel(grey, axis=1), ndimage.sobel(grey, axis=0))),
        "sobel, OpenCV": cpu_ms(opencv),
        "gaussian gradient, scipy": cpu_ms(lambda: ndimage.gaussian_gradient_magnitude(grey, 1.0)),
    }


def main() -> None:
    """Measure, print a table, and write the numbers where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", type=Path, nargs="?", help="a colour picture; a made one of 481×321 if absent")
    parser.add_argument("--json", type=Path, help="file to write the numbers to")
    options = parser.parse_args()
    colour = read_image(options.picture) if options.picture else made_image()
    grey8 = colour[..., 1]
    grey = grey8.astype(np.float32) / 255

    print(f"{colour.shape[1]}×{colour.shape[0]}, CPU ms, best of 5")
    ours = {
        name: {"colour": cpu_ms(partial(detector(name), colour)), "grey": cpu_ms(partial(detector(name), grey8))}
        for name in detectors()
    }
    print(f"{'detector':26}{'colour':>9}{'grey':>9}   strength, direction, thin map")
    for name, times in ours.items():
        print(f"{name:26}{times['colour']:9.1f}{times['grey']:9.1f}")
    theirs = peers(grey)
    print(f"{'peer':26}{'':9}{'grey':>9}   strength only")
    for name, ms in theirs.items():
        print(f"{name:26}{'':9}{ms:9.1f}")
    seen = sobel(grey8)
    steps = {
        "suppress": cpu_ms(lambda: suppress(seen.strength, seen.direction)),
        "suppress_structured": cpu_ms(lambda: suppress_structured(seen.soft)),
    }
    print(f"{'suppression':26}")
    for name, ms in steps.items():
        print(f"{name:26}{'':9}{ms:9.1f}")
    if options.json:
        options.json.write_text(json.dumps({"detectors": ours, "peers": theirs, "suppression": steps}, indent=2) + "\n")


if __name__ == "__main__":
    main()
