"""Reference detectors: what the measures are shown to work on.

============  ==========================================================  =================
name          what it measures                                            options
============  ==========================================================  =================
``masks``     differences [−1 0 1]; semi-automatic truth starts here      –
``sobel``     the same, smoothed along the edge                           –
``canny``     derivatives of a Gaussian, σ = 1                            σ
``sf1``       steerable filter of order 1: the same at σ = 1.5            σ, variant
``sf5``       steerable filter of order 5: longer than wide               σ, step, channels
``agk``       oriented anisotropic Gaussian kernels                       σ across and along
``hk``        half kernels: the two arms of an edge may meet at an angle  σ across and along
``pb``        probability of a boundary, learned from what people drew    model
``gpb``       the same from the image as a whole: global pb               model
``gpb-ucm``   its closed contours: the ultrametric contour map            model
``net``       the share of people who would draw one, by a small network  setting, model
============  ==========================================================  =================

Each takes a grey (H×W) or colour (H×W×3) image, uint8, uint16 or floats in [0, 1], and returns a :class:`Detection`: strength,
direction across the edge, and the thin map after non-maximum suppression. None but ``net``
(onnxruntime, extra ``see``) needs more than numpy, scipy and numba.

Six more order an image by depth, larger = nearer: ``ownership``, ``depth-order`` (:func:`depth_order`) and, learned from
figure/ground labels, ``depth-cues`` (:func:`depth_cues`); ``ae`` makes one order of what these say of neighbours (:func:`ae`);
``ucm-tj`` goes by T-junctions and convexity, nothing learned (:func:`ucm_tj`); ``depth-net`` is the network's
(:func:`~hyperacuity.detect.net.sight.depth_net`).

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
