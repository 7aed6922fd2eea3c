"""The published parameters of each corruption at severities 1 to 5.

They are those of Hendrycks and Dietterich 2019 (hendrycks/robustness): `make_imagenet_c.py` for
images of 224 px and `make_cifar_c.py` for images of 32 px. Lengths are in pixels, and intensities
on a scale of 0..1, unless a comment says otherwise.
"""

from typing import Literal, get_args

from unshortcut.errors import UsageError, unknown

Severities = Literal["imagenet", "cifar"]
"""The two published sets; both can be used with images of any size."""

SEVERITIES: tuple[Severities, ...] = get_args(Severities)

Parameters = tuple[float, ...]
"""The parameters of a corruption at one severity; the function that applies it names them."""


def parameters(name: str, severity: int, severities: str = "imagenet") -> Parameters:
    """The parameters of a corruption at a severity from 1 to 5.

    Raises:
        UsageError: the name, the severity or the set is unknown.
    """
    if severities not in _TABLES:
        raise unknown("set of severities", severities, _TABLES)
    table = _TABLES[severities]
    if name not in table:
        raise unknown("corruption", name, table)
    levels = table[name]
    if isinstance(severity, bool) or severity not in range(1, len(levels) + 1):
        raise UsageError(f"severity must be an integer from 1 to {len(levels)}, not {severity}")
    return levels[severity - 1]


Levels = tuple[Parameters, Parameters, Parameters, Parameters, Parameters]

_IMAGENET: dict[str, Levels] = {
    # standard deviation
    "gaussian_noise": ((0.08,), (0.12,), (0.18,), (0.26,), (0.38,)),
    # number of photons at full brightness
    "shot_noise": ((60,), (25,), (12,), (5,), (3,)),
    # fraction of the values
    "impulse_noise": ((0.03,), (0.06,), (0.09,), (0.17,), (0.27,)),
    # radius of the disk, standard deviation of its soft edge
    "defocus_blur": ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)),
    # standard deviation of the blur, largest displacement, number of rounds
    "glass_blur": ((0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)),
    # radius (the length is 2 radius + 1), standard deviation of the weights
    "motion_blur": ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),
    # end (exclusive) and step of the zoom factors, which start at 1
    "zoom_blur": ((1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)),
    # mean and standard deviation of the flakes, their zoom, the lowest value that is kept, radius
    # and standard deviation of their motion blur, weight of the image that is not whitened
    "snow": (
        (0.1, 0.3, 3, 0.5, 10, 4, 0.8),
        (0.2, 0.3, 2, 0.5, 12, 4, 0.7),
        (0.55, 0.3, 4, 0.9, 12, 8, 0.7),
        (0.55, 0.3, 4.5, 0.85, 12, 8, 0.65),
        (0.55, 0.3, 2.5, 0.85, 12, 12, 0.55),
    ),
    # weight of the image, weight of the frost, scale of the frost
    "frost": ((1, 0.4, 1), (0.8, 0.6, 1), (0.7, 0.7, 1), (0.65, 0.7, 1), (0.6, 0.75, 1)),
    # weight of the fog, factor by which each octave is weaker than the one before
    "fog": ((1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)),
    # added to the value channel of HSV
    "brightness": ((0.1,), (0.2,), (0.3,), (0.4,), (0.5,)),
    # fraction of the contrast that remains
    "contrast": ((0.4,), (0.3,), (0.2,), (0.1,), (0.05,)),
    # relative to the shorter side: displacement, standard deviation of its blur, extent of the
    # affine part. The script has 244 times 2, 0.7, 0.1 and so on, for images of 224 px.
    "elastic_transform": (
        (244 * 2 / 224, 244 * 0.7 / 224, 244 * 0.1 / 224),
        (244 * 2 / 224, 244 * 0.08 / 224, 244 * 0.2 / 224),
        (244 * 0.05 / 224, 244 * 0.01 / 224, 244 * 0.02 / 224),
        (244 * 0.07 / 224, 244 * 0.01 / 224, 244 * 0.02 / 224),
        (244 * 0.12 / 224, 244 * 0.01 / 224, 244 * 0.02 / 224),
    ),
    # side of the reduced image, relative to the original
    "pixelate": ((0.6,), (0.5,), (0.4,), (0.3,), (0.25,)),
    # JPEG quality
    "jpeg_compression": ((25,), (18,), (15,), (10,), (7,)),
}

_CIFAR: dict[str, Levels] = {
    "gaussian_noise": ((0.04,), (0.06,), (0.08,), (0.09,), (0.10,)),
    "shot_noise": ((500,), (250,), (100,), (75,), (50,)),
    "impulse_noise": ((0.01,), (0.02,), (0.03,), (0.05,), (0.07,)),
    "defocus_blur": ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1)),
    "glass_blur": ((0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2)),
    "motion_blur": ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)),
    "zoom_blur": ((1.06, 0.01), (1.11, 0.01), (1.16, 0.01), (1.21, 0.01), (1.26, 0.01)),
    "snow": (
        (0.1, 0.2, 1, 0.6, 8, 3, 0.95),
        (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
        (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
        (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
        (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
    ),
    "frost": ((1, 0.2, 0.2), (1, 0.3, 0.2), (0.9, 0.4, 0.2), (0.85, 0.4, 0.2), (0.75, 0.45, 0.2)),
    "fog": ((0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)),
    "brightness": ((0.05,), (0.1,), (0.15,), (0.2,), (0.3,)),
    "contrast": ((0.75,), (0.5,), (0.4,), (0.3,), (0.15,)),
    "elastic_transform": (
        (0, 0, 0.08),
        (0.05, 0.2, 0.07),
        (0.08, 0.06, 0.06),
        (0.1, 0.04, 0.05),
        (0.1, 0.03, 0.03),
    ),
    "pixelate": ((0.95,), (0.9,), (0.85,), (0.75,), (0.65,)),
    "jpeg_compression": ((80,), (65,), (58,), (50,), (40,)),
}

_TABLES: dict[str, dict[str, Levels]] = {"imagenet": _IMAGENET, "cifar": _CIFAR}
