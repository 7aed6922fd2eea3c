"""Speed beside named peers: `python -m benchmarks.MODULE [--json FILE]`, one line a figure."""
