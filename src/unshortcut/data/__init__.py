"""Where images come from: folders, tar files and shards, named data sets, `shapes`; decoding; the loader."""
