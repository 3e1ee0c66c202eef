"""``gpb``: global probability of boundary, after Arbeláez, Maire, Fowlkes & Malik (2011)."""
