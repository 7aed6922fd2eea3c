"""One file a way of making a view; a file here is found by being here."""
