"""Loops over pixels, compiled by numba: they take plain arrays, release the interpreter lock and know no other room.

Each module says at its top which algorithm it holds and why its result is exact. Compiled code is cached on disk, so the
first call on a machine takes a few seconds and later ones none.
"""
