"""Places of files: known data sets, folders paired by name."""
