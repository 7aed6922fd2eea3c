"""Networks that turn an image into an image: the generators and the discriminator of Pix2Pix."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
