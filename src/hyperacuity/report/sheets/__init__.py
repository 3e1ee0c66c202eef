"""The tasks' sheets, one module each; :mod:`hyperacuity.report.tasks` knows which is whose."""
