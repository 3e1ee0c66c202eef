"""What people look at: charts, picture sheets and pages, all with one look (:mod:`~hyperacuity.report.theme`).

Needs the extra ``report`` (Altair and vl-convert). Everything here is drawn from scores and tallies already made.
"""
