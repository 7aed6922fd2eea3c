"""ViewContext a data set out of a data set, on this machine or on a Ray cluster."""
