"""Pairs of points, of which people say which is nearer: how often a map disagrees (WHDR)."""
