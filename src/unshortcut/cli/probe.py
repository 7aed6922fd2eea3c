"""`unshortcut probe`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli.options import (
    DataOption,
    JsonOption,
    MeanOption,
    ModelArgument,
    SizeOption,
    StdOption,
    preprocessing,
)

GROUP = "Evaluate"

if TYPE_CHECKING:
    from unshortcut.models.load import LoadedModel
    from unshortcut.probes.probe import ProbeResult


def command(
    model: ModelArgument,
    data: DataOption,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            help="linear, knn, fewshot (5 and 10 images a class), or rotation (by which quarter "
            "turn an image was turned; needs no labels).",
        ),
    ] = "linear",
    on: Annotated[
        list[str],
        typer.Option(
            "--on",
            metavar="DATA",
            help="Test on this, e.g. shapes@conflict. May be given several times. "
            "[default: the test or val split of --data]",
        ),
    ] = [],
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            help="For linear and rotation: a paper's own, moco, nsn, looc or mae, instead of ours.",
        ),
    ] = None,
    sets: Annotated[
        list[str],
        typer.Option("--set", metavar="KEY=VALUE", help="Any other setting of the probe."),
    ] = [],
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="How many seeds.")] = None,
    spaces: Annotated[
        str | None,
        typer.Option(
            "--spaces", metavar="NAMES", help="Only these spaces of a looc run: invariant,color."
        ),
    ] = None,
    size: SizeOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    json: JsonOption = None,
) -> None:
    """Measure frozen features: a readout is fitted on the train split and scored on others.

    Settings of the readout are chosen on a held-out part of train, never on a test split.
    """
    from unshortcut.models.load import load_model
    from unshortcut.plain_yaml import parse_set
    from unshortcut.probes.run import probe
    from unshortcut.result import write_result

    loaded = load_model(model, **preprocessing(size, mean, std))
    if spaces is not None:
        loaded = _of_spaces(model, loaded, spaces.split(","))
    given: dict[str, Any] = {"protocol": protocol, "seeds": seeds}
    settings = {key: value for key, value in given.items() if value is not None}
    for change in sets:
        settings |= parse_set(change)
    result = probe(loaded, data, kind, tests=on, **settings)
    Console().print(_table(result, f"{kind} probe of {loaded.name}"))
    if result.chosen:
        chosen = ", ".join(f"{key} {value}" for key, value in result.chosen.items())
        Console().print(f"chosen on held-out training features: {chosen}", highlight=False)
    if json is not None:
        write_result(json, "probe", metrics=result.to_dict(), data=data, model=model)


def _of_spaces(spec: str, loaded: "LoadedModel", names: list[str]) -> "LoadedModel":
    """Some spaces of a model; those of a run are in its checkpoint."""
    from dataclasses import replace

    from unshortcut.measuring.subjects.models import load_with_spaces
    from unshortcut.spaces.subsets import select_spaces

    chosen = select_spaces(load_with_spaces(spec), names)
    return replace(chosen, preprocessing=loaded.preprocessing)


def _table(result: "ProbeResult", title: str) -> Table:
    table = Table("data", "accuracy", title=title)
    for name, score in result.scores.items():
        spread = score.std if score.interval is None else score.interval
        if spread is not None:
            meaning = (
                "standard deviation" if score.interval is None else "95 % interval of the mean"
            )
            table.caption = f"± {meaning}"
        table.add_row(name, f"{score.mean:.2f} %" + ("" if spread is None else f" ± {spread:.2f}"))
    return table
