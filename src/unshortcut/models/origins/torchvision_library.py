"""`torchvision:NAME`: models of torchvision with its weights, or untrained with `@random`."""

from typing import Any, ClassVar

import torchvision

from unshortcut.errors import unknown
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.loaded import LoadedModel
from unshortcut.models.origin import Origin, loading_weights
from unshortcut.models.published.spec import RANDOM
from unshortcut.models.wrapping import before_last_linear, before_pooling, from_module


class Torchvision(Origin):
    """Classifiers of torchvision."""

    name: ClassVar[str] = "torchvision"
    form: ClassVar[str] = "torchvision:NAME"

    def load(self, spec: str, stated: dict[str, Any]) -> LoadedModel:
        name, _, variant = spec.partition("@")
        known = torchvision.models.list_models(module=torchvision.models)
        if name not in known:
            raise unknown("torchvision model", name, known)
        full = f"torchvision:{name}"
        weights = None if variant == RANDOM else "DEFAULT"
        with loading_weights(full, f"'{full}@random' is the untrained model"):
            model = torchvision.models.get_model(name, weights=weights)
        classes = None
        preprocessing = Preprocessing()
        if weights:
            chosen = torchvision.models.get_model_weights(name).DEFAULT
            classes = tuple(chosen.meta["categories"])
            published = chosen.transforms()
            preprocessing = Preprocessing(
                size=published.crop_size[0],
                crop_share=min(1.0, published.crop_size[0] / published.resize_size[0]),
                mean=tuple(published.mean),
                std=tuple(published.std),
            )
        return from_module(
            full,
            model,
            preprocessing.model_copy(update=stated),
            logits=model,
            classes=classes,
            both=before_last_linear(model),
            maps=before_pooling(model),
        )
