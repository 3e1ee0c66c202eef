"""Reference detectors, and systems that order an image by depth (``docs/tasks/detect.md`` and ``docs/tasks/depth.md``).

Each takes a grey (H×W) or colour (H×W×3) image, uint8, uint16 or floats in [0, 1]. A detector returns a :class:`Detection`:
strength, direction across the edge, and the thin map after non-maximum suppression. An orderer returns a map, larger = nearer.

>>> import numpy as np
>>> image = np.zeros((32, 32)); image[8:24, 8:24] = 1
>>> canny(image).thin.max()
np.float32(1.0)
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.detect.depth.orderers import ae, depth_cues, depth_order, ownership, region_tree
    from hyperacuity.detect.depth.ucm_tj import ucm_tj
    from hyperacuity.detect.detection import Detection
    from hyperacuity.detect.global_pb.detector import gpb, gpb_hierarchy, gpb_ucm
    from hyperacuity.detect.gradient import canny, masks, sf1, sobel
    from hyperacuity.detect.oriented import agk, hk, sf5
    from hyperacuity.detect.pb_detector import pb
    from hyperacuity.detect.registry import (
        Detector,
        Orderer,
        detector,
        detectors,
        is_orderer,
        orderer,
        orderers,
        split_names,
    )
    from hyperacuity.detect.threshold import otsu, rosin
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = [
    "Detection",
    "Detector",
    "Orderer",
    "ae",
    "agk",
    "canny",
    "depth_cues",
    "depth_order",
    "detector",
    "detectors",
    "gpb",
    "gpb_hierarchy",
    "gpb_ucm",
    "hk",
    "is_orderer",
    "masks",
    "orderer",
    "orderers",
    "otsu",
    "ownership",
    "pb",
    "region_tree",
    "rosin",
    "sf1",
    "sf5",
    "sobel",
    "split_names",
    "ucm_tj",
]
