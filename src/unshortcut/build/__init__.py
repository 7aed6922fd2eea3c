"""Create a filtered copy of a data set, on this machine or on a Ray cluster."""
