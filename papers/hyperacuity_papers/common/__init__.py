"""The ledger: every equation, algorithm, table, figure and claim of the five papers, theirs beside ours.

A module per paper lists what the paper says as :class:`~hyperacuity_papers.common.claims.Claim`, each with a function that
finds our side in what the paper's study found. Nothing is filled in by hand: a row without a computed finding has none.
"""

from hyperacuity_papers.common.claims import (
    Claim,
    Finding,
    LedgerRow,
    NotRunError,
    PaperFindings,
    Verdict,
    entries,
    expect,
    incomparable,
    near,
    worked,
)

__all__ = [
    "Claim",
    "Finding",
    "LedgerRow",
    "NotRunError",
    "PaperFindings",
    "Verdict",
    "entries",
    "expect",
    "incomparable",
    "near",
    "worked",
]
