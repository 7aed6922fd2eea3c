"""Data: folders, tar files, shards, named data sets and `shapes`; decoding; the loader."""
