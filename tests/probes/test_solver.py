"""The principal axes that precondition the solver, beside NumPy's singular values."""

import numpy as np
import pytest
import torch

from unshortcut.probes.solver import Basis


@pytest.mark.parametrize(("count", "dimensions"), [(60, 20), (20, 60), (20, 20)])
def test_the_axes_are_those_of_a_singular_value_decomposition(count: int, dimensions: int) -> None:
    rng = np.random.default_rng(0)
    features = 5 + rng.normal(size=(count, dimensions)) * np.geomspace(0.1, 2, dimensions)
    basis = Basis.of(torch.tensor(features, dtype=torch.float32))
    centered = features - features.mean(0)
    _, singular, axes = np.linalg.svd(centered, full_matrices=False)
    rank = min(count - 1, dimensions)
    energy = np.sort(singular[:rank] ** 2) / count
    np.testing.assert_allclose(basis.energy[:-1].numpy(), energy, rtol=1e-3)
    ours = basis.axes.double().numpy()
    np.testing.assert_allclose(ours.T @ ours, np.eye(rank), atol=1e-5)
    overlap = np.abs((axes[:rank][::-1] * ours.T).sum(1))
    np.testing.assert_allclose(overlap, 1, atol=1e-3)


@pytest.mark.parametrize("count", [3, 30])
def test_features_that_do_not_vary_have_no_axes(count: int) -> None:
    basis = Basis.of(torch.full((count, 8), 0.1, dtype=torch.float64))
    assert basis.axes.shape == (8, 0) and basis.energy.tolist() == [1]
