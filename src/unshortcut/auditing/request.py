"""The arguments of an audit, spelled out once.

`unshortcut.audit` takes its signature from here, and the command line its options, with their help
and their defaults. Only light modules are imported, so that `--help` is quick.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from unshortcut.errors import UsageError
from unshortcut.result import public_name

if TYPE_CHECKING:
    from rich.console import Console
    from torch import nn

    from unshortcut.data.naming import Data
    from unshortcut.models.load import ModelLike

    AuditModel: TypeAlias = ModelLike | nn.Module | Any

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class AuditRequest:
    """What to measure: models, data, and how.

    Args:
        models: One model or several; a mapping gives them names. Each is a spec as in `load_model`,
            a loaded model, an `nn.Module`, or an object with `features(images)`.
        data: Images to measure on: the `test` split, or else `val`, or else all images.
        conflict: Images with the shape of one class and the texture of another, named
            SHAPE/SHAPE1-TEXTURE2.png, for the shape bias. `shapes@conflict` is built in.
        shifts: Images of the same classes in another domain, such as sketches or cartoons.
        hierarchy: File with two columns: fine class and coarse class. wordnet is the hierarchy of
            ImageNet's classes, wordnet:dog,bird has only these coarse classes.
        corrupted: Folder of ImageNet-C as published (CORRUPTION/SEVERITY/CLASS/IMAGE), for an mCE
            that can be compared. By default, corruptions are made in memory.
        mapping: File that lists the classes of the models (names, or indices from 0) for each class
            of the images: two columns, or JSON. Not needed for the classes of ImageNet.
        only: Names of the measurements to make, by default all that the profile includes.
        profile: How many images are used: quick (a first verdict on shape bias, texture, patches
            and corruptions, in about 2,000 forward passes), standard (all measurements, each on
            enough images for narrow intervals) or full (every measurement on all images, however
            long it takes).
        baseline: Model whose errors the mean corruption error is relative to. Defaults to the
            published errors of AlexNet.
        classifier: What classifies the images: head (the model's own), linear (a linear probe on
            its features) or knn. Defaults to the head where it covers at least half of the classes
            of the images, and to linear otherwise.
        train: Labeled images to fit the linear probe or kNN on. Defaults to the `train` split of
            the data, or else to half of the images, which are then not measured on.
        max_images: Maximum number of images to measure on. Defaults to 200 in the profile quick,
            to 2000 in standard, and to all in full.
        seed: Random seed for image subsets and for noise.
        aggregate: Probability of a class that has several outputs: the mean or the sum of theirs.
        severities: Severities of the corruptions: those of ImageNet-C (imagenet) or CIFAR-10-C
            (cifar).
        workers: Number of threads that decode images. Defaults to the number of available cores.
        size: Input size of all models, instead of the one that each states.
        mean: Mean of the channels for all models, instead of the one that each states.
        std: Standard deviation of the channels for all models, instead of the one that each states.
        crop: Side of the center crop relative to the shorter side of the image for all models,
            instead of the one that each states, which is 1 for ONNX files and for your own
            functions that state none.
        classes: File with one class per line (in Python also a list of names): the output of an
            ONNX file or a module is the logits of these classes, not features; a model of images
            and texts has these classes instead of those of the images.
        prompts: Text that stands for a class, for models of images and texts such as
            open_clip:NAME, with {} in the place of the class. Defaults to 'a photo of a {}.'
        previous: JSON file of an earlier audit (`--json`). What has changed since is printed and
            part of the page.
        out: File to write the page to.
        console: Where to print progress. Defaults to standard error.
        command: Command to show on the page. Defaults to the one that is closest to the call.
    """

    models: AuditModel | Sequence[AuditModel] | Mapping[str, AuditModel]
    data: Data
    _: KW_ONLY
    conflict: Data | None = None
    shifts: Sequence[Data] | Mapping[str, Data] = ()
    hierarchy: str | Path | None = None
    corrupted: str | Path | None = None
    mapping: str | Path | None = None
    only: Sequence[str] = ()
    profile: Literal["quick", "standard", "full"] = "standard"
    baseline: AuditModel | None = None
    classifier: Literal["head", "linear", "knn"] | None = None
    train: Data | None = None
    max_images: int | None = None
    seed: int = 0
    aggregate: Literal["mean", "sum"] = "mean"
    severities: Literal["imagenet", "cifar"] = "imagenet"
    workers: int | None = None
    size: int | None = None
    mean: Triple | None = None
    std: Triple | None = None
    crop: float | None = None
    classes: Sequence[str] | str | Path | None = None
    prompts: Sequence[str] = ()
    previous: str | Path | None = None
    out: str | Path | None = None
    console: Console | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            value = getattr(self, name)
            if value is None:
                continue
            if option.choices and value not in option.choices:
                allowed = ", ".join(option.choices)
                raise UsageError(f"{name} must be one of {allowed}, not '{value}'")
            if option.min is not None and value < option.min:
                raise UsageError(f"{name} must be at least {option.min}, not {value}")
            if option.max is not None and value > option.max:
                raise UsageError(f"{name} must be at most {option.max}, not {value}")

    def summary(self) -> str:
        """One line about the audit: models, data and measurements."""
        several = isinstance(self.models, Mapping | list | tuple)
        listed: Any = self.models if several else [self.models]
        models = ", ".join(_label(one) for one in listed)
        only = [self.only] if isinstance(self.only, str) else self.only
        every = "a quick audit" if self.profile == "quick" else "all measurements"
        measurements = ", ".join(only) or every
        return f"Auditing {models} on {_data_label(self.data)}: {measurements}"

    def command_line(self) -> str:
        """The command that comes closest to this request, without private folders."""
        command = ["unshortcut", "audit", *_arguments(self.models, "MODEL")]
        command += ["--data", *_arguments(self.data, "DATA")]
        for name, option in OPTIONS.items():
            value = getattr(self, name)
            default = getattr(AuditRequest, name)
            if name in ("only", "workers", "previous") or value in (None, default):
                continue  # those three do not change a result
            for argument in _arguments(value, str(option.metavar)):
                command += [flag_of(name), argument]
        return shlex.join(command)


@dataclass(frozen=True)
class Option:
    """An argument of the audit as an option of the command line."""

    metavar: str | None = None
    flag: str | None = None  # defaults to the name of the argument, with hyphens
    type: type = str  # of the value, where the default is None
    choices: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None


OPTIONS = {
    "conflict": Option("DATA"),
    "shifts": Option("DATA", flag="--shift"),
    "hierarchy": Option("FILE"),
    "corrupted": Option("FOLDER"),
    "mapping": Option("FILE"),
    "only": Option("NAME"),
    "profile": Option("quick|standard|full", choices=("quick", "standard", "full")),
    "baseline": Option("MODEL"),
    "classifier": Option(choices=("head", "linear", "knn")),
    "train": Option("DATA"),
    "max_images": Option(type=int, min=2),
    "seed": Option(min=0),
    "aggregate": Option(choices=("mean", "sum")),
    "severities": Option(choices=("imagenet", "cifar")),
    "workers": Option(type=int, min=1),
    "size": Option(type=int, min=8),
    "mean": Option("R,G,B"),
    "std": Option("R,G,B"),
    "crop": Option(type=float, min=0.1, max=1.0),
    "classes": Option("FILE"),
    "prompts": Option("TEXT", flag="--prompt"),
    "previous": Option("FILE"),
}
"""Arguments that are plain options of `unshortcut audit`."""


def flag_of(name: str) -> str:
    """The flag of an argument: `--max-images` for `max_images`."""
    return OPTIONS[name].flag or f"--{name.replace('_', '-')}"


def argument_help() -> dict[str, str]:
    """The documentation of each argument, from the docstring of `AuditRequest`."""
    _, _, arguments = inspect.cleandoc(AuditRequest.__doc__ or "").partition("Args:\n")
    found = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", arguments, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def _data_label(data: Any) -> str:
    if isinstance(data, str | Path):
        return public_name(str(data))
    from unshortcut.data.naming import data_name  # imports torch, as a source has done already

    return data_name(data)


def _label(value: Any) -> str:
    if isinstance(value, str | Path):
        return public_name(str(value))
    return str(getattr(value, "name", type(value).__name__))


def _arguments(value: Any, placeholder: str) -> list[str]:
    """A value as it is given on the command line; a placeholder for what is only in memory."""
    if isinstance(value, str | Path | int | float):
        return [public_name(str(value))]
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, list | tuple) or placeholder == "FILE":
        return [placeholder]
    if placeholder == "R,G,B":
        return [",".join(str(one) for one in value)]
    return [argument for one in value for argument in _arguments(one, placeholder)]
