"""Benchmarks against other libraries: `python -m benchmarks.MODULE [--json FILE]`."""
