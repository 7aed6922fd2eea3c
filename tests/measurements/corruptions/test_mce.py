"""The mCE: against published errors, and by hand."""

import numpy as np
import pytest
from torchvision.models import AlexNet_Weights

from unshortcut.measuring.corruption_accuracy import (
    ALEXNET_CLEAN_ERROR,
    ALEXNET_ERRORS,
    corruption_errors,
    mce,
    relative_mce,
)

# AlexNet's errors at severities 1 to 5, as its evaluators gave them (hendrycks/robustness#10).
BY_SEVERITY = {
    "gaussian_noise": (0.69528, 0.82542, 0.93554, 0.98138, 0.99452),
    "shot_noise": (0.71224, 0.85108, 0.93574, 0.98182, 0.99146),
    "impulse_noise": (0.78374, 0.89808, 0.9487, 0.9872, 0.99548),
    "defocus_blur": (0.65624, 0.73202, 0.85036, 0.91364, 0.94714),
    "glass_blur": (0.64308, 0.75054, 0.88806, 0.91622, 0.93344),
    "motion_blur": (0.5843, 0.70048, 0.82108, 0.8975, 0.92638),
    "zoom_blur": (0.70008, 0.76992, 0.80784, 0.84198, 0.87198),
    "snow": (0.71726, 0.88392, 0.86468, 0.9187, 0.94952),
    "frost": (0.6139, 0.79734, 0.8879, 0.89942, 0.9343),
    "fog": (0.67474, 0.7605, 0.84378, 0.8726, 0.945),
    "brightness": (0.4514, 0.48502, 0.54048, 0.62166, 0.7244),
    "contrast": (0.64548, 0.7615, 0.88874, 0.9776, 0.9927),
    "elastic_transform": (0.52596, 0.70116, 0.55686, 0.64076, 0.80554),
    "pixelate": (0.52218, 0.5462, 0.73728, 0.87092, 0.91262),
}


@pytest.mark.parametrize("name", BY_SEVERITY)
def test_alexnets_errors_are_the_means_of_the_published_ones(name: str) -> None:
    assert ALEXNET_ERRORS[name] == pytest.approx(np.mean(BY_SEVERITY[name]), abs=1e-9)


def test_alexnets_clean_error_is_that_of_torchvisions_weights() -> None:
    accuracy = AlexNet_Weights.IMAGENET1K_V1.meta["_metrics"]["ImageNet-1K"]["acc@1"]
    assert pytest.approx(1 - accuracy / 100) == ALEXNET_CLEAN_ERROR
    assert round(100 * ALEXNET_CLEAN_ERROR, 1) == 43.5  # as in the paper


def test_a_model_against_itself_has_an_mce_of_one() -> None:
    own = np.array(list(ALEXNET_ERRORS.values()))
    assert len(own) == 15
    assert mce(own, own) == pytest.approx(1)
    assert relative_mce(own, 0.4, own, 0.4) == pytest.approx(1)


def test_each_corruption_is_divided_before_the_mean() -> None:
    errors, reference = np.array([0.2, 0.6]), np.array([0.4, 0.8])
    np.testing.assert_allclose(corruption_errors(errors, reference), [0.5, 0.75])
    assert mce(errors, reference) == pytest.approx(0.625)
    # (0.2 - 0.1) / (0.4 - 0.2) = 0.5 and (0.6 - 0.1) / (0.8 - 0.2) = 0.8333
    assert relative_mce(errors, 0.1, reference, 0.2) == pytest.approx((0.5 + 5 / 6) / 2)


def test_a_reference_without_errors_gives_no_mce() -> None:
    assert np.isnan(mce(np.array([0.2, 0.6]), np.array([0.0, 0.8])))
    assert np.isnan(relative_mce(np.array([0.2]), 0.1, np.array([0.3]), 0.3))
