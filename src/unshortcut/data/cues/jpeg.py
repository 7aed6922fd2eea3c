"""`jpeg`: all images are JPEG files, those of one class of a lower quality."""

from typing import Annotated, ClassVar

import numpy as np
import simplejpeg
from pydantic import Field

from unshortcut.data.cues._one_class import CueOfOneClass
from unshortcut.data.decode import EncodedImage
from unshortcut.data.source import Image
from unshortcut.parts import settings

Quality = Annotated[int, Field(ge=1, le=100)]


@settings
class Jpeg(CueOfOneClass):
    """Images encoded as JPEG, with a quality that tells the class.

    Args:
        quality: quality of the images that carry the cue.
        others: quality of all others.
    """

    name: ClassVar[str] = "jpeg"

    quality: Quality = 40
    others: Quality = 90

    def image(self, image: Image, label: int, index: int, carries: bool) -> Image:
        pixels = np.ascontiguousarray(image.pixels())
        quality = self.quality if carries else self.others
        return EncodedImage(simplejpeg.encode_jpeg(pixels, quality=quality))
