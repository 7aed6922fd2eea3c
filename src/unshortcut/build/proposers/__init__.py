"""Ways to propose boxes, one file for each."""
