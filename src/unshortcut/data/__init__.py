"""Where images come from: folders, tars, shards, named sets, `shapes`; decoding; the loader."""
