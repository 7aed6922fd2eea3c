"""One file a method; a file here is found by being here."""
