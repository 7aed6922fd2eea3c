"""The adversarial losses are binary cross-entropy, written out."""

import torch

from unshortcut.losses.adversarial import discriminator_loss, fooling_loss


def test_they_are_minus_the_logarithms_of_probabilities() -> None:
    generator = torch.Generator().manual_seed(0)
    real, generated = torch.randn(2, 3, 1, 4, 4, dtype=torch.float64, generator=generator)
    right = 1 / (1 + (-real).exp()), 1 - 1 / (1 + (-generated).exp())
    by_hand = -0.5 * (right[0].log().mean() + right[1].log().mean())
    torch.testing.assert_close(discriminator_loss(real, generated), by_hand)
    torch.testing.assert_close(fooling_loss(generated), -(1 - right[1]).log().mean())


def test_they_are_finite_for_a_discriminator_that_is_sure() -> None:
    sure = torch.full((1, 1), 1e4)
    assert discriminator_loss(-sure, sure) == 1e4
    assert fooling_loss(-sure) == 1e4
