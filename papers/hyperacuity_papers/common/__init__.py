"""Parts that several papers use: the ledger of their claims, its cached rows, cached maps of photographs, saved figures.

Each paper's folder has a claims.toml, whose rows name the function that computes our side from the study's results. Nothing is
filled in by hand: a row without a computed result has none.
"""

from hyperacuity_papers.common.claims import (
    Claim,
    Finding,
    LedgerRow,
    NotRunError,
    PaperClaims,
    PaperFindings,
    Verdict,
    entries,
    expect,
    incomparable,
    near,
    read_claims,
    worked,
)

__all__ = [
    "Claim",
    "Finding",
    "LedgerRow",
    "NotRunError",
    "PaperClaims",
    "PaperFindings",
    "Verdict",
    "entries",
    "expect",
    "incomparable",
    "near",
    "read_claims",
    "worked",
]
