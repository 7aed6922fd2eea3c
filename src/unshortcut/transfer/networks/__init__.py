"""Networks that put an encoder to use: detectors and segmenters of torchvision."""
