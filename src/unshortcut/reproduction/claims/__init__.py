"""Claims of the papers: one file each."""
