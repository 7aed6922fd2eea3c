"""The kinds of probes, one file each; a file in this folder is found without being listed."""
