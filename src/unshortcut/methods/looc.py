"""LooC: a space for each augmentation, sensitive to it and to no other (Xiao et al.).

The step is MoCo's. Besides the key with draws of its own there is one for each space, which shares
the query's draws of the space's augmentations; all keys go through the key encoder, and all heads
see all of them. Equation 2 is InfoNCE in every space: in space 0, `invariant`, the positive is the
key with draws of its own; in space i the one that shares, and the image's other keys are negatives.
LooC++ is the same with `encoder.branches`: then each head has a last stage of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.methods.method import Batch, StepOutput, TrainingContext
from unshortcut.methods.moco import MoCo, MoCoSettings
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import SpaceHeads
from unshortcut.negatives.other_keys import OtherKeysSettings
from unshortcut.negatives.queue import QueueSettings
from unshortcut.negatives.source import Contrast, Negatives, SpaceSources
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.leave_one_out import Lacking, Sharing

INVARIANT = "invariant"
"""The space that is always there, and comes first."""


@dataclass(frozen=True)
class LooCSettings(MoCoSettings):
    """LooC as published, by default: color has a space of its own."""

    name = "looc"
    has_spaces: ClassVar[bool] = True

    spaces: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {"color": ("color_jitter", "grayscale")}
    )
    """By the name of a space: the augmentations it is sensitive to; none: invariant to all."""
    strategy: Literal["leave_one_out", "add_one"] = "leave_one_out"
    """With `add_one` the query lacks those augmentations, and each key has those of its space."""
    negatives: Negatives = (QueueSettings(16384), OtherKeysSettings())

    def __post_init__(self) -> None:
        if not self.spaces or INVARIANT in self.spaces:
            raise UsageError(
                f"method.spaces must name at least one space besides '{INVARIANT}', which is "
                f"always there; got {list(self.spaces)}"
            )
        if bad := [name for name in self.spaces if not name.isidentifier()]:
            raise UsageError(
                f"method.spaces: '{bad[0]}' is no name; letters, digits and _ make one"
            )

        once = [*self.shared, *(name for names in self.spaces.values() for name in names)]
        if twice := [name for name in once if once.count(name) > 1]:
            raise UsageError(
                f"'{twice[0]}' may have one space, or be in method.shared: of two keys that share "
                "its draws with the query one would be a positive and one a negative"
            )
        if self.strategy == "add_one":
            self._check_add_one()

    def _check_add_one(self) -> None:
        if self.shared:
            raise UsageError("method.shared is for the strategy leave_one_out")
        if any(source.needs_spaces and not source.absent for source in self.negatives):
            raise UsageError(
                "method.strategy add_one goes without the negatives 'other_keys': the query lacks "
                "the augmentations, and so do keys that would be its negatives"
            )

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "LooC":
        return LooC(encoder, self, training)

    @property
    def designated(self) -> dict[str, tuple[str, ...]]:
        """The spaces with augmentations of their own, which have a key of their own."""
        return {space: names for space, names in self.spaces.items() if names}

    def key_of(self, space: str) -> str:
        """The view that is the positive in a space."""
        return f"key_{space}" if self.spaces.get(space) else "key"

    def view_transforms(self) -> dict[str, ViewTransform]:
        asked = super().view_transforms()
        if self.strategy == "add_one":
            return asked | self._add_one()
        drops = any(
            isinstance(source, OtherKeysSettings) and source.equal_params == "drop"
            for source in self.negatives
        )
        compares = tuple(self.designated.values()) if drops else ()
        keys = {"key": self.shared} | {
            self.key_of(space): (*names, *self.shared) for space, names in self.designated.items()
        }
        return asked | {
            view: Sharing(shares=shares, compares=compares) for view, shares in keys.items()
        }

    def _add_one(self) -> dict[str, ViewTransform]:
        everything = tuple(dict.fromkeys(n for names in self.spaces.values() for n in names))
        own = {"query": (), "key": ()} | {
            self.key_of(space): names for space, names in self.designated.items()
        }
        return {
            view: Lacking(lacks=tuple(name for name in everything if name not in names))
            for view, names in own.items()
        }

    def check(self, images: int, sync_batch_norm: bool) -> None:
        super().check(images, sync_batch_norm)
        if all(source.needs_spaces or source.absent for source in self.negatives):
            raise UsageError(
                f"method.negatives: the space '{INVARIANT}' has no negatives; add a queue or the "
                "batch"
            )


class LooC(MoCo):
    """MoCo in several spaces at once, each with a head, negatives and a positive of its own."""

    settings: LooCSettings
    head: SpaceHeads
    sources: SpaceSources

    @property
    def spaces(self) -> tuple[str, ...]:
        return (INVARIANT, *self.settings.spaces)

    def build_head(self) -> nn.Module:
        count, branches = len(self.spaces), self.encoder.settings.branches
        if branches not in (1, count):
            raise UsageError(
                f"encoder.branches must be 1 (LooC) or {count}, one for each of the spaces "
                f"{', '.join(self.spaces)} (LooC++); got {branches}"
            )
        heads = [self.mlp(self.encoder.dim // branches) for _ in range(count)]
        return SpaceHeads(heads, split_features=branches > 1)

    def build_sources(self, seed: int) -> SpaceSources:
        return SpaceSources(len(self.spaces), self.settings.negatives, self.settings.dim, seed)

    def embed(self, images: Tensor) -> Tensor:
        """(N, S · D): the similarity of two rows is the mean of those in all spaces."""
        return _joined(self.embed_spaces(images))

    def embed_spaces(self, images: Tensor) -> Tensor:
        """(N, S, D), a unit row for each space."""
        return F.normalize(self.head(self.encoder(images)), dim=-1)

    def loss(self, batch: Batch) -> StepOutput:
        queries = self.embed_spaces(batch.views["query"])  # (N, S, D)
        if self.starts_step:
            self.key_network.update(self.query_network, self.settings.momentum)
        encoded = _Encoded(self, batch.views)

        losses, positives = [], []
        for place, space in enumerate(self.spaces):
            contrast = self._contrast(place, space, queries[:, place], encoded, batch)
            loss, positive = self.judge(contrast, self.sources.of_space(place))
            losses.append(loss.mean())
            positives.append(positive.detach().mean())
        metrics = {"positive_similarity": torch.stack(positives).mean()} | {
            f"loss_{space}": loss.detach() for space, loss in zip(self.spaces, losses, strict=True)
        }
        return StepOutput(torch.stack(losses).mean(), _joined(queries.detach()), metrics)

    def _contrast(
        self, place: int, space: str, queries: Tensor, encoded: "_Encoded", batch: Batch
    ) -> Contrast:
        """What the queries (N, D) of a space are compared with."""
        own = self.settings.key_of(space)
        contrast = replace(
            self.contrast(queries, encoded[own][:, place], batch.views),
            encode=lambda images: encoded.of(images)[:, place],
        )
        designated = list(self.settings.designated)
        if space not in designated:
            return contrast
        keys = ["key", *map(self.settings.key_of, designated)]
        others = [key for key in keys if key != own]
        metadata = None
        if all(key in batch.metadata for key in others):
            answers = [batch.metadata[key][:, designated.index(space)] for key in others]
            metadata = torch.stack(answers, dim=1).to(queries.device)
        embeddings = torch.stack([encoded[key][:, place] for key in others], dim=1)
        return replace(contrast, other_keys=embeddings, equal_params=metadata)


class _Encoded:
    """Views as the key encoder sees them, (N, S, D): each is encoded once for all spaces."""

    def __init__(self, method: LooC, views: Mapping[str, Tensor]) -> None:
        self._method = method
        self._views = views
        self._known: dict[int, tuple[Tensor, Tensor]] = {}

    def __getitem__(self, view: str) -> Tensor:
        return self.of(self._views[view])

    def of(self, images: Tensor) -> Tensor:
        """Of the images (N, 3, H, W) of a view, known again by being the same tensor."""
        if id(images) not in self._known:
            # The images too: an id is that of one tensor only while it lives.
            self._known[id(images)] = images, self._method.encode_keys(images)
        return self._known[id(images)][1]


def _joined(embeddings: Tensor) -> Tensor:
    """(N, S, D) unit rows to unit rows (N, S · D)."""
    return embeddings.flatten(1) / embeddings.shape[1] ** 0.5
