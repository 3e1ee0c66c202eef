"""Pairs of points: how often a map disagrees with people on which one is nearer (WHDR)."""
