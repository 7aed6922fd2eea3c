"""One file a kind of probe; a file here is found by being here."""
