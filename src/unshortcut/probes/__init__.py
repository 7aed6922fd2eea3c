"""Evaluations of frozen features; a file here is found by being here."""
