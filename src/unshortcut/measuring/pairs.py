"""Pairs of views of the same images, and the cosines that models give them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from unshortcut.arrays import ImageArray
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError, unknown
from unshortcut.inference.forward import run_features
from unshortcut.inference.preprocessing import stack
from unshortcut.inference.reading import Unreadable, read_batches
from unshortcut.models.load import LoadedModel
from unshortcut.progress import OnProgress
from unshortcut.randomness import generator, torch_seed
from unshortcut.training.plan_copies import plan_copies
from unshortcut.views.plan import ViewPlan
from unshortcut.views.transform import ViewTransform
from unshortcut.views.transforms.augmented import Augmented
from unshortcut.views.transforms.textured import Textured
from unshortcut.views.transforms.tiled import TiledView

Views = Mapping[str, Tensor]
"""Views by name, uint8 (n, 3, h, w) each."""
Cosines = dict[str, NDArray[np.float64]]
"""Cosines (n,) in [-1, 1] by kind of pair."""

KINDS = ("positive", "negative", "texture", "patch")
"""Kinds of pairs, in the order of the paper's figures (Ge et al. 2021)."""
VIEWS = {"positive": "key", "texture": "texture_negative", "patch": "patch_negative"}
"""The view that the query is compared with; for `negative`, the query of another image."""
QUERY = "query"


def pair_transforms(
    kinds: Sequence[str], patch: tuple[int, int] | None = None
) -> dict[str, ViewTransform]:
    """The transforms that make the views of the pairs, as for training."""
    for kind in kinds:
        if kind not in KINDS:
            raise unknown("kind of pair", kind, KINDS)
    partners: dict[str, ViewTransform] = {
        "positive": Augmented(),
        # 96 of 224 pixels as in the paper, and the same share of smaller images: 48 of 64 pixels
        # would be the whole object.
        "texture": Textured(QUERY, patch=96 / 224),
        "patch": TiledView(QUERY, patch),
    }
    chosen = {VIEWS[kind]: partners[kind] for kind in kinds if kind in partners}
    return {QUERY: Augmented(), **chosen}


@dataclass(frozen=True)
class Sampling:
    """Which images are used; their views depend on the seed alone."""

    source: ImageSource
    count: int
    seed: int
    batch_size: int = 64
    workers: int | None = None  # threads that make views; None for one per core

    def __post_init__(self) -> None:
        for key, value, least in (("count", self.count, 2), ("batch_size", self.batch_size, 1)):
            if value < least:
                raise UsageError(f"{key} must be at least {least}, not {value}")
        if len(self.source) < 2:
            raise UsageError("negative pairs need at least two images; the data has fewer")

    def batches(self, plan: ViewPlan, on_progress: OnProgress | None = None) -> Iterator[Views]:
        """Views of different images, in a random order; unreadable images are left out."""
        order = generator(self.seed, "similarity").permutation(len(self.source))[: self.count]
        # A seed of its own: a run with this seed has trained on the views that it would give.
        seed = torch_seed(self.seed, "similarity")
        source = plan_copies(plan).attach(self.source)

        def read(position: int) -> Mapping[str, ImageArray]:
            index = int(order[position])
            return plan(source.image(index), seed, 0, index)

        for _, images in read_batches(
            read,
            lambda position: self.source.identity(int(order[position])),
            Unreadable(len(order)),
            batch_size=self.batch_size,
            workers=self.workers,
            on_progress=on_progress,
        ):
            yield {name: stack([views[name] for views in images]) for name in images[0]}


def compare(
    models: Sequence[LoadedModel], kinds: Sequence[str], batches: Iterable[Views]
) -> list[Cosines]:
    """The cosines of each model on the same views; every view is encoded once.

    The negative of an image is the query of the next image, and that of the last image the query
    of the first. The order is random, and no image is compared with itself.
    """
    queries: list[list[Tensor]] = [[] for _ in models]
    found: list[dict[str, list[Tensor]]] = [{kind: [] for kind in kinds} for _ in models]
    for views in batches:
        for model, own_queries, cosines in zip(models, queries, found, strict=True):
            query = _unit_features(model, views[QUERY])
            own_queries.append(query)
            for kind in kinds:
                if kind in VIEWS:
                    partner = _unit_features(model, views[VIEWS[kind]])
                    cosines[kind].append(_cosine(query, partner))
    for own_queries, cosines in zip(queries, found, strict=True):
        if "negative" in kinds:
            every = torch.cat(own_queries)
            if len(every) < 2:
                raise UsageError("negative pairs need at least two images that can be read")
            cosines["negative"].append(_cosine(every, every.roll(-1, dims=0)))
    return [
        {kind: torch.cat(values).numpy() for kind, values in cosines.items()} for cosines in found
    ]


def _unit_features(model: LoadedModel, view: Tensor) -> Tensor:
    """uint8 (n, 3, h, w) to float64 unit rows (n, D)."""
    return F.normalize(run_features(model, view).double(), dim=1)


def _cosine(one: Tensor, other: Tensor) -> Tensor:
    return (one * other).sum(dim=1).clamp(-1, 1)
