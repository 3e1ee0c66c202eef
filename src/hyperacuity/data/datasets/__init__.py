"""Where things lie: known data sets, folders paired by name."""
