"""Charts, one specification for the page and for paper."""
