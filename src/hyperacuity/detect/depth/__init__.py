"""Depth order from one photograph: ownership of contours, and cues learned from people's labels."""
