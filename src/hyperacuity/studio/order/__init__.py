"""The page on which people order regions by depth."""
