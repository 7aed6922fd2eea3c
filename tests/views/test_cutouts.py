"""Parts of images as images of their own."""

import io

import numpy as np
from PIL import Image as PillowImage

from unshortcut.data.decode import EncodedImage
from unshortcut.data.shapes import Shapes
from unshortcut.views.cutouts import Cutout, Cutouts
from unshortcut.views.regions import Region


def test_a_cutout_has_the_pixels_of_its_box() -> None:
    source = Shapes("scene", size=64, count=3)
    cutouts = Cutouts(source, [2, 0], [(3, 5, 20, 11), (0, 0, 64, 64)])
    pixels = source.image(2).array
    first = cutouts.image(0)
    assert (first.height, first.width) == (6, 17)
    np.testing.assert_array_equal(first.pixels(), pixels[5:11, 3:20])
    np.testing.assert_array_equal(cutouts.image(1).pixels(), source.image(0).array)
    assert len(cutouts) == 2 and cutouts.identity(0).startswith(source.identity(2))
    assert cutouts.fingerprint() != Cutouts(source, [2, 0], [(3, 5, 20, 12)] * 2).fingerprint()


def test_a_box_beyond_the_image_is_cut_at_its_border() -> None:
    source = Shapes("scene", size=32, count=1)
    cutout = Cutouts(source, [0], [(20.4, -3.0, 50.0, 8.6)]).image(0)
    np.testing.assert_array_equal(cutout.pixels(), source.image(0).array[:9, 20:])


def test_a_jpeg_that_is_decoded_smaller_shows_the_same_part() -> None:
    pixels = np.zeros((256, 256, 3), np.uint8)
    pixels[64:128, 128:192] = 255
    file = io.BytesIO()
    PillowImage.fromarray(pixels).save(file, "jpeg", quality=95)
    cutout = Cutout(EncodedImage(file.getvalue()), Region(64, 128, 64, 64))
    small = cutout.pixels(shrink=4)
    assert small.shape[:2] == (16, 16)
    assert small[1:-1, 1:-1].min() > 200
