"""Encoders, heads, momentum copies, queues, and loading any model by a spec."""
