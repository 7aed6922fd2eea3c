"""Measurements: one file each, from a trained run to metrics."""
