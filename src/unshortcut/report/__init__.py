"""What an audit found, for people: one HTML page, or a table in a terminal."""
