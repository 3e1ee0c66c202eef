"""Cabezas & Trujillo (2011): disparity estimation judged by Pareto dominance."""
