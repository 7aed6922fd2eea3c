"""Metrics of transfer tasks, as functions of predictions and annotations."""
