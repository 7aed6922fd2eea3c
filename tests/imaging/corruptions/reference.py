"""The published definitions, written out slowly with NumPy, SciPy, Pillow and OpenCV in float64.

Each takes (image, parameters, sampled) as the functions of the package do. What the published code
truncates is truncated here.
"""

import io
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import PIL.Image
from scipy import ndimage, stats

Reference = Callable[[np.ndarray, Any, Any], np.ndarray]


def unit(image: np.ndarray) -> np.ndarray:
    return image.astype(np.float64) / 255.0


def levels(values: np.ndarray) -> np.ndarray:
    return (np.clip(values, 0, 1) * 255).astype(np.uint8)


def gaussian_noise(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    return levels(unit(image) + parameters[0] * sampled.astype(np.float64))


def shot_noise(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    counts = np.maximum(stats.poisson.ppf(sampled, unit(image) * parameters[0]), 0)
    return levels(counts / parameters[0])


def impulse_noise(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    hit, white = sampled < parameters[0], sampled < parameters[0] / 2
    return levels(np.where(hit & white, 1.0, np.where(hit, 0.0, unit(image))))


def defocus_blur(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    radius, softness = parameters
    half = 8 if radius <= 8 else int(radius)
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    disc = np.where(x**2 + y**2 <= radius**2, 1, 0).astype(np.float32)
    disc /= disc.sum()
    kernel = cv2.GaussianBlur(disc, (3, 3) if radius <= 8 else (5, 5), sigmaX=softness)
    planes = [
        ndimage.correlate(plane, kernel.astype(np.float64), mode="mirror")
        for plane in np.moveaxis(unit(image), 2, 0)
    ]
    return levels(np.stack(planes, axis=2))


def glass_blur(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    sigma, reach, rounds = parameters
    shape = [sigma, sigma, 0]
    shuffled = (ndimage.gaussian_filter(unit(image), shape, mode="nearest") * 255).astype(np.uint8)
    height, width = image.shape[:2]
    for number in range(rounds):
        for j, y in enumerate(range(height - reach, reach, -1)):
            for k, x in enumerate(range(width - reach, reach, -1)):
                right, below = (int(offset) for offset in sampled[number, j, k])
                shuffled[y, x] = shuffled[y + below, x + right]
    return levels(ndimage.gaussian_filter(shuffled / 255.0, shape, mode="nearest"))


def smeared(field: np.ndarray, radius: float, sigma: float, degrees: float) -> np.ndarray:
    count = 2 * radius + 1
    weights = np.exp(-(np.arange(count) ** 2) / (2 * sigma**2)) / (np.sqrt(2 * np.pi) * sigma)
    height, width = field.shape[:2]
    total = np.zeros(field.shape)
    for i, weight in enumerate(weights / weights.sum()):
        down = int(np.ceil(i * np.sin(np.deg2rad(degrees)) - 0.5))
        across = int(np.ceil(i * np.cos(np.deg2rad(degrees)) - 0.5))
        rows = np.clip(np.arange(height) + down, 0, height - 1)
        columns = np.clip(np.arange(width) + across, 0, width - 1)
        total += weight * field[rows][:, columns]
    return total


def motion_blur(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    return np.clip(smeared(image, *parameters, sampled), 0, 255).astype(np.uint8)


def middle_zoomed(field: np.ndarray, factor: float) -> np.ndarray:
    height, width = (int(np.ceil(side / factor)) for side in field.shape[:2])
    top, left = (field.shape[0] - height) // 2, (field.shape[1] - width) // 2
    crop = field[top : top + height, left : left + width]
    return ndimage.zoom(crop, (factor, factor, 1), order=1)


def zoom_blur(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    factors = np.arange(1, *parameters)
    sharp = unit(image).astype(np.float32)
    total = np.zeros_like(sharp)
    for factor in factors:
        total += middle_zoomed(sharp, factor)[: image.shape[0], : image.shape[1]]
    return levels((sharp + total) / (len(factors) + 1))


def snow(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    mean, deviation, zoom, least, radius, sigma, share = parameters
    layer = middle_zoomed((mean + deviation * sampled.flakes.astype(np.float64))[..., None], zoom)
    layer = smeared(
        np.clip(np.where(layer < least, 0, layer), 0, 1), radius, sigma, sampled.degrees
    )
    layer = np.round(layer * 255)[: image.shape[0], : image.shape[1]] / 255.0
    pixels = unit(image).astype(np.float32)
    white = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)[..., None] * 1.5 + 0.5
    whitened = share * pixels + (1 - share) * np.maximum(pixels, white)
    return levels(whitened + layer + np.rot90(layer, 2))


def fog(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    weight, decay = parameters
    side = round(np.sqrt(sampled.size + 1))
    cloud, noise = np.zeros((side, side)), iter(sampled)
    step, wobble = side, 100.0

    def near(grid: np.ndarray, down: int, across: int) -> np.ndarray:
        return np.roll(grid, (-down, -across), (0, 1))

    while step > 1:
        corners = cloud[::step, ::step]
        middles = cloud[step // 2 :: step, step // 2 :: step]
        count = side // step

        def jitter(count: int = count, wobble: float = wobble) -> np.ndarray:
            drawn_now = np.array([next(noise) for _ in range(count**2)])
            return wobble * (wobble * drawn_now.reshape(count, count))

        ends = corners + near(corners, 1, 0)
        middles[:] = (ends + near(ends, 0, 1)) / 4 + jitter()
        upper = (middles + near(middles, -1, 0)) + (corners + near(corners, 0, 1))
        cloud[::step, step // 2 :: step] = upper / 4 + jitter()
        left = (middles + near(middles, 0, -1)) + (corners + near(corners, 1, 0))
        cloud[step // 2 :: step, ::step] = left / 4 + jitter()
        step, wobble = step // 2, wobble / decay
    cloud = (cloud - cloud.min()) / (cloud - cloud.min()).max()
    pixels = unit(image)
    brightest = pixels.max()
    foggy = pixels + weight * cloud[: image.shape[0], : image.shape[1], None]
    return levels(foggy * brightest / (brightest + weight))


def brightness(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    pixels = unit(image).reshape(-1, 3)
    out = np.empty_like(pixels)
    for i, (r, g, b) in enumerate(pixels.tolist()):
        value, chroma = max(r, g, b), max(r, g, b) - min(r, g, b)
        hue = saturation = 0.0
        if chroma:
            saturation = chroma / value
            if b == value:
                hue = 4 + (r - g) / chroma
            elif g == value:
                hue = 2 + (b - r) / chroma
            else:
                hue = (g - b) / chroma
            hue = hue / 6 % 1
        value = min(value + parameters[0], 1.0)
        sector, part = divmod(hue * 6, 1)
        low, falling = value * (1 - saturation), value * (1 - part * saturation)
        rising = value * (1 - (1 - part) * saturation)
        out[i] = [
            (value, rising, low),
            (falling, value, low),
            (low, value, rising),
            (low, falling, value),
            (rising, low, value),
            (value, low, falling),
        ][int(sector) % 6]
    return levels(out).reshape(image.shape)


def contrast(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    pixels = unit(image)
    means = pixels.mean((0, 1), keepdims=True)
    return levels((pixels - means) * parameters[0] + means)


def elastic_transform(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    height, width = image.shape[:2]
    side = min(height, width)
    amount, sigma, reach = (side * number for number in parameters)
    x, y, away = width // 2, height // 2, side // 3
    points = np.array([(x + away, y + away), (x + away, y - away), (x - away, y - away)])
    moved = points.astype(np.float32) + (reach * sampled.corners).astype(np.float32)
    affine = cv2.getAffineTransform(points.astype(np.float32), moved)
    pixels = unit(image).astype(np.float32)
    pixels = cv2.warpAffine(pixels, affine, (width, height), borderMode=cv2.BORDER_REFLECT_101)
    down, across = (
        (ndimage.gaussian_filter(noise, sigma, mode="reflect", truncate=3) * amount).astype("f4")
        for noise in (sampled.down, sampled.across)
    )
    rows, columns = np.mgrid[:height, :width]
    planes = [
        ndimage.map_coordinates(plane, [rows + down, columns + across], order=1, mode="reflect")
        for plane in np.moveaxis(pixels, 2, 0)
    ]
    return levels(np.stack(planes, axis=2))


def pixelate(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    height, width = image.shape[:2]
    size = (int(width * parameters[0]), int(height * parameters[0]))
    small = PIL.Image.fromarray(image).resize(size, PIL.Image.Resampling.BOX)
    return np.array(small.resize((width, height), PIL.Image.Resampling.NEAREST))


def jpeg_compression(image: np.ndarray, parameters: Any, sampled: Any) -> np.ndarray:
    file = io.BytesIO()
    PIL.Image.fromarray(image).save(file, "JPEG", quality=parameters[0])
    return np.array(PIL.Image.open(file))


REFERENCES: dict[str, Reference] = {
    function.__name__: function
    for function in (
        gaussian_noise,
        shot_noise,
        impulse_noise,
        defocus_blur,
        glass_blur,
        motion_blur,
        zoom_blur,
        snow,
        fog,
        brightness,
        contrast,
        elastic_transform,
        pixelate,
        jpeg_compression,
    )
}
