"""One file a source of negatives; a file here is found by being here."""
