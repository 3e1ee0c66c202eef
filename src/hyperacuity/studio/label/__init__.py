"""The page on which people label edges."""
