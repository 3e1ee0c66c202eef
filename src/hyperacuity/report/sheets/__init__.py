"""The tasks' sheets, one module each; :mod:`hyperacuity.report.sheets.registry` knows which is whose."""
