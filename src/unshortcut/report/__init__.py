"""The report of an audit: one HTML page, or a table in a terminal."""
