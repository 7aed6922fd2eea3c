"""Parameters of an encoder that the features of a task do not depend on."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def freeze_unused(module: nn.Module, outputs: Iterable[Tensor]) -> None:
    """Switch off the gradients of the parameters that outputs, computed with gradient, lack.

    Examples are the norm after the pooling of a ViT whose maps are used, and the classifier of a
    network whose features are. Ranks would wait for their gradients.
    """
    trained = [one for one in module.parameters() if one.requires_grad]
    total = torch.stack([one.float().sum() for one in outputs]).sum()
    if not trained or not total.requires_grad:
        return
    gradients = torch.autograd.grad(total, trained, allow_unused=True)
    for parameter, gradient in zip(trained, gradients, strict=True):
        parameter.requires_grad_(gradient is not None)
