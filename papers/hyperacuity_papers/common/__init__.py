"""Parts that several papers use: the ledger of their claims, its cached rows, cached maps of photographs, saved figures.

Each paper's folder has a claims.toml, whose rows name the function that computes our side from the study's results. Nothing is
filled in by hand: a row without a computed result has none.
"""
