"""Metrics of transfer, as functions and counters of arrays."""
