"""Hyperbolic contrastive learning: objects among each other, and scenes with their objects.

Dissertation, section 1.3; the settings are those of the authors' code. The Euclidean loss is that
of MoCo for two views of an object, in both directions, each with negatives of its own. The
hyperbolic loss compares a scene, the union of several boxes, with one of its objects. Both are
mapped from the unnormalized output of the same head to the Poincaré ball; the query is the scene,
the positive the momentum encoder's object, and the negatives are a queue of past objects. A
similarity is the negative distance, and gradients are scaled by the metric of the ball.

The views of a step are encoded together: batch norm would bring a batch of scenes alone to the same
norm as a batch of objects, and hide the difference that the ball is there for.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional as F

from unshortcut.distributed import gather
from unshortcut.fields import NonNegativeNumber, PositiveInt, PositiveNumber
from unshortcut.losses.info_nce import info_nce_loss
from unshortcut.losses.loss import in_float32
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.moco import MoCo, MoCoSettings
from unshortcut.methods.step import Batch, StepOutput
from unshortcut.models.batchnorm import KeyShuffle
from unshortcut.models.encoder import Encoder
from unshortcut.models.poincare import distance, exp0, pairwise_distance, project, riemannian
from unshortcut.models.queue import Queue
from unshortcut.negatives.source import Sources, view_transforms_of
from unshortcut.parts import settings
from unshortcut.randomness import torch_seed
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.of_region import OfRegion

PAIR = ("query", "key")
"""Two views of an object; each is a query once, with the other one as its key."""


@settings
class HCLSettings(MoCoSettings):
    """Settings of hyperbolic contrastive learning; the defaults are those published."""

    name = "hcl"

    euclidean_weight: NonNegativeNumber = 1.0
    """Weight of the loss of object views; 0 leaves it out."""
    hyperbolic_weight: NonNegativeNumber = 0.1
    """Weight of the loss of scenes and their objects; 0 leaves it out."""
    curvature: PositiveNumber = 0.05
    """c of the ball, whose radius is 1/√c."""
    hyperbolic_temperature: PositiveNumber = 0.2
    hyperbolic_queue: PositiveInt = 65536
    """Number of past objects that a scene is compared with."""

    def __post_init__(self) -> None:
        if not self.euclidean_weight and not self.hyperbolic_weight:
            raise ValueError("'euclidean_weight' and 'hyperbolic_weight' must not both be 0")
        if self.shared:
            raise ValueError("'shared' must be empty: both views of an object are queries and keys")

    def build(self, encoder: Encoder, training: TrainingContext | None = None) -> "HCL":
        return HCL(encoder, self, training)

    def view_transforms(self) -> dict[str, ViewTransform]:
        needed: dict[str, ViewTransform] = {}
        if self.euclidean_weight:
            needed |= {view: OfRegion(role="object") for view in PAIR}
            needed |= view_transforms_of(self.negatives, PAIR)
        if self.hyperbolic_weight:
            needed |= {"object": OfRegion(role="box"), "scene": OfRegion(role="group")}
        return needed

    def unused_views(self) -> frozenset[str]:
        unused: set[str] = set()
        if not self.hyperbolic_weight:
            unused |= {"object", "scene"}
        if not self.euclidean_weight:
            unused |= set(PAIR)
        return frozenset(unused)


class HCL(MoCo):
    """MoCo for objects in both directions, and a loss of scenes and objects in the ball."""

    settings: HCLSettings

    def __init__(
        self, encoder: Encoder, settings: HCLSettings, training: TrainingContext | None = None
    ) -> None:
        super().__init__(encoder, settings, training)
        seed = self.training_context.seed
        self.back_sources = Sources(settings.negatives, settings.dim, torch_seed(seed, "back"))
        self.objects = Queue(settings.hyperbolic_queue, settings.dim, torch_seed(seed, "objects"))
        self.objects.rows.copy_(project(self.objects.rows, settings.curvature))
        self._pending: Tensor | None = None

    def loss(self, batch: Batch) -> StepOutput:
        settings = self.settings
        if self.starts_step:
            self.key_network.update(self.query_network, settings.momentum)
        losses: list[Tensor] = []
        metrics: dict[str, Tensor] = {}
        embeddings: Tensor | None = None
        encoded = self.encode_together(batch)
        if settings.euclidean_weight:
            euclidean, embeddings, metrics = self.of_objects(batch, encoded)
            losses.append(settings.euclidean_weight * euclidean)
        if settings.hyperbolic_weight:
            scenes = in_float32(encoded["scene"][0])
            hyperbolic = self.of_scenes(batch, scenes)
            losses.append(settings.hyperbolic_weight * hyperbolic)
            metrics["loss_hyperbolic"] = hyperbolic.detach()
            embeddings = F.normalize(scenes.detach(), dim=1) if embeddings is None else embeddings
        return StepOutput(torch.stack(losses).sum(), embeddings, metrics)

    def ball(self, images: Tensor) -> Tensor:
        """The points (N, D) of normalized images (N, 3, H, W) in the ball."""
        return exp0(self.vectors(images), self.settings.curvature)

    def vectors(self, images: Tensor) -> Tensor:
        """The unnormalized output (N, D) of the head.

        A point is at twice the length of its vector from the origin, also where it is clipped.
        """
        return in_float32(self.head(self.encoder(images)))

    def encode_together(self, batch: Batch) -> dict[str, tuple[Tensor, ...]]:
        """What `encode_rows` gives for each view that has a gradient, encoded as one batch.

        The views of an image stand side by side, so that every group of batch norm has all kinds.
        Views of another size are a batch of their own.
        """
        chosen = self.settings
        names = (*PAIR * bool(chosen.euclidean_weight), *["scene"] * bool(chosen.hyperbolic_weight))
        by_size: dict[torch.Size, list[str]] = {}
        for name in names:
            by_size.setdefault(batch.views[name].shape, []).append(name)
        encoded: dict[str, tuple[Tensor, ...]] = {}
        for alike in by_size.values():
            views = torch.stack([batch.views[name] for name in alike], dim=1)  # (N, views, 3, H, W)
            rows = self.encode_rows(views.flatten(0, 1))
            apart = [one.unflatten(0, (-1, len(alike))).unbind(1) for one in rows]
            encoded |= {name: tuple(one[at] for one in apart) for at, name in enumerate(alike)}
        return encoded

    def encode_rows(self, images: Tensor) -> tuple[Tensor, ...]:
        """What the losses need of images (M, 3, H, W); vectors (M, D) come first."""
        return (self.vectors(images),)

    def of_objects(
        self, batch: Batch, encoded: Mapping[str, tuple[Tensor, ...]]
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """The Euclidean loss, unit embeddings (N, D) of queries, and metrics."""
        queries = [F.normalize(encoded[view][0], dim=1) for view in PAIR]  # (N, D) each
        keys = [self.encode_keys(batch.views[view]) for view in reversed(PAIR)]
        losses, similarities = [], []
        for view, query, key, sources in zip(
            PAIR, queries, keys, (self.sources, self.back_sources), strict=True
        ):
            step = replace(self.contrast_step(query, key, batch.views), query_views=(view,))
            loss, positive = self.query_losses(step, sources)
            losses.append(loss.mean())
            similarities.append(positive.detach().mean())
        mean = torch.stack(losses).mean()
        metrics = {
            "positive_similarity": torch.stack(similarities).mean(),
            "loss_euclidean": mean.detach(),
        }
        return mean, queries[0].detach(), metrics

    def of_scenes(self, batch: Batch, vectors: Tensor) -> Tensor:
        """The hyperbolic loss of scenes with these vectors (N, D)."""
        c = self.settings.curvature
        scenes = riemannian(exp0(vectors, c), c)  # (N, D)
        objects = self._object_keys(batch.views["object"])  # (N, D)
        self._pending = objects
        positive = -distance(scenes, objects, c)
        negative = -pairwise_distance(scenes, self.objects.rows, c)
        losses = info_nce_loss(positive, [negative], self.settings.hyperbolic_temperature)
        return losses.mean()

    @torch.no_grad()
    def _object_keys(self, images: Tensor) -> Tensor:
        """Points (N, D) by the key network, which sees the images shuffled between groups."""
        groups = self.settings.batch_norm_groups
        shuffle = KeyShuffle(len(images), groups, self.step_generator("deal"))
        vectors = in_float32(self.key_vectors(shuffle.shuffle(images)))
        return shuffle.restore(exp0(vectors, self.settings.curvature))

    def key_vectors(self, images: Tensor) -> Tensor:
        """The unnormalized output (N, D) of the key network."""
        found: Tensor = self.key_network(images)
        return found

    def after_backward(self) -> None:
        super().after_backward()
        self.back_sources.after_backward()
        if self._pending is not None:
            self.objects.push(gather(self._pending))
            self._pending = None
