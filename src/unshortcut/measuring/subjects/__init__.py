"""Models under audit, the images they are shown, and the classes they decide between."""
