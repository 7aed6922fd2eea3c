"""The measurements of the audit, one a file; a file of this folder is found by being in it."""
