"""The cues that can be planted in a data set; one file per kind."""
