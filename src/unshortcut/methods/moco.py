"""MoCo-v2: a query is compared with its key and with a queue of past keys (He et al.; Chen et al.).

A step encodes the queries, updates the key encoder, encodes the keys, shuffled so that batch norm
does not leak information, and compares the queries with the keys and the old queue. After the
backward pass, it enqueues the keys.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.fields import PositiveInt, Probability
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.losses.loss import AnyLoss
from unshortcut.methods.contrastive import ContrastiveMethod, ContrastiveSettings
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch, DeviceBatch, StepOutput
from unshortcut.models.batchnorm import KeyShuffle, split_batch_norm
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import MLPHead
from unshortcut.models.momentum import MomentumCopy
from unshortcut.negatives.queue import QueueSettings
from unshortcut.negatives.source import Negatives
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented
from unshortcut.views.transforms.leave_one_out import Sharing

_FEW_IMAGES = 16  # below, batch norm is known to lose accuracy (Wu and He, Group Normalization)


@settings
class MoCoSettings(ContrastiveSettings):
    """Settings of MoCo-v2; the defaults are those published."""

    name = "moco"

    momentum: Probability = 0.999
    """Momentum of the key encoder."""
    hidden: PositiveInt = 2048
    """Width of the head's hidden layer."""
    dim: PositiveInt = 128
    """Dimension of the embedding."""
    head_batch_norm: bool = False
    """Whether the head has batch norm, as in MoCo-v3; small encoders learn much faster with it."""
    loss: AnyLoss = InfoNCE(temperature=0.2)
    negatives: Negatives = (QueueSettings(),)
    batch_norm_groups: PositiveInt = 8
    """Number of batch-norm groups over all devices, between which keys are shuffled: the number of
    GPUs that MoCo would run on. A multiple of the devices, which share the groups of every forward
    pass. 1 disables the splitting: every device then normalizes its part of the batch as a whole,
    and keys are shuffled between devices."""
    shared: tuple[str, ...] = ()
    """Names of augmentations whose parameters a key shares with its query (LooC, table 1)."""

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "MoCo":
        return MoCo(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        key = Sharing(shares=self.shared) if self.shared else Augmented()
        return {**super().view_transforms(), "key": key}

    def check(self, batch: DeviceBatch) -> None:
        super().check(batch)
        groups = self.batch_norm_groups
        if groups == 1:
            return
        if batch.sync_batch_norm:
            raise UsageError(
                "training.sync_batch_norm would undo method.batch_norm_groups, which prevent batch "
                "statistics from revealing which key belongs to which query; disable one of them"
            )
        allowed = possible_groups(batch)
        if groups not in allowed:
            nearest = [
                *[smaller for smaller in allowed if smaller < groups][-1:],
                *[larger for larger in allowed if larger > groups][:1],
            ]
            devices = f"{batch.devices} device{'s' * (batch.devices > 1)}"
            fewer = _fewer_devices(batch, groups)
            raise UsageError(
                f"method.batch_norm_groups {groups} does not fit {devices} and {batch.total} "
                "images in a forward pass: it must be 1 or a multiple of the number of devices "
                "that divides the images into equal groups of two or more; "
                f"nearest: {' or '.join(map(str, nearest)) or 1}"
                + (f"; on {fewer} device{'s' * (fewer > 1)} it stays {groups}" if fewer else "")
            )

    def warnings(self, batch: DeviceBatch) -> list[str]:
        groups = 1 if batch.sync_batch_norm else max(self.batch_norm_groups, batch.devices)
        images = batch.total // groups
        found = super().warnings(batch)
        if images < _FEW_IMAGES:
            found.append(
                f"batch norm has only {images} images per group, which makes its statistics noisy; "
                "see method.batch_norm_groups"
            )
        return found


def possible_groups(batch: DeviceBatch) -> list[int]:
    """Numbers of batch-norm groups, above 1, that devices can share evenly, in ascending order."""
    per_device = range(1, batch.images // 2 + 1)
    numbers = [own * batch.devices for own in per_device if batch.images % own == 0]
    return [number for number in numbers if number > 1]


def _fewer_devices(batch: DeviceBatch, groups: int) -> int | None:
    """The largest smaller number of devices that can share these groups of the whole batch."""
    if batch.total % groups or batch.total < 2 * groups:
        return None
    return next((few for few in range(batch.devices - 1, 0, -1) if groups % few == 0), None)


class MoCo(ContrastiveMethod):
    """A trained query encoder, a key encoder that follows it, and sources of negatives."""

    settings: MoCoSettings

    def __init__(
        self, encoder: Encoder, settings: MoCoSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, settings, training)
        if settings.batch_norm_groups > 1:
            split_batch_norm(encoder, settings.batch_norm_groups)
            split_batch_norm(self.head, settings.batch_norm_groups)
        self.key_network = MomentumCopy(self.query_network)

    def build_head(self) -> nn.Module:
        return self.mlp(self.encoder.dim)

    def mlp(self, width: int) -> MLPHead:
        """An MLP head for features of a dimension, built according to the settings."""
        settings = self.settings
        return MLPHead(width, settings.hidden, settings.dim, batch_norm=settings.head_batch_norm)

    @property
    def query_network(self) -> nn.Module:
        """Encoder and head, which share their parameters with this method."""
        return nn.Sequential(self.encoder, self.head)

    def loss(self, batch: Batch) -> StepOutput:
        queries = self.embed(batch.views["query"])  # (N, D)
        if self.starts_step:
            self.key_network.update(self.query_network, self.settings.momentum)
        keys = self.encode_keys(batch.views["key"])  # (N, D)
        return self.step_output(queries, keys, batch.views)

    @torch.no_grad()
    def encode_keys(self, images: Tensor) -> Tensor:
        """Encode images (N, 3, H, W), shuffled between groups, to unit embeddings (N, …, D)."""
        groups = self.settings.batch_norm_groups
        shuffle = KeyShuffle(len(images), groups, self.step_generator("deal"))
        embeddings = self.key_network(shuffle.shuffle(images))
        return shuffle.restore(F.normalize(embeddings, dim=-1))
