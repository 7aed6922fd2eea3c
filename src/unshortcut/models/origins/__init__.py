"""Where models come from, by the prefix of their specs; one file per origin."""
