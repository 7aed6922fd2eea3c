"""Losses: pure functions of similarities, one per file; `discovery` finds them by name."""
