"""Arguments and options that several commands share, and what is done with their values."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar

import typer

from unshortcut.errors import UsageError

C = TypeVar("C", bound=Callable[..., None])

_MODEL = (
    "a run folder, a .safetensors file next to its card, an .onnx file, timm:NAME, "
    "torchvision:NAME, hf:NAME or hf:FOLDER (transformers), open_clip:NAME@TAG, weights published "
    "by others (timm:NAME@FILE, or a .pth, .pt, .tar or .ckpt file of a ResNet), embedded:NAME (an "
    "encoder of the package, such as embedded:moco-v2-shapes), or package.module:function."
)
ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help=f"The model: {_MODEL}")]
ModelsArgument = Annotated[
    list[str], typer.Argument(metavar="MODEL", help=f"One or more models, each {_MODEL}")
]
DATA_HELP = (
    "A folder of images (class folders are optional), a tar file of such a folder, shards "
    "'x-{000..127}.tar', a folder of Parquet files, or a name such as shapes or cifar10. "
    "DATA@split selects a split, DATA@train+val joins two; marks:DATA has a planted mark for each "
    "class."
)
DataOption = Annotated[str, typer.Option("--data", metavar="DATA", help=DATA_HELP)]
_RECIPE = "The name of a recipe (see `unshortcut recipes`) or a YAML file."
RecipeArgument = Annotated[str, typer.Argument(metavar="RECIPE", help=_RECIPE)]
_SET = (
    "Change a setting of the recipe, e.g. schedule.epochs=20 or "
    "views.augmentations.color_jitter.p=0. May be given several times."
)
SetOption = Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE", help=_SET)]
_JSON = "Write the result to this file as JSON."
JsonOption = Annotated[Path | None, typer.Option("--json", metavar="FILE", help=_JSON)]
_UNSTATED = "instead of the one that the model states."
SizeOption = Annotated[int | None, typer.Option("--size", min=8, help=f"Input size, {_UNSTATED}")]
MeanOption = Annotated[
    str | None, typer.Option("--mean", metavar="R,G,B", help=f"Mean of the channels, {_UNSTATED}")
]
_STD = f"Standard deviation of the channels, {_UNSTATED}"
StdOption = Annotated[str | None, typer.Option("--std", metavar="R,G,B", help=_STD)]
_ON = (
    "Test on this data set, e.g. shapes@conflict. May be given several times. "
    "[default: the test or val split of --data]"
)
OnOption = Annotated[list[str], typer.Option("--on", metavar="DATA", help=_ON)]
_PROBE_SET = "Any other setting of the probe."
ProbeSetOption = Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE", help=_PROBE_SET)]
SeedsOption = Annotated[int | None, typer.Option("--seeds", min=1, help="Number of random seeds.")]
_WORKERS = (
    "Number of threads that decode images; the result does not depend on it. "
    "[default: one per core]"
)
WorkersOption = Annotated[int | None, typer.Option("--workers", min=0, help=_WORKERS)]


class PreprocessingOptions(TypedDict):
    """How the input of a model is prepared, as `load_model` takes it."""

    size: int | None
    mean: tuple[float, float, float] | None
    std: tuple[float, float, float] | None


def preprocessing(size: int | None, mean: str | None, std: str | None) -> PreprocessingOptions:
    """Parse the options of the same names."""
    return {"size": size, "mean": _color(mean, "--mean"), "std": _color(std, "--std")}


def _color(text: str | None, option: str) -> tuple[float, float, float] | None:
    """Parse `0.5,0.5,0.5`."""
    if text is None:
        return None
    try:
        red, green, blue = map(float, text.split(","))
    except ValueError:
        message = f"{option} needs three numbers such as 0.5,0.5,0.5, not '{text}'"
        raise UsageError(message) from None
    return red, green, blue


def settings_of(sets: Iterable[str], **given: Any) -> dict[str, Any]:
    """The settings that `--set KEY=VALUE` gives, and those given here that are not None."""
    from unshortcut.plain_yaml import parse_set

    settings = {key: value for key, value in given.items() if value is not None}
    for change in sets:
        settings |= parse_set(change)
    return settings


def write_json(
    path: Path | None,
    command: str,
    metrics: dict[str, Any],
    *,
    data: str,
    models: str | list[str] | None = None,
    seed: int | None = None,
) -> None:
    """Write the result of a command to the file of `--json`, if there is one."""
    from unshortcut.result import write_result

    if path is not None:
        only = [models] if isinstance(models, str) else models or []
        model = only[0] if len(only) == 1 else None
        write_result(path, command, metrics=metrics, seed=seed, data=data, model=model)


def with_options(command: C, options: Iterable[inspect.Parameter]) -> C:
    """Give a command these options in place of its `**options`."""
    signature = inspect.signature(command)
    *own, _ = signature.parameters.values()
    extended: Any = command
    extended.__signature__ = signature.replace(parameters=[*own, *options])
    return command
