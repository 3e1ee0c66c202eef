"""The page where people draw edge truth."""
