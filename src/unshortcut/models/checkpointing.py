"""Gradient checkpointing that leaves batch norm's running statistics as they are without it.

timm's models know where their blocks are and compute a block's activations again when the backward
pass needs them (`set_grad_checkpointing`). As this is a second forward pass in train mode, every
batch norm would update its running statistics twice. torch's checkpoint could be given a context
for the recomputation, but timm calls it without one. A backward pass computes nothing forward
except what is recomputed, so it is enough to keep the statistics during the whole backward pass;
this works for every model of timm and every kind of batch norm.
"""

from contextlib import AbstractContextManager, nullcontext

from unshortcut.errors import UsageError
from unshortcut.models.batchnorm import running_statistics_kept
from unshortcut.models.encoder import Encoder


def checkpoint_gradients(encoder: Encoder) -> None:
    """Store only the inputs of an encoder's blocks, and compute the rest again when needed.

    Run the backward pass inside `recomputation`. torch restores the random numbers of dropout and
    drop path for the second computation. Raises `UsageError` for a model that timm cannot
    checkpoint.
    """
    try:
        encoder.model.set_grad_checkpointing(True)  # type: ignore[operator]
    except (AssertionError, AttributeError):  # timm asserts; some of its models lack the method
        raise UsageError(
            f"training.gradient_checkpointing: timm cannot checkpoint '{encoder.settings.name}'; "
            "set it to false"
        ) from None
    encoder.checkpointed = True


def recomputation(encoder: Encoder) -> AbstractContextManager[None]:
    """A context for the backward pass: recomputed batch norms do not update their statistics."""
    return running_statistics_kept(encoder) if encoder.checkpointed else nullcontext()
