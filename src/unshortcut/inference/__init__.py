"""From images to features or logits: decoded ahead in threads, normalized, run through a model."""
