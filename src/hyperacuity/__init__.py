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

Every benchmark here has one shape: ``tally`` one image into a few additive counts, ``collect`` the tallies of a data set
into scores, ``compare`` the scores of several systems. One package per task: :mod:`hyperacuity.boundary`,
:mod:`hyperacuity.edges` and so on; they take plain numpy arrays, described in :mod:`hyperacuity.maps`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperacuity.evaluation import Evaluator, Result, evaluate

__version__ = "0.1.0"
__all__ = ["Evaluator", "Result", "__version__", "evaluate"]


def __getattr__(name: str) -> Any:
    """Load the front door when it is first used, so that importing the package costs nothing."""
    if name in ("Evaluator", "Result", "evaluate"):
        return getattr(import_module("hyperacuity.evaluation"), name)
    raise AttributeError(f"module 'hyperacuity' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
