"""Running an audit: every measurement of every model, the findings, and requirements on them."""
