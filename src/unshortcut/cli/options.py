"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, TypedDict

import typer

from unshortcut.errors import UsageError

_MODEL = (
    "a run folder, a .safetensors file next to its card, an .onnx file, timm:NAME, "
    "torchvision:NAME, or package.module:function."
)
ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help=f"The model: {_MODEL}")]
ModelsArgument = Annotated[
    list[str], typer.Argument(metavar="MODEL", help=f"One or more models, each {_MODEL}")
]
DataOption = Annotated[
    str,
    typer.Option(
        "--data",
        metavar="DATA",
        help="A folder of images (class folders are optional), a tar file of such a folder, shards "
        "'x-{000..127}.tar', or a name such as shapes or cifar10. DATA@split selects a split.",
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
        help="Change a setting of the recipe, e.g. schedule.epochs=20 or "
        "views.augmentations.color_jitter.p=0. May be given several times.",
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write the result to this file as JSON."),
]
_UNSTATED = "for models that do not state their own."
SizeOption = Annotated[int | None, typer.Option("--size", min=8, help=f"Input size, {_UNSTATED}")]
MeanOption = Annotated[
    str | None, typer.Option("--mean", metavar="R,G,B", help=f"Mean of the channels, {_UNSTATED}")
]
StdOption = Annotated[
    str | None,
    typer.Option("--std", metavar="R,G,B", help=f"Standard deviation of the channels, {_UNSTATED}"),
]


class PreprocessingOptions(TypedDict):
    """How the input of a model is prepared, as `load_model` takes it."""

    size: int | None
    mean: tuple[float, float, float] | None
    std: tuple[float, float, float] | None


def preprocessing(size: int | None, mean: str | None, std: str | None) -> PreprocessingOptions:
    """Parse the options of the same names."""
    return {
        "size": size,
        "mean": _three_numbers(mean, "--mean"),
        "std": _three_numbers(std, "--std"),
    }


def _three_numbers(text: str | None, option: str) -> tuple[float, float, float] | None:
    """Parse `0.5,0.5,0.5`."""
    if text is None:
        return None
    try:
        first, second, third = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"{option} needs three numbers such as 0.5,0.5,0.5, not '{text}'"
        ) from None
    return first, second, third
