"""The texture tools compared with other implementations: `python -m benchmarks.imaging`."""
