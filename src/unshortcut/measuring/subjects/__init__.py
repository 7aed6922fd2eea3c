"""What is under audit: models that decide, the images that they are asked about, their classes."""
