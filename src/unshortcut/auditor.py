"""The audit as one call: measure models, and get the page."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from torch import nn

from unshortcut.auditing.run import examine
from unshortcut.errors import UsageError
from unshortcut.measuring.settings import MAX_IMAGES, Settings, Severities
from unshortcut.measuring.subjects.classifier import Kind
from unshortcut.measuring.subjects.making import Stated
from unshortcut.measuring.subjects.models import Model, by_name
from unshortcut.measuring.subjects.opening import Data
from unshortcut.models.load import LoadedModel, from_object, with_classes
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
    baseline: Anything | None = None,
    readout: Kind | None = None,
    train: Data | None = None,
    full: bool = False,
    images: int = MAX_IMAGES,
    seed: int = 0,
    aggregate: str = "mean",
    severities: Severities = "imagenet",
    size: int | None = None,
    mean: tuple[float, float, float] | None = None,
    std: tuple[float, float, float] | None = None,
    crop: float | None = None,
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
        train: labeled images to fit a readout on; by default the `train` split of the data, or
            else a half of them, which is then not measured on.
        full: every measurement takes all images, and no stratified subset.
        images: of the data that are looked at, at most.
        aggregate: `mean` or `sum`: the probability of a class that stands for several outputs.
        severities: of the corruptions, `imagenet` or `cifar`.
        size, mean, std, crop: the preprocessing of models that do not state it themselves; `crop`
            is the side of the crop at the center over the shorter side of the resized image.
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
    stated = Stated(size, mean, std, crop, None if classes is None else tuple(classes))
    named = _named(models, stated)
    findings = examine(
        named,
        data,
        conflict=conflict,
        shifts=shifts,
        hierarchy=hierarchy,
        mapping=mapping,
        only=only,
        baseline=None if baseline is None else _loaded(baseline, stated),
        readout=readout,
        train=train,
        settings=settings,
        size=size,
        mean=mean,
        std=std,
        crop=crop,
        classes=classes,
        console=console,
        command=command or _command(named, data, conflict, shifts, settings),
    )
    report = Report(findings)
    if out is not None:
        report.write(out)
    return report


def _named(models: Any, stated: Stated) -> dict[str, Model]:
    """Models by name; what is in memory becomes a loaded model."""
    if isinstance(models, Mapping):
        return {name: _loaded(model, stated, name) for name, model in models.items()}
    listed = models if isinstance(models, list | tuple) else [models]
    return by_name([_loaded(model, stated) for model in listed])


def _loaded(model: Any, stated: Stated, name: str | None = None) -> Model:
    """A spec or a loaded model as it is; anything else is a model that a user has made."""
    if isinstance(model, str | Path | LoadedModel):
        return model
    said = {
        "size": stated.size,
        "mean": stated.mean,
        "std": stated.std,
        "crop_share": stated.crop,
    }
    known = {key: value for key, value in said.items() if value is not None}
    made = from_object(model, name or type(model).__name__, **known)
    return made if stated.classes is None else with_classes(made, stated.classes)


def _command(
    models: Mapping[str, Model],
    data: Data,
    conflict: Data | None,
    shifts: Sequence[Data] | Mapping[str, Data],
    settings: Settings,
) -> str:
    """The command that comes nearest to a call from Python."""
    words = ["unshortcut", "audit", *(_word(model, "MODEL") for model in models.values())]
    words += ["--data", _word(data, "DATA")]
    if conflict is not None:
        words += ["--conflict", _word(conflict, "DATA")]
    for shift in shifts.values() if isinstance(shifts, Mapping) else shifts:
        words += ["--shift", _word(shift, "DATA")]
    if settings.full:
        words.append("--full")
    if settings.max_images != MAX_IMAGES:
        words += ["--images", str(settings.max_images)]
    return shlex.join(words)


def _word(given: Any, kind: str) -> str:
    return public_name(str(given)) if isinstance(given, str | Path) else kind
