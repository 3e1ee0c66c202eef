"""The forced-choice experiment."""
