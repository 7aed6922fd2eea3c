"""A model in memory that gives features and, if it is a classifier, logits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.inference.features import Features, batch_size, compute_features
from unshortcut.inference.forward import run_features
from unshortcut.inference.images import ImageList, ImagesLike, ImageTransform, as_source
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.ball_head import BallHead
from unshortcut.progress import bar

Function = Callable[[Tensor], Tensor]
Both = Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class TextEncoder:
    """The other half of a model of images and texts; `zero_shot` makes classifiers with it."""

    embed: Callable[[Sequence[str]], Tensor]
    """Texts to embeddings (N, D) of length 1, which are compared with the features of images."""
    scale: float
    """Factor of cosine similarities that makes them logits."""


@dataclass(frozen=True)
class LoadedModel:
    """A model ready for use: its input transform, features and, if it classifies, logits.

    >>> import unshortcut
    >>> model = unshortcut.load_model("timm:resnet18@random")
    >>> batch = model.transform(image)[None]  # doctest: +SKIP
    >>> model.features(batch).shape  # doctest: +SKIP
    torch.Size([1, 512])
    """

    name: str
    preprocessing: Preprocessing
    features: Function
    """Normalized images (N, 3, S, S) to features (N, D), in eval mode and without gradients."""
    fingerprint: str | None
    """A digest of weights and architecture, the key of cached results; None: nothing is cached."""
    logits: Function | None = None
    classes: tuple[str, ...] | None = None
    module: nn.Module | None = None
    spaces: tuple[str, ...] | None = None
    """Names of the spaces whose features are concatenated in equal parts, in this order."""
    both: Both | None = None
    """Features and logits in one forward pass, where that is cheaper than two."""
    maps: Function | None = None
    """Features before pooling; see `feature_maps`."""
    trainable: Function | None = None
    """The same features with gradients, of a module that can be trained."""
    multilabel: bool = False
    """Whether an image may show several classes: probabilities are the sigmoid of the logits."""
    ball: BallHead | None = None
    """From features to points of the Poincaré ball, of a model of hyperbolic learning."""
    texts: TextEncoder | None = None
    """For a model of images and texts, which can have a classifier of any classes."""
    prompts: tuple[str, ...] = ()
    """What each class was called in words, if the classifier was made of them (`zero_shot`)."""

    @property
    def transform(self) -> ImageTransform:
        """Turns a PIL image, a path or a uint8 array (H, W, 3) into a normalized (3, S, S)."""
        return ImageTransform(self.preprocessing)

    def feature_maps(self, batch: Tensor) -> Tensor:
        """Features before pooling: (N, C, h, w), or (N, tokens, C) for a ViT.

        Args:
            batch: normalized images (N, 3, S, S), on the device of the model.
        """
        if self.maps is None:
            raise UsageError(f"'{self.name}' has no feature maps that can be taken from it")
        return self.maps(batch)

    @property
    def classifies(self) -> bool:
        """Whether it has logits of which a softmax gives the probability of one class."""
        return self.logits is not None and not self.multilabel

    def outputs(self, batch: Tensor) -> tuple[Tensor, Tensor | None]:
        """Features (N, D) and, if the model classifies, logits (N, C) of normalized images."""
        if self.both is not None:
            return self.both(batch)
        return self.features(batch), self.logits and self.logits(batch)

    def embed(
        self,
        images: ImagesLike,
        *,
        workers: int | None = None,
        max_unreadable: float | None = None,
        console: Console | None = None,
    ) -> Features:
        """Compute the features of images or of a data set, in memory.

        Args:
            images: a data set (a folder, a tar file, a name such as `shapes@test`, or an
                `ImageSource`); a list of PIL images, paths or uint8 arrays (H, W, 3); a uint8
                tensor (N, 3, H, W); or a batch of normalized floats (N, 3, S, S).
            workers: number of threads that decode images, by default that of the available cores.
            max_unreadable: largest share of unreadable images that is allowed, by default any;
                they are left out and listed in `Features.unreadable`. The work stops as soon as
                it is exceeded.
            console: where the progress bar is shown, by default standard error.
        """
        if isinstance(images, Tensor) and images.is_floating_point():
            batches = images.split(batch_size(self.preprocessing.size))
            values = torch.cat([run_features(self, batch).float() for batch in batches])
            return Features(values.numpy(), None, None, np.arange(len(images)))
        source = as_source(images)
        at_hand = isinstance(source, ImageList)
        shown = console or Console(stderr=True)
        with bar(shown, "features", visible=not at_hand, unit="images") as on_progress:
            features = compute_features(
                self,
                source,
                workers=workers,
                cache=not at_hand,
                max_unreadable=max_unreadable,
                on_progress=on_progress,
            )
        names = tuple(source.identity(index) for index in features.indices.tolist())
        return replace(features, identities=names)

    @property
    def device(self) -> torch.device:
        """The device of the parameters, where batches must be."""
        first = next(self.module.parameters(), None) if self.module is not None else None
        return torch.device("cpu") if first is None else first.device


ModelLike = str | Path | LoadedModel
"""A model by its spec, as in `load_model`, or one that is loaded."""
