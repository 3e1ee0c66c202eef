"""Reports for people: charts, picture sheets and pages, all with one look (:mod:`~hyperacuity.report.theme`).

:func:`write_report` turns runs into a page. It needs the extra ``report`` (Altair, Jinja and vl-convert). Everything here is
drawn from scores and tallies already made; a task's part of a page is one module (:mod:`~hyperacuity.report.sheets`).
"""

from hyperacuity.report.pages import write_report

__all__ = ["write_report"]
