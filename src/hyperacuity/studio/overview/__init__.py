"""For the organiser: who did what, how far people agree, and a decision where two of them differ."""
