"""The vanilla adversarial losses of Pix2Pix: binary cross-entropy of a discriminator's logits."""

from torch import Tensor
from torch.nn import functional as F


def discriminator_loss(real: Tensor, generated: Tensor) -> Tensor:
    """−½ mean log σ(real) − ½ mean log(1 − σ(generated)); logits of any shape, a scalar.

    The half slows the discriminator down (Isola et al. 2017, section 3.3).
    """
    return 0.5 * (F.softplus(-real).mean() + F.softplus(generated).mean())


def fooling_loss(generated: Tensor) -> Tensor:
    """−mean log σ(generated): the generator's part; logits of any shape, a scalar."""
    return F.softplus(-generated).mean()
