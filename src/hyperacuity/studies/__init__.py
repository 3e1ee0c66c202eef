"""The papers' experiments, repeated, and the training of the detectors that learn.

One module per paper: :mod:`~hyperacuity.studies.abdulrahman2017`, :mod:`~hyperacuity.studies.hou2013`,
:mod:`~hyperacuity.studies.cabezas2011`, :mod:`~hyperacuity.studies.palou2014` and :mod:`~hyperacuity.studies.maire2016`. Each
reads its data, does its work several pictures at a time, and returns a value with everything found; the command line prints it,
and :mod:`hyperacuity.report.papers` draws it.
"""
