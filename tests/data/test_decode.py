"""Every kind of file becomes upright RGB, no finer than requested, or is refused with a reason.

The reference is Pillow, called directly.
"""

import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import PIL.Image
import PIL.ImageOps
import pytest

from unshortcut.data import decode
from unshortcut.data.decode import EncodedImage, quieten_pillow
from unshortcut.data.source import BadImageError


def picture(height: int = 60, width: int = 90) -> np.ndarray:
    """A smooth picture whose four corners differ, so that a wrong turn shows."""
    y, x = np.mgrid[0:height, 0:width]
    red, green = 255 * y / max(height - 1, 1), 255 * x / max(width - 1, 1)
    return np.stack([red, green, 255 - (red + green) / 2], axis=-1).astype(np.uint8)


def encoded(image: PIL.Image.Image | np.ndarray, kind: str, **options: Any) -> bytes:
    if isinstance(image, np.ndarray):
        image = PIL.Image.fromarray(image)
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def by_pillow(data: bytes) -> np.ndarray:
    image = PIL.ImageOps.exif_transpose(PIL.Image.open(io.BytesIO(data)))
    return np.asarray(image.convert("RGB")).astype(int)


def difference(pixels: np.ndarray, reference: np.ndarray) -> float:
    assert pixels.dtype == np.uint8
    assert pixels.shape == reference.shape
    return float(np.abs(pixels.astype(int) - reference).mean())


@pytest.mark.parametrize(
    "make",
    [
        lambda image: encoded(image, "JPEG", quality=90),
        lambda image: encoded(image, "JPEG", quality=90, subsampling=0, progressive=True),
        lambda image: encoded(image, "JPEG", keep_rgb=True),
        lambda image: encoded(image.convert("L"), "JPEG"),
        lambda image: encoded(image.convert("CMYK"), "JPEG"),
        lambda image: encoded(image, "PNG"),
        lambda image: encoded(image.convert("L"), "PNG"),
        lambda image: encoded(image.convert("1"), "PNG"),
        lambda image: encoded(image.convert("P"), "PNG"),
        lambda image: encoded(image, "WEBP", lossless=True),
        lambda image: encoded(image, "TIFF"),
        lambda image: encoded(image, "BMP"),
        lambda image: encoded(image, "PPM"),
        lambda image: encoded(image.convert("P"), "GIF"),
    ],
)
def test_kinds_of_files_decode_as_pillow_does(make: Callable[[PIL.Image.Image], bytes]) -> None:
    data = make(PIL.Image.fromarray(picture()))
    image = EncodedImage(data)
    assert (image.height, image.width) == (60, 90)
    assert difference(image.pixels(), by_pillow(data)) < 0.1


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_exif_orientation_is_undone(kind: str, orientation: int) -> None:
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    data = encoded(picture(), kind, exif=exif)
    image = EncodedImage(data)
    assert (image.height, image.width) == ((60, 90) if orientation < 5 else (90, 60))
    assert difference(image.pixels(), by_pillow(data)) < 0.1


@pytest.mark.parametrize("order", ["<", ">"])
def test_both_byte_orders_of_exif_are_read(order: str) -> None:
    exif = PIL.Image.Exif()
    exif[0x010F] = "a maker's name, before the orientation"
    exif[0x0112] = 6
    exif.endian = order
    assert EncodedImage(encoded(picture(), "JPEG", exif=exif)).height == 90


@pytest.mark.parametrize("shrink", [1.0, 1.9, 2.0, 3.0, 4.5, 8.0, 100.0])
@pytest.mark.parametrize("orientation", [1, 6])
def test_a_shrunk_jpeg_is_never_smaller_than_asked(shrink: float, orientation: int) -> None:
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    data = encoded(picture(331, 517), "JPEG", exif=exif, quality=95)
    image = EncodedImage(data)
    pixels = image.pixels(shrink)
    assert pixels.shape[0] >= image.height / shrink
    assert pixels.shape[1] >= image.width / shrink
    assert pixels.shape[0] <= np.ceil(image.height / min(max(shrink / 2, 1), 8))
    small = PIL.Image.fromarray(by_pillow(data).astype(np.uint8)).resize(
        (pixels.shape[1], pixels.shape[0]), PIL.Image.Resampling.BOX
    )
    assert difference(pixels, np.asarray(small).astype(int)) < 2


def test_16_bit_gray_is_scaled_and_not_cut() -> None:
    levels = np.linspace(0, 65535, 64 * 64).reshape(64, 64).astype(np.uint16)
    for kind in ("PNG", "TIFF"):
        pixels = EncodedImage(encoded(levels, kind)).pixels()
        assert np.abs(pixels[..., 0] - levels / 257).max() <= 0.5
        assert (pixels[..., 0] == pixels[..., 2]).all()


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparency_lies_on_white(mode: str) -> None:
    image = PIL.Image.new("RGBA", (2, 1), (100, 100, 100, 255))
    image.putpixel((1, 0), (100, 100, 100, 0))
    pixels = EncodedImage(encoded(image.convert(mode), "PNG")).pixels()
    np.testing.assert_array_equal(pixels, [[[100] * 3, [255] * 3]])


def test_a_transparent_palette_color_lies_on_white() -> None:
    image = PIL.Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 0, 0])
    image.putpixel((1, 0), 1)
    for kind in ("PNG", "GIF"):
        pixels = EncodedImage(encoded(image, kind, transparency=1)).pixels()
        np.testing.assert_array_equal(pixels, [[[10, 20, 30], [255] * 3]])


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF"])
def test_an_animation_gives_its_first_frame(kind: str) -> None:
    frames = [PIL.Image.new("RGB", (20, 10), color) for color in ("red", "lime", "blue")]
    data = encoded(frames[0], kind, save_all=True, append_images=frames[1:])
    pixels = EncodedImage(data).pixels()
    assert pixels.shape == (10, 20, 3)
    assert np.abs(pixels.astype(int) - (255, 0, 0)).max() < 8


@pytest.mark.parametrize("shape", [(1, 1), (1, 5000), (5000, 1)])
@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_thin_images_are_valid(kind: str, shape: tuple[int, int]) -> None:
    for shrink in (1.0, 8.0):
        pixels = EncodedImage(encoded(picture(*shape), kind)).pixels(shrink)
        assert min(pixels.shape) >= 1
        if shrink == 1.0:
            assert pixels.shape == (*shape, 3)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"hello, this is a text", "not an image"),
        (b"\xff\xd8\xff", "not an image"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", "not an image"),
    ],
)
def test_what_is_no_image_is_refused_by_its_header(data: bytes, reason: str) -> None:
    with pytest.raises(BadImageError, match=reason):
        EncodedImage(data)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "TIFF", "WEBP", "BMP"])
@pytest.mark.parametrize("part", [0.02, 0.3, 0.6, 0.97])
def test_a_truncated_file_is_refused(kind: str, part: float) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    data = encoded(noise, kind)
    with pytest.raises(BadImageError):
        EncodedImage(data[: int(len(data) * part)]).pixels()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "TIFF", "WEBP", "BMP"])
def test_damaged_bytes_give_pixels_or_a_refusal(kind: str) -> None:
    rng = np.random.default_rng(0)
    whole = np.frombuffer(encoded(picture(), kind), np.uint8)
    for _ in range(60):
        data = whole.copy()
        indices = rng.integers(0, min(len(data), 400), 4)
        data[indices] = rng.integers(0, 256, 4)
        try:
            image = EncodedImage(data.tobytes())
            assert image.pixels().shape == (image.height, image.width, 3)
        except BadImageError as error:
            assert str(error)


def test_bombs_are_refused_by_the_header_without_a_warning() -> None:
    def bomb(kind: str) -> bytes:
        return encoded(PIL.Image.new("1" if kind == "PNG" else "L", (20_000, 10_000)), kind)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in ("PNG", "JPEG"):
            with pytest.raises(BadImageError, match="too large"):
                EncodedImage(bomb(kind))


def test_an_image_between_pillows_two_limits_is_quietly_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 4000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        quieten_pillow()
        assert EncodedImage(encoded(picture(), "PNG")).pixels().shape == (60, 90, 3)
    assert not caught


def test_a_size_of_zero_is_refused() -> None:
    data = bytearray(encoded(picture(), "JPEG"))
    frame = data.index(b"\xff\xc0")
    data[frame + 5 : frame + 7] = b"\x00\x00"
    with pytest.raises(BadImageError):
        EncodedImage(bytes(data))


def test_a_jpeg_that_the_fast_decoder_refuses_goes_through_pillow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise ValueError("extraneous bytes before marker")

    data = encoded(picture(), "JPEG")
    monkeypatch.setattr(decode.simplejpeg, "decode_jpeg", refuse)
    assert difference(EncodedImage(data).pixels(4.0), by_pillow(data)) == 0


def test_the_header_alone_is_enough_to_know_the_size() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (500, 600, 3), dtype=np.uint8)
    for kind in ("JPEG", "PNG"):
        image = EncodedImage(encoded(noise, kind)[:2000])
        assert (image.height, image.width) == (500, 600)
