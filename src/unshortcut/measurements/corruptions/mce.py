"""Mean corruption error, mCE: errors under corruptions over those of a reference model.

Hendrycks & Dietterich (2019), section 4.1. The mCE is normalized; scripts that print a plain mean
of errors under that name give another number.
"""

import numpy as np
from numpy.typing import NDArray

Errors = NDArray[np.float64]
"""(C,) shares of wrong decisions under each corruption, each a mean over the five severities."""

ALEXNET_ERRORS = {
    "gaussian_noise": 0.886428,
    "shot_noise": 0.894468,
    "impulse_noise": 0.922640,
    "defocus_blur": 0.819880,
    "glass_blur": 0.826268,
    "motion_blur": 0.785948,
    "zoom_blur": 0.798360,
    "snow": 0.866816,
    "frost": 0.826572,
    "fog": 0.819324,
    "brightness": 0.564592,
    "contrast": 0.853204,
    "elastic_transform": 0.646056,
    "pixelate": 0.717840,
    "jpeg_compression": 0.606500,
}
"""Of AlexNet on ImageNet-C (hendrycks/robustness; google-research/augmix, `imagenet.py`)."""
ALEXNET_CLEAN_ERROR = 0.43478
"""Of the same weights on ImageNet, torchvision's (hendrycks/robustness#38); 43.5 % in the paper."""


def corruption_errors(errors: Errors, reference: Errors) -> Errors:
    """CE of each corruption (C,): a model's error over the reference's; NaN where that has none."""
    return _over(errors, reference)


def mce(errors: Errors, reference: Errors) -> float:
    """The mean of the corruption errors; 1 is as wrong as the reference."""
    return float(corruption_errors(errors, reference).mean())


def relative_mce(errors: Errors, clean: float, reference: Errors, reference_clean: float) -> float:
    """The mean over corruptions of what each adds to a model's error over what it adds to the
    reference's; NaN where it adds nothing to that.
    """
    return float(_over(errors - clean, reference - reference_clean).mean())


def _over(part: Errors, whole: Errors) -> Errors:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
