"""Networks of dense tasks: heads on the feature maps of an encoder."""
