"""Training from files: pictures and human labels in, models out."""
