"""One file an augmentation; a file here is found by being here."""
