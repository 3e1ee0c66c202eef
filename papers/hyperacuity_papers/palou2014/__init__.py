"""Palou & Salembier (2014): depth order from single images."""
