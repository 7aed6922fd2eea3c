"""Pictures of inspected images for the page."""

import numpy as np

from unshortcut.data.source import BadImageError
from unshortcut.inspection.collection import Collection
from unshortcut.measuring.exhibits import Picture, picture


def collection_picture(
    collection: Collection, number: int, caption: str, mark: str = ""
) -> Picture:
    """A picture of an image; a gray one if it can no longer be read."""
    try:
        pixels = collection.image(number)
    except BadImageError:
        pixels = np.full((64, 64, 3), 127, np.uint8)
    return picture(pixels, caption, mark)
