"""The page where people say what is in front."""
