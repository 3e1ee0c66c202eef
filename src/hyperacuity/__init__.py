"""Hyperacuity: how well does a vision system see edges, boundaries, figure and ground, depth order and disparity?

Two folders in, scores out::

    import hyperacuity as ha

    result = ha.evaluate("boundary", "maps/mine", "bsds500/groundTruth/test")
    result.score("mine").ods.f, result.signature

or, while a network learns, batch by batch::

    judge = ha.Evaluator("boundary")
    for image, truth in loader:
        judge.update(model(image), truth)
    judge.score().ods.f

One photograph in, and what there is to see in it::

    seen = ha.see("photo.jpg")
    seen.boundaries, seen.regions(), seen.field, seen.order

Every benchmark here has one shape: ``tally`` one image into a few additive counts, ``collect`` the tallies of a data set
into scores, ``compare`` the scores of several systems. One package per task: :mod:`hyperacuity.boundary`,
:mod:`hyperacuity.edges` and so on; they take plain numpy arrays, described in :mod:`hyperacuity.maps`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperacuity.detect.net.sight import Sight
    from hyperacuity.evaluation import Evaluator, Result, cite, evaluate
    from hyperacuity.systems.seeing import see

__version__ = "0.1.0"
__all__ = ["Evaluator", "Result", "Sight", "__version__", "cite", "evaluate", "see"]

_ROOMS = {
    **dict.fromkeys(("Evaluator", "Result", "cite", "evaluate"), "hyperacuity.evaluation"),
    "Sight": "hyperacuity.detect.net.sight",
    "see": "hyperacuity.systems.seeing",
}


def __getattr__(name: str) -> Any:
    """Load the front door when it is first used, so that importing the package costs nothing."""
    if name in _ROOMS:
        return getattr(import_module(_ROOMS[name]), name)
    raise AttributeError(f"module 'hyperacuity' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
