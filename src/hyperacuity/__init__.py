"""Hyperacuity: how well does a vision system see edges, boundaries, figure and ground, depth order and disparity?

Every benchmark here has one shape: ``tally`` one image into a few additive counts, ``collect`` the tallies of a data set
into scores, ``compare`` the scores of several systems. One room per task: :mod:`hyperacuity.boundary`,
:mod:`hyperacuity.edges` and so on; they take plain numpy arrays, described in :mod:`hyperacuity.maps`.
"""

__version__ = "0.1.0"
