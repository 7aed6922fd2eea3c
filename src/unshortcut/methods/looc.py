"""LooC: one embedding space per augmentation, sensitive to it and to no other (Xiao et al.).

The step is that of MoCo. In addition to the ordinary key, there is one key per space, which shares
with the query the sampled parameters of the space's augmentations. The key encoder and all heads
process all keys. Equation 2 is InfoNCE in each space: in space 0, `invariant`, the positive is the
ordinary key; in space i it is the key that shares parameters, and the image's other keys are
negatives. LooC++ is the same with `encoder.branches`: each head has its own last encoder stage.
"""

from dataclasses import field, replace
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.methods.encoded import EncodedViews
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.moco import MoCo, MoCoSettings
from unshortcut.methods.step import Batch, DeviceBatch, StepOutput
from unshortcut.models.encoder import Encoder
from unshortcut.models.heads import SpaceHeads
from unshortcut.negatives.other_keys import OtherKeysSettings
from unshortcut.negatives.queue import QueueSettings
from unshortcut.negatives.source import ContrastStep, Negatives, SpaceSources
from unshortcut.parts import settings
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.leave_one_out import Lacking, Sharing

INVARIANT = "invariant"
"""The name of the first space, which every LooC model has."""


@settings
class LooCSettings(MoCoSettings):
    """Settings of LooC; the defaults are those published, with a space for color."""

    name = "looc"
    has_spaces: ClassVar[bool] = True

    spaces: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {"color": ("color_jitter", "grayscale")}
    )
    """Names of the augmentations that each space is sensitive to; without any it is invariant."""
    strategy: Literal["leave_one_out", "add_one"] = "leave_one_out"
    """With `add_one`, the query has none of these augmentations, and a key those of its space."""
    negatives: Negatives = (QueueSettings(16384), OtherKeysSettings())

    def __post_init__(self) -> None:
        if not self.spaces or INVARIANT in self.spaces:
            raise ValueError(
                f"'spaces' must name at least one space besides '{INVARIANT}', which always "
                f"exists, got {list(self.spaces)}"
            )
        if bad := [name for name in self.spaces if not name.isidentifier()]:
            raise ValueError(
                f"'spaces': the name '{bad[0]}' must consist of letters, digits and underscores"
            )

        names = [*self.shared, *(name for names in self.spaces.values() for name in names)]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(
                f"'{twice[0]}' may be in one of the 'spaces' or in 'shared', but only once: of two "
                "keys that share its parameters with the query, one would be a negative"
            )
        if self.strategy == "add_one":
            self._check_add_one()

    def _check_add_one(self) -> None:
        if self.shared:
            raise ValueError("'shared' needs the strategy leave_one_out")
        if any(source.needs_spaces and not source.absent for source in self.negatives):
            raise ValueError(
                "the strategy add_one does not work with the negatives 'other_keys': keys that "
                "lack the same augmentations as the query would be its negatives"
            )

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "LooC":
        return LooC(encoder, self, training)

    @property
    def designated(self) -> dict[str, tuple[str, ...]]:
        """The spaces that are sensitive to augmentations; each has its own key."""
        return {space: names for space, names in self.spaces.items() if names}

    def key_of(self, space: str) -> str:
        """Name of the view that is the positive in a space."""
        return f"key_{space}" if self.spaces.get(space) else "key"

    def view_transforms(self) -> dict[str, ViewTransform]:
        needed = super().view_transforms()
        if self.strategy == "add_one":
            return needed | self._add_one()
        drops = any(
            isinstance(source, OtherKeysSettings) and source.equal_params == "drop"
            for source in self.negatives
        )
        compares = tuple(self.designated.values()) if drops else ()
        keys = {"key": self.shared} | {
            self.key_of(space): (*names, *self.shared) for space, names in self.designated.items()
        }
        return needed | {
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

    def check(self, batch: DeviceBatch) -> None:
        super().check(batch)
        if all(source.needs_spaces or source.absent for source in self.negatives):
            raise UsageError(
                f"method.negatives: the space '{INVARIANT}' has no negatives; add the source "
                "'queue' or 'batch'"
            )


class LooC(MoCo):
    """MoCo in several spaces, each with its own head, negatives and positive."""

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
        """(N, S · D): the similarity of two rows is the mean of the similarities in all spaces."""
        return _joined(self.embed_spaces(images))

    def embed_spaces(self, images: Tensor) -> Tensor:
        """(N, S, D), one unit row per space."""
        return F.normalize(self.head(self.encoder(images)), dim=-1)

    def loss(self, batch: Batch) -> StepOutput:
        queries = self.embed_spaces(batch.views["query"])  # (N, S, D)
        if self.starts_step:
            self.key_network.update(self.query_network, self.settings.momentum)
        encoded = EncodedViews(self.encode_keys, batch.views)

        losses, positives = [], []
        for index, space in enumerate(self.spaces):
            step = self._space_step(index, space, queries[:, index], encoded, batch)
            loss, positive = self.query_losses(step, self.sources.of_space(index))
            losses.append(loss.mean())
            positives.append(positive.detach().mean())
        metrics = {"positive_similarity": torch.stack(positives).mean()} | {
            f"loss_{space}": loss.detach() for space, loss in zip(self.spaces, losses, strict=True)
        }
        return StepOutput(torch.stack(losses).mean(), _joined(queries.detach()), metrics)

    def _space_step(
        self, index: int, space: str, queries: Tensor, encoded: EncodedViews[Tensor], batch: Batch
    ) -> ContrastStep:
        """The queries (N, D) of a space with their positives and other keys."""
        own = self.settings.key_of(space)
        step = replace(
            self.contrast_step(queries, encoded[own][:, index], batch.views),
            encode=lambda images: encoded.of(images)[:, index],
        )
        designated = list(self.settings.designated)
        if space not in designated:
            return step
        keys = ["key", *map(self.settings.key_of, designated)]
        others = [key for key in keys if key != own]
        equal = None
        if all(key in batch.metadata for key in others):
            columns = [batch.metadata[key][:, designated.index(space)] for key in others]
            equal = torch.stack(columns, dim=1).to(queries.device)
        embeddings = torch.stack([encoded[key][:, index] for key in others], dim=1)
        return replace(step, other_keys=embeddings, equal_params=equal)


def _joined(embeddings: Tensor) -> Tensor:
    """Concatenate unit rows (N, S, D) to unit rows (N, S · D)."""
    return embeddings.flatten(1) / embeddings.shape[1] ** 0.5
