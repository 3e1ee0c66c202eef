"""Hou, Yuille & Koch (2013): boundary benchmarks beyond F-measures."""
