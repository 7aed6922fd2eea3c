"""Methods of self-supervised learning, one per file; `discovery` finds them by name."""
