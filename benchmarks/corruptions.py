"""The corruptions of ImageNet-C compared with those of `imagecorruptions` that still run.

Photographs of 224 px on one core, all five severities, including the sampling of random numbers.
If both have the same definition and the package's random numbers can be replaced by ours, the
results must be equal to the pixel; otherwise the benchmark exits.
"""

import importlib.util
import sys
import time
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import cv2
import numpy as np

from benchmarks.common import Paired, alternate, json_target, read_photos, report
from unshortcut.data.decode import EncodedImage
from unshortcut.imaging.corruptions import CORRUPTIONS, corrupt, parameters
from unshortcut.randomness import generator

PHOTOS, ROUNDS, SIDE = 4, 5, 224
SEVERITIES = range(1, 6)
PACKAGES = ["imagecorruptions", "scikit-image", "scipy", "numpy", "numba", "pillow"]
Corrupt = Callable[[np.ndarray, str, int], np.ndarray]

# Replacements of NumPy's random functions in the package that return our sampled parameters. The
# other random corruptions sample elsewhere (impulse noise in scikit-image), sample the result
# itself (shot noise), use other pictures (frost) or have another definition (elastic transform).
INJECTED: Mapping[str, Callable[[Any], dict[str, Callable[..., Any]]]] = {
    **dict.fromkeys(
        ("defocus_blur", "zoom_blur", "brightness", "contrast", "pixelate", "jpeg_compression"),
        lambda sampled: {},
    ),
    "gaussian_noise": lambda sampled: {
        "normal": lambda size, scale: scale * sampled.astype(np.float64),
    },
    "motion_blur": lambda sampled: {"uniform": lambda low, high: sampled},
    "snow": lambda sampled: {
        "normal": lambda size, loc, scale: loc + scale * sampled.flakes.astype(np.float64),
        "uniform": lambda low, high: sampled.degrees,
    },
}


def main() -> None:
    target = json_target("corruptions")
    cv2.setNumThreads(0)
    theirs = package()
    photos = [center(EncodedImage(photo).pixels()) for photo in read_photos()[:PHOTOS]]
    timed: dict[str, Paired] = {}
    alone: dict[str, float] = {}
    print(f"{'milliseconds an image':24}{'ours':>8}{'package':>10}{'ratio':>8}")
    for name in CORRUPTIONS:
        if runs(theirs, photos[0], name):
            timed[name] = compare(theirs, photos, name)
            ours, peer = (median(seconds) for seconds in (timed[name].ours, timed[name].peer))
            equal = ""
            if name in INJECTED:
                check_equal(theirs, photos, name)
                equal = "equal"
            columns = f"{milliseconds(peer):10.2f}{timed[name].ratio:8.1f}  {equal}"
        else:
            ours = alone[name] = time_alone(photos, name)
            columns = f"{'fails':>10}"
        print(f"{name:24}{milliseconds(ours):8.2f}{columns}")
    rounds = list(zip(*(pair.ours for pair in timed.values()), strict=True))
    peers = list(zip(*(pair.peer for pair in timed.values()), strict=True))
    total = Paired([sum(one) for one in rounds], [sum(one) for one in peers])
    seconds = median(total.ours) + sum(alone.values())
    report(
        "corruptions",
        {
            "corruptions_vs_imagecorruptions": total.ratio,
            "corruptions_images_per_second": len(CORRUPTIONS) * PHOTOS * len(SEVERITIES) / seconds,
        },
        PACKAGES,
        target,
    )


def package() -> Corrupt:
    """The package's function; it needs `pkg_resources`, which current versions of Python lack."""
    spec = importlib.util.find_spec("imagecorruptions")
    if spec is None or spec.origin is None:
        sys.exit("the package imagecorruptions is not installed")
    folder = Path(spec.origin).parent
    resources = types.ModuleType("pkg_resources")
    resources.resource_filename = lambda module, name: str(folder / name)  # type: ignore[attr-defined]
    with warnings.catch_warnings(), patch.dict(sys.modules, {"pkg_resources": resources}):
        warnings.simplefilter("ignore")
        module = importlib.import_module("imagecorruptions")

    def theirs(image: np.ndarray, name: str, severity: int) -> np.ndarray:
        return module.corrupt(image, severity, name)

    return theirs


def runs(theirs: Corrupt, photo: np.ndarray, name: str) -> bool:
    """Whether a corruption of the package runs with current libraries."""
    try:
        theirs(photo, name, 1)
    except (AttributeError, TypeError):
        return False
    return True


def compare(theirs: Corrupt, photos: Sequence[np.ndarray], name: str) -> Paired:
    """Seconds per round for all photographs at all severities."""
    cases = [(photo, severity) for photo in photos for severity in SEVERITIES]
    return alternate(
        lambda item: corrupt(cases[item][0], name, cases[item][1], generator(item)),
        lambda item: theirs(cases[item][0], name, cases[item][1]),
        len(cases),
        ROUNDS,
    )


def time_alone(photos: Sequence[np.ndarray], name: str) -> float:
    """Our median seconds per round, for corruptions that do not run in the package."""
    rounds = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        for photo in photos:
            for severity in SEVERITIES:
                corrupt(photo, name, severity, generator(severity))
        rounds.append(time.perf_counter() - start)
    return median(rounds[1:])


def check_equal(theirs: Corrupt, photos: Sequence[np.ndarray], name: str) -> None:
    """Exit if a pixel differs for the same sampled parameters."""
    for photo in photos:
        for severity in SEVERITIES:
            numbers = parameters(name, severity)
            sampled = CORRUPTIONS[name].sample(generator(severity), SIDE, SIDE, numbers)
            ours = CORRUPTIONS[name].apply(photo, numbers, sampled)
            with patch.dict(vars(np.random), INJECTED[name](sampled)):
                reference = theirs(photo, name, severity)
            differing = int((ours != reference).sum())
            if differing:
                sys.exit(f"{name} at severity {severity} differs in {differing} samples")


def milliseconds(seconds: float) -> float:
    """Milliseconds per image, given the seconds of a round."""
    return 1000 * seconds / (PHOTOS * len(SEVERITIES))


def center(image: np.ndarray) -> np.ndarray:
    """The central 224 × 224 pixels."""
    top, left = (image.shape[0] - SIDE) // 2, (image.shape[1] - SIDE) // 2
    return np.ascontiguousarray(image[top : top + SIDE, left : left + SIDE])


if __name__ == "__main__":
    main()
