"""Figures with their intervals."""
