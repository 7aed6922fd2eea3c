"""Layouts of published data sets, one file each; a file in this folder is found by itself."""
