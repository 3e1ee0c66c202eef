"""The front door: inputs of any kind become cells, cells become tallies, tallies become a result.

================================  ==============================================================================
:mod:`~.evaluation.front`         :func:`evaluate`: folders, files, arrays → :class:`Result`
:mod:`~.evaluation.evaluator`     :class:`Evaluator`: the same in a training loop
:mod:`~.evaluation.score_tables`  the table of a result, by the columns that its task declares
:mod:`~.evaluation.export`        printers of tables: terminal, LaTeX, Markdown, CSV
:mod:`~.evaluation.references`    :func:`cite`: whom to cite
================================  ==============================================================================
"""

from typing import TYPE_CHECKING

from hyperacuity.syntax import on_demand

if TYPE_CHECKING:
    from hyperacuity.evaluation.evaluator import Evaluator
    from hyperacuity.evaluation.front import evaluate, evaluate_inputs
    from hyperacuity.evaluation.references import cite
    from hyperacuity.evaluation.result import Result
else:
    __getattr__ = on_demand(__name__, __file__)

__all__ = ["Evaluator", "Result", "cite", "evaluate", "evaluate_inputs"]
