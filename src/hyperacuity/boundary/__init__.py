"""Boundary detection: the Berkeley benchmark (ODS, OIS, AP), exact and deterministic."""

from hyperacuity.boundary.matching import Match, match, overlay, tolerance_in_pixels

__all__ = ["Match", "match", "overlay", "tolerance_in_pixels"]
