"""`timm:NAME`: models of timm with its weights, or untrained as `timm:NAME@random`."""

from typing import Any, ClassVar

import timm
from torch import Tensor

from unshortcut.errors import unknown
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.loaded import LoadedModel
from unshortcut.models.origin import Origin, loading_weights
from unshortcut.models.published.spec import RANDOM
from unshortcut.models.wrapping import from_module


class Timm(Origin):
    """Models of timm."""

    name: ClassVar[str] = "timm"
    form: ClassVar[str] = "timm:NAME"

    def load(self, spec: str, stated: dict[str, Any]) -> LoadedModel:
        name, _, variant = spec.partition("@")
        if not timm.is_model(name):
            raise unknown("timm model", name, timm.list_models())
        full = f"timm:{name}"
        with loading_weights(full, f"'{full}@random' is the untrained model"):
            model = timm.create_model(name, pretrained=variant != RANDOM)
        config = timm.data.resolve_model_data_config(model)
        published = Preprocessing(
            size=config["input_size"][-1],
            crop_share=config["crop_pct"],
            mean=config["mean"],
            std=config["std"],
        )

        def both(images: Tensor) -> tuple[Tensor, Tensor]:
            maps = model.forward_features(images)
            return model.forward_head(maps, pre_logits=True), model.forward_head(maps)

        def features(images: Tensor) -> Tensor:
            pooled: Tensor = model.forward_head(model.forward_features(images), pre_logits=True)
            return pooled

        subset = timm.data.infer_imagenet_subset(model)
        return from_module(
            full,
            model,
            published.model_copy(update=stated),
            features=features,
            logits=model,
            classes=subset and tuple(timm.data.ImageNetInfo(subset).label_names()),
            both=both,
            maps=model.forward_features,
        )
