"""Figures of the studies, a module per paper: charts, and sheets of pictures, written from what a study found."""
