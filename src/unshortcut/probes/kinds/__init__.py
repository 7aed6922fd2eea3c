"""Kinds of probes: one file each, found by being in this folder."""
