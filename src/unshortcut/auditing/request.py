"""The arguments of an audit, spelled out once.

`unshortcut.audit` takes its signature from here, and the command line its options, with their help
and their defaults. Only light modules are imported, so that `--help` is quick.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unshortcut.errors import UsageError
from unshortcut.result import public_name

if TYPE_CHECKING:
    from rich.console import Console
    from torch import nn

    from unshortcut.data.naming import Data
    from unshortcut.measuring.subjects.models import ModelLike

    AuditModel = ModelLike | nn.Module | Any

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Option:
    """An argument that is also an option of the command line."""

    metavar: str | None = None
    flag: str | None = None
    """Defaults to the name of the argument, with hyphens."""
    type: type | None = None
    """Type of the value, where the default does not tell it and it is not `str`."""
    choices: tuple[str, ...] = ()
    min: float | None = None
    max: float | None = None


def _help(text: str, **option: Any) -> dict[str, Any]:
    """Metadata of a field: its documentation, and its option on the command line if it has one."""
    return {"help": text, "option": Option(**option) if option else None}


@dataclass(frozen=True)
class AuditRequest:
    """What to measure: models, data, and how."""

    models: AuditModel | Sequence[AuditModel] | Mapping[str, AuditModel] = field(
        metadata=_help(
            "One model or several; a mapping gives them names. Each is a spec as in `load_model`, "
            "a loaded model, an `nn.Module`, or an object with `features(images)`."
        )
    )
    data: Data = field(
        metadata=_help("Images to measure on: the `test` split, or else `val`, or else all images.")
    )
    _: KW_ONLY
    conflict: Data | None = field(
        default=None,
        metadata=_help(
            "Images with the shape of one class and the texture of another, named "
            "SHAPE/SHAPE1-TEXTURE2.png, for the shape bias. `shapes@conflict` is built in.",
            metavar="DATA",
        ),
    )
    shifts: Sequence[Data] | Mapping[str, Data] = field(
        default=(),
        metadata=_help(
            "Images of the same classes in another domain, such as sketches or cartoons.",
            flag="--shift",
            metavar="DATA",
        ),
    )
    hierarchy: str | Path | None = field(
        default=None,
        metadata=_help("File with two columns: fine class and coarse class.", metavar="FILE"),
    )
    mapping: str | Path | None = field(
        default=None,
        metadata=_help(
            "File that lists the classes of the models (names, or indices from 0) for each class "
            "of the images: two columns, or JSON. Not needed for the classes of ImageNet.",
            metavar="FILE",
        ),
    )
    only: Sequence[str] = field(
        default=(),
        metadata=_help("Names of the measurements to make, by default all.", metavar="NAME"),
    )
    baseline: AuditModel | None = field(
        default=None,
        metadata=_help(
            "Model whose errors the mean corruption error is relative to. Defaults to the "
            "published errors of AlexNet.",
            metavar="MODEL",
        ),
    )
    classifier: Literal["head", "linear", "knn"] | None = field(
        default=None,
        metadata=_help(
            "What classifies the images: head (the model's own), linear (a linear probe on its "
            "features) or knn. Defaults to the head where it covers at least half of the classes "
            "of the images, and to linear otherwise.",
            choices=("head", "linear", "knn"),
        ),
    )
    train: Data | None = field(
        default=None,
        metadata=_help(
            "Labeled images to fit the linear probe or kNN on. Defaults to the `train` split of "
            "the data, or else to half of the images, which are then not measured on.",
            metavar="DATA",
        ),
    )
    full: bool = field(
        default=False,
        metadata=_help("Use all images in every measurement, however long it takes.", type=bool),
    )
    max_images: int = field(
        default=2000, metadata=_help("Maximum number of images to measure on.", min=2)
    )
    seed: int = field(
        default=0, metadata=_help("Random seed for image subsets and for noise.", min=0)
    )
    aggregate: Literal["mean", "sum"] = field(
        default="mean",
        metadata=_help(
            "Probability of a class that has several outputs: the mean or the sum of theirs.",
            choices=("mean", "sum"),
        ),
    )
    severities: Literal["imagenet", "cifar"] = field(
        default="imagenet",
        metadata=_help(
            "Severities of the corruptions: those of ImageNet-C (imagenet) or CIFAR-10-C (cifar).",
            choices=("imagenet", "cifar"),
        ),
    )
    workers: int | None = field(
        default=None,
        metadata=_help(
            "Number of threads that decode images. Defaults to the number of available cores.",
            type=int,
            min=1,
        ),
    )
    size: int | None = field(
        default=None,
        metadata=_help("Input size, for models that do not state their own.", type=int, min=8),
    )
    mean: Triple | None = field(
        default=None,
        metadata=_help(
            "Mean of the channels, for models that do not state their own.", metavar="R,G,B"
        ),
    )
    std: Triple | None = field(
        default=None,
        metadata=_help(
            "Standard deviation of the channels, for models that do not state their own.",
            metavar="R,G,B",
        ),
    )
    crop: float | None = field(
        default=None,
        metadata=_help(
            "Side of the center crop relative to the shorter side of the image, for models that do "
            "not state their own. Defaults to 1 for ONNX files and for your own functions.",
            type=float,
            min=0.1,
            max=1.0,
        ),
    )
    classes: Sequence[str] | str | Path | None = field(
        default=None,
        metadata=_help(
            "File with one class per line (in Python also a list of names): the output of an ONNX "
            "file or a module is the logits of these classes, not features.",
            metavar="FILE",
        ),
    )
    out: str | Path | None = field(default=None, metadata=_help("File to write the page to."))
    console: Console | None = field(
        default=None, metadata=_help("Where to print progress. Defaults to standard error.")
    )
    command: str | None = field(
        default=None,
        metadata=_help("Command to show on the page, by default the one closest to the call."),
    )

    def __post_init__(self) -> None:
        for name, _, option in command_line_options(self):
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

    def command_line(self) -> str:
        """The command that comes closest to this request, without private folders."""
        words = ["unshortcut", "audit", *_words(self.models, "MODEL")]
        words += ["--data", *_words(self.data, "DATA")]
        for name, flag, option in command_line_options(self):
            value = getattr(self, name)
            if name in ("only", "workers"):  # they do not change a result
                continue
            if option.type is bool:
                words += [flag] if value else []
            elif value is not None and value != AuditRequest.__dataclass_fields__[name].default:
                for word in _words(value, str(option.metavar)):
                    words += [flag, word]
        return shlex.join(words)


def command_line_options(
    request: AuditRequest | type[AuditRequest],
) -> list[tuple[str, str, Option]]:
    """Name, flag and description of the arguments that are options of the command line."""
    described = [(one.name, one.metadata.get("option")) for one in fields(request)]
    return [
        (name, option.flag or f"--{name.replace('_', '-')}", option)
        for name, option in described
        if option is not None
    ]


def _words(value: Any, placeholder: str) -> list[str]:
    """A value as it is given on the command line; a placeholder for what is only in memory."""
    if isinstance(value, str | Path | int | float):
        return [public_name(str(value))]
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, list | tuple) or placeholder == "FILE":
        return [placeholder]
    if placeholder == "R,G,B":
        return [",".join(str(one) for one in value)]
    return [word for one in value for word in _words(one, placeholder)]
