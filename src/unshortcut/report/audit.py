"""The audit as one call: measure models, and get the page."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from torch import nn

from unshortcut.audit.classifier import Kind
from unshortcut.audit.models import Model, by_name
from unshortcut.audit.opening import Data
from unshortcut.audit.run import examine
from unshortcut.audit.settings import IMAGES, Settings, Severities
from unshortcut.errors import UsageError
from unshortcut.models.load import LoadedModel, from_object
from unshortcut.report.report import Report
from unshortcut.result import public_name

Anything = Model | nn.Module | Any
"""A spec as in `load_model`, a loaded model, a module, or an object with `features(images)`."""


def audit(
    models: Anything | Sequence[Anything] | Mapping[str, Anything],
    data: Data,
    *,
    conflict: Data | None = None,
    shifts: Sequence[Data] | Mapping[str, Data] = (),
    hierarchy: str | Path | None = None,
    mapping: str | Path | None = None,
    only: Sequence[str] = (),
    baseline: Model | None = None,
    readout: Kind | None = None,
    train: Data | None = None,
    full: bool = False,
    images: int = IMAGES,
    seed: int = 0,
    aggregate: str = "mean",
    severities: Severities = "imagenet",
    size: int | None = None,
    mean: tuple[float, float, float] | None = None,
    std: tuple[float, float, float] | None = None,
    classes: Sequence[str] | None = None,
    out: str | Path | None = None,
    console: Console | None = None,
    command: str | None = None,
) -> Report:
    """What models look at: every measurement, as a page, as a table, and as plain values.

    Args:
        models: one or more; a mapping gives them names. Specs as in `load_model`, loaded models,
            modules in memory, or objects with `features(images)`.
        data: images to measure on: the `test` split, or else `val`, or else all of them.
        conflict: stimuli with conflicting cues, `SHAPE/SHAPE1-TEXTURE2.png`, for the shape bias.
        shifts: images of the same classes in other domains.
        hierarchy: a file with two columns, fine class and coarse class.
        mapping: a file that matches classes of the images with those of the models.
        only: names of measurements; all of them by default.
        baseline: the model against whose errors the mean corruption error is taken; by default
            AlexNet's published ones.
        readout: `head`, `linear` or `knn`; by default a model's head where it can name the classes
            of the data, else a linear readout.
        train: labelled images to fit a readout on; by default the `train` split of the data, or
            else a half of them, which is then not measured on.
        full: every measurement takes all images, and no stratified subset.
        images: of the data that are looked at, at most.
        aggregate: `mean` or `sum`: the probability of a class that stands for several outputs.
        severities: of the corruptions, `imagenet` or `cifar`.
        size, mean, std: the preprocessing of models that do not state it themselves.
        classes: say that the output of an ONNX file or a module is the logits of these classes.
        out: write the page here.
    """
    for name, value, allowed in (
        ("aggregate", aggregate, ("mean", "sum")),
        ("severities", severities, ("imagenet", "cifar")),
        ("readout", readout or "linear", ("head", "linear", "knn")),
    ):
        if value not in allowed:
            raise UsageError(f"{name} must be one of {', '.join(allowed)}, not '{value}'")
    if images < 2:
        raise UsageError(f"images must be at least 2, not {images}")
    settings = Settings(full, images, seed, aggregate, severities)  # type: ignore[arg-type]
    stated = {"size": size, "mean": mean, "std": std}
    known = {key: value for key, value in stated.items() if value is not None}
    named = _named(models, known)
    findings = examine(
        named,
        data,
        conflict=conflict,
        shifts=shifts,
        hierarchy=hierarchy,
        mapping=mapping,
        only=only,
        baseline=baseline,
        readout=readout,
        train=train,
        settings=settings,
        size=size,
        mean=mean,
        std=std,
        classes=classes,
        console=console,
        command=command or _command(named, data),
    )
    report = Report(findings)
    if out is not None:
        report.write(out)
    return report


def _named(models: Any, stated: Mapping[str, Any]) -> dict[str, Model]:
    """Models by name; what is in memory becomes a loaded model."""

    def loaded(model: Any, name: str | None = None) -> Model:
        if isinstance(model, str | Path | LoadedModel):
            return model
        return from_object(model, name or type(model).__name__, **stated)

    if isinstance(models, Mapping):
        return {name: loaded(model, name) for name, model in models.items()}
    listed = models if isinstance(models, list | tuple) else [models]
    return by_name([loaded(model) for model in listed])


def _command(models: Mapping[str, Model], data: Data) -> str:
    """The command that comes nearest to a call from Python."""
    known = [public_name(str(one)) for one in models.values() if isinstance(one, str | Path)]
    words = [*known, *["MODEL"] * (len(models) - len(known))]
    shown = public_name(str(data)) if isinstance(data, str | Path) else "DATA"
    return shlex.join(["unshortcut", "audit", *words, "--data", shown])
