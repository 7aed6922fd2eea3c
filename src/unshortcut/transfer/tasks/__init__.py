"""Tasks of transfer: one file each."""
