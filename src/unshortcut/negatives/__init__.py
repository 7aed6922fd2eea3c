"""Sources of negatives, one per file; `discovery` finds them by name."""
