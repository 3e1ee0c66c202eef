"""Depth boundary errors: where depth maps step, as iBims-1 measures it."""
