"""Options that several commands share."""

import shlex
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from unshortcut.errors import UsageError

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A run folder, a .safetensors file beside its card, an .onnx file, timm:NAME, "
        "torchvision:NAME, or package.module:function.",
    ),
]
ModelsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL",
        help="One or more: run folders, .safetensors files beside their cards, .onnx files, "
        "timm:NAME, torchvision:NAME, or package.module:function.",
    ),
]
DataOption = Annotated[
    str,
    typer.Option(
        "--data",
        metavar="DATA",
        help="A folder of images (class folders optional), a tar file of one, shards "
        "'x-{000..127}.tar', or a name such as shapes or cifar10; DATA@split picks a split.",
    ),
]
RecipeArgument = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE", help="The name of a recipe (see `unshortcut recipes`) or a YAML file."
    ),
]
SetOption = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change one setting of the recipe, e.g. schedule.epochs=20 or "
        "views.augmentations.color_jitter.p=0. May be given several times.",
    ),
]
JsonOption = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON here.")
]
SizeOption = Annotated[
    int | None, typer.Option("--size", min=8, help="Input size, where no card states it.")
]
MeanOption = Annotated[
    str | None, typer.Option("--mean", metavar="R,G,B", help="Mean, where no card states it.")
]
StdOption = Annotated[
    str | None,
    typer.Option("--std", metavar="R,G,B", help="Standard deviation, where no card states it."),
]


_NOT_SHOWN = ("json", "out", "only", "require")
"""Options that change where a result goes, or how much of it, and not what it is."""


def command_line(context: typer.Context) -> str:
    """The command as it can be shown to anyone: what was given, without its owner's folders."""
    from unshortcut.result import public_name

    words = ["unshortcut", str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if parameter.name in _NOT_SHOWN or value in (None, [], ()) or value == parameter.default:
            continue
        option = parameter.opts[-1] if parameter.opts[-1].startswith("-") else None
        if value is True:
            words.append(str(option))
            continue
        for entry in value if isinstance(value, list | tuple) else [value]:
            words += ([] if option is None else [option]) + [public_name(str(entry))]
    return shlex.join(words)


class Preprocessing(TypedDict):
    """What the user says of a model's input, as `load_model` takes it."""

    size: int | None
    mean: tuple[float, float, float] | None
    std: tuple[float, float, float] | None


def preprocessing(size: int | None, mean: str | None, std: str | None) -> Preprocessing:
    """The options of the same names, read."""
    return {
        "size": size,
        "mean": _three_numbers(mean, "--mean"),
        "std": _three_numbers(std, "--std"),
    }


def _three_numbers(text: str | None, option: str) -> tuple[float, float, float] | None:
    """`0.5,0.5,0.5` as numbers."""
    if text is None:
        return None
    try:
        first, second, third = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"{option} wants three numbers such as 0.5,0.5,0.5, got '{text}'"
        ) from None
    return first, second, third
