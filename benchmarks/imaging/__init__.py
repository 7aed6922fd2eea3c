"""The texture tools beside their peers: `python -m benchmarks.imaging`."""
