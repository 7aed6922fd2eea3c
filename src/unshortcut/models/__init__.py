"""Encoders, heads, momentum copies and queues; loading and using any model."""
