"""Abdulrahman, Magnier & Montesinos (2017): edge measures, and detectors judged by them."""
