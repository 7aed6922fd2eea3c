"""Models with several embedding spaces (LooC): load them, probe subsets, and choose among them."""
