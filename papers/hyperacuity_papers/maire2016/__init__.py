"""Maire, Narihira & Yu (2016): figure/ground, from the supplement of the Affinity CNN."""
