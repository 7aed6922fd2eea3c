"""Zero-shot classifiers (Radford et al. 2021, section 3.1): classes named in words.

The logit of a class is the cosine similarity between the embedding of an image and that of a text
such as `a photo of a dog.`, times the temperature that the model has learned. With several
templates, the embeddings of their texts are averaged.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import timm.data
import torch
from torch import Tensor
from torch.nn import functional as F

from unshortcut.data.class_lists import wordnet_ids
from unshortcut.errors import UsageError
from unshortcut.models.loaded import LoadedModel

TEMPLATES = ("a photo of a {}.",)
_BATCH = 256
"""Texts that are embedded together."""


def zero_shot(
    model: LoadedModel, classes: Sequence[str], templates: Sequence[str] = TEMPLATES
) -> LoadedModel:
    """A model of images and texts with a classifier of some classes.

    Args:
        classes: their names; WordNet ids are replaced by what ImageNet calls them.
        templates: texts with `{}` in the place of the name.
    """
    texts = model.texts
    if texts is None:
        raise UsageError(f"'{model.name}' takes no texts, so it has no prompts")
    if not classes:
        raise UsageError(f"'{model.name}' needs the names of classes for its prompts")
    check_templates(templates)
    prompts = [template.replace("{}", in_words(name)) for name in classes for template in templates]
    with torch.inference_mode():
        batches = [
            texts.embed(prompts[start : start + _BATCH]).float().cpu()
            for start in range(0, len(prompts), _BATCH)
        ]
    grouped = torch.cat(batches).unflatten(0, (len(classes), len(templates)))
    weights = texts.scale * F.normalize(grouped.mean(dim=1), dim=1).clone()
    features = model.trainable or model.features

    def both(images: Tensor) -> tuple[Tensor, Tensor]:
        found = features(images)
        return found, F.normalize(found, dim=1) @ weights.to(found.device).T

    def logits(images: Tensor) -> Tensor:
        return both(images)[1]

    digest = hashlib.sha256(f"{model.fingerprint} {prompts}".encode())
    digest.update(weights.numpy().tobytes())
    return replace(
        model,
        fingerprint=None if model.fingerprint is None else digest.hexdigest(),
        logits=torch.no_grad()(logits),
        classes=tuple(classes),
        both=torch.no_grad()(both),
        prompts=tuple(prompts),
    )


def check_templates(templates: Sequence[str]) -> None:
    """Raise `UsageError` for a template without a place for the name of the class."""
    if isinstance(templates, str) or not templates:
        raise UsageError(f"prompts must be a list of templates, not {templates!r}")
    for template in templates:
        if "{}" not in template:
            raise UsageError(
                f"the prompt '{template}' has no {{}} in the place of the class, as in "
                f"'{TEMPLATES[0]}'"
            )


def in_words(name: str) -> str:
    """The name of a class as a text would call it.

    >>> in_words("n01440764"), in_words("golden_retriever"), in_words("tie (n02883205 n04591157)")
    ('tench', 'golden retriever', 'tie')
    """
    ids = wordnet_ids(name)
    stem = name.partition("(")[0].strip() if ids else name
    known = _imagenet_names().get(ids[0]) if ids and wordnet_ids(stem) else None
    return known or stem.replace("_", " ").strip() or name


@cache
def _imagenet_names() -> dict[str, str]:
    """The first of ImageNet's names of each class, by WordNet id."""
    info = timm.data.ImageNetInfo("imagenet-1k")
    names = zip(info.label_names(), info.label_descriptions(), strict=True)
    return {wordnet_id: text.partition(",")[0] for wordnet_id, text in names}
