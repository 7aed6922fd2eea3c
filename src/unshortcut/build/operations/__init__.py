"""What can be done to each image of a data set: one file an operation."""
