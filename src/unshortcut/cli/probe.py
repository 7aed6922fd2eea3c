"""`unshortcut probe`."""

from typing import Annotated, Any

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
    three_numbers,
)


def command(
    model: ModelArgument,
    data: DataOption,
    kind: Annotated[str, typer.Option("--kind", help="linear, knn, or another probe.")] = "linear",
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
            "--protocol", help="For linear: a paper's own, moco, nsn, looc or mae, instead of ours."
        ),
    ] = None,
    sets: Annotated[
        list[str],
        typer.Option("--set", metavar="KEY=VALUE", help="Any other setting of the probe."),
    ] = [],
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="How many seeds.")] = None,
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

    loaded = load_model(
        model, size=size, mean=three_numbers(mean, "--mean"), std=three_numbers(std, "--std")
    )
    given: dict[str, Any] = {"protocol": protocol, "seeds": seeds}
    settings = {key: value for key, value in given.items() if value is not None}
    for change in sets:
        settings |= parse_set(change)
    result = probe(loaded, data, kind, tests=on, **settings)
    table = Table("data", "accuracy", title=f"{kind} probe of {loaded.name}")
    for name, score in result.scores.items():
        deviation = "" if score.std is None else f" ± {score.std:.2f}"
        table.add_row(name, f"{score.mean:.2f} %{deviation}")
    Console().print(table)
    if result.chosen:
        chosen = ", ".join(f"{key} {value}" for key, value in result.chosen.items())
        Console().print(f"chosen on held-out training features: {chosen}", highlight=False)
    if json is not None:
        write_result(json, "probe", figures=result.figures(), data=data, model=model)
