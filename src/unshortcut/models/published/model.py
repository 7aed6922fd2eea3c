"""Load published weights as a model: its features, its classifier, or its embeddings."""

from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import timm
import torch
from rich.console import Console
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.loaded import LoadedModel
from unshortcut.models.published.architectures import (
    Architecture,
    resnet_of,
    timm_architecture,
    torchvision_architecture,
)
from unshortcut.models.published.heads import Found, find_classifier, find_head
from unshortcut.models.published.matching import Match, find_matches, misfits
from unshortcut.models.published.reading import WeightsFile, read_file
from unshortcut.models.published.spec import PublishedSpec, parse_published
from unshortcut.models.wrapping import from_encoder, from_module

IMAGENET = 1000
"""A classifier with this number of outputs has the classes of ImageNet."""


SMALL_STEM = 3
"""Size of the first convolution of ResNets for small images; lightly pads by 1, solo-learn by 2."""


@dataclass(frozen=True)
class PublishedModel:
    """Everything that is known of a model whose weights come from a file."""

    name: str
    architecture: Architecture  # with the weights
    preprocessing: Preprocessing
    head: Found | None
    classifier: nn.Linear | None
    report: str
    """What was taken from the file, and what was not."""

    def model(self) -> LoadedModel:
        """The encoder, with its classifier if there is one."""
        classifier = self.classifier
        imagenet = classifier is not None and classifier.out_features == IMAGENET
        return from_encoder(
            self.name,
            self.architecture.encoder,
            classifier,
            self.preprocessing,
            classes=self.architecture.imagenet_classes() if imagenet else None,
            maps=self.architecture.maps,
        )

    def projection(self) -> LoadedModel:
        """A model whose features (N, E) are unit embeddings, the output of encoder and head."""
        if self.head is None:
            raise UsageError(
                f"'{self.name}' has no projection head that is recognized, so it has features but "
                f"no embedding. {self.report}"
            )
        module = nn.Sequential(self.architecture.encoder, self.head.layers)

        def embed(images: Tensor) -> Tensor:
            return F.normalize(module(images), dim=1)

        return from_module(self.name, module, self.preprocessing, features=embed)


def load_published(spec: str | Path, **stated: Any) -> PublishedModel:
    """Load weights and say on standard error what was taken from the file.

    Args:
        spec: see `parse_published`.
        stated: fields of `Preprocessing`; by default ImageNet's mean and standard deviation and
            the usual crop, since such files state nothing.
    """
    parsed = parse_published(spec)
    assert parsed is not None, "a caller checks this first"
    file = read_file(parsed.path)
    with torch.random.fork_rng(devices=[]):
        loaded = _load(parsed, file, stated)
    Console(stderr=True).print(loaded.report, highlight=False, markup=False, soft_wrap=True)
    return loaded


def _load(spec: PublishedSpec, file: WeightsFile, stated: dict[str, Any]) -> PublishedModel:
    architecture = _architecture(spec, file)
    tensors, dim, place = file.tensors, architecture.dim, architecture.classifier
    matches = find_matches(tensors, architecture.network)
    match = _choose(spec, file, architecture, matches)
    architecture.network.load_state_dict(match.state(tensors), strict=False)
    head = find_head(tensors, match.prefix, place, dim)
    # An encoder that was trained with a head may still have a classifier that was never used.
    classifier = find_classifier(tensors, match.prefix, place if head is None else None, dim)
    said = [f"{architecture.name}{_origin(match.prefix)}"]
    used = [match.prefix + name for name in match.names.values()]
    if head is not None:
        said.append(f"head {head.widths}{_origin(head.prefix)}")
        used += [name for name in tensors if name.startswith(head.prefix)]
    if classifier is not None:
        count = classifier.linear[-1].out_features
        said.append(f"classifier of {count} classes{_origin(classifier.prefix)}")
        used += [f"{classifier.prefix}weight", f"{classifier.prefix}bias"]
    unused = _unused(tensors, used)
    report = f"'{file.path.name}': {', '.join(said)}" + (f"; not used: {unused}" if unused else "")
    others = [f"'{other.prefix.rstrip('.')}'" for other in matches if other is not match]
    if others and spec.part is None:
        report += f"; to use {' or '.join(others)} instead, append it to the file after a colon"
    return PublishedModel(
        file.path.name,
        architecture,
        Preprocessing(size=architecture.size).model_copy(update=stated),
        head,
        None if classifier is None else classifier.linear[-1],
        f"{report}.",
    )


def _origin(prefix: str) -> str:
    return f" from '{prefix.rstrip('.')}'" if prefix else ""


def _architecture(spec: PublishedSpec, file: WeightsFile) -> Architecture:
    if spec.architecture is not None:
        build = timm_architecture if spec.library == "timm" else torchvision_architecture
        return build(spec.architecture)
    stated = file.architecture
    name = stated if stated is not None and timm.is_model(stated) else resnet_of(file.tensors)
    if name is None:
        raise UsageError(
            f"'{spec.path}' does not say which architecture its weights are for; write "
            f"timm:NAME@{spec.path} or torchvision:NAME@{spec.path}"
        )
    return timm_architecture(name)


def _choose(
    spec: PublishedSpec, file: WeightsFile, architecture: Architecture, matches: list[Match]
) -> Match:
    """The encoder that the user asks for, or else the preferred one; it must fit completely."""
    asked = [one for one in matches if f".{spec.part}." in f".{one.prefix}"]
    if spec.part is not None and matches and not asked:
        prefixes = ", ".join(f"'{one.prefix.rstrip('.')}'" for one in matches)
        raise UsageError(
            f"'{file.path.name}' has no encoder '{spec.part}'; there is one under {prefixes}"
        )
    likely = resnet_of(file.tensors)
    other = likely is not None and likely != architecture.name.partition(":")[2]
    hint = f"; it contains a {likely}" if other else ""
    if not matches:
        names = ", ".join(list(file.tensors)[:3])
        raise UsageError(
            f"no tensor in '{file.path.name}' fits {architecture.name}{hint}; its tensors are "
            f"{names}, …"
        )
    match = (asked or matches)[0]
    stem = file.tensors.get(match.prefix + match.names.get("conv1.weight", ""))
    if stem is not None and stem.shape[-1] == SMALL_STEM:
        hint += (
            "; it has a stem for small images, whose padding and pooling no file states: load it "
            "with a function of your own, package.module:function"
        )
    unfit = misfits(match, file.tensors, architecture.network, architecture.classifier)
    if unfit:
        where = f" under '{match.prefix.rstrip('.')}'" if match.prefix else ""
        total = len(architecture.network.state_dict())
        raise UsageError(
            f"'{file.path.name}' does not fit {architecture.name}: of {total} tensors{where}, "
            f"{unfit}{hint}"
        )
    return match


def _unused(tensors: dict[str, Tensor], used: list[str]) -> str:
    """What was not taken, grouped by the first key in which names differ."""
    names = [name.split(".") for name in tensors]
    levels = (len(set(level)) == 1 for level in zip(*names, strict=False))
    shared = sum(takewhile(bool, levels))
    known = set(used)
    groups = Counter(
        ".".join(parts[shared : shared + 1])
        for parts, name in zip(names, tensors, strict=True)
        if name not in known
    )
    return ", ".join(f"'{group}' ({count})" for group, count in groups.items())
