"""`unshortcut compare`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli.options import JsonOption
from unshortcut.errors import UsageError

if TYPE_CHECKING:
    from unshortcut.measurements.measurement import Metric

GROUP = "Evaluate"


def command(
    audits: list[Path] = typer.Argument(
        metavar="AUDIT", help="JSON files that `unshortcut audit --json FILE` wrote."
    ),
    x: str | None = typer.Option(
        None, metavar="METRIC", help="Metric on the horizontal axis, e.g. shape_bias."
    ),
    y: str | None = typer.Option(
        None, metavar="METRIC", help="Metric on the vertical axis, e.g. shift_accuracy_sketch."
    ),
    labels: list[str] = typer.Option(
        [],
        "--label",
        metavar="MODEL=TEXT",
        help="Another name for a model. May be given several times.",
    ),
    out: Path = typer.Option(
        "compare.html", metavar="FILE", help="HTML file to write the page to."
    ),
    json: JsonOption = None,
) -> None:
    """Compare two metrics over models: a scatter plot with their correlation.

    Reads the JSON files of any number of audits, each of one or more models. Without --x and --y,
    lists the metrics that they have.

    - unshortcut compare audit.json
    - unshortcut compare a.json b.json --x shape_bias --y shift_accuracy_sketch
    """
    from unshortcut.report.audit_files import read_audits
    from unshortcut.report.model_comparison import compare
    from unshortcut.result import write_result

    if x is None and y is None:
        _list_metrics([model.metrics for one in read_audits(audits) for model in one.models])
        return
    if x is None or y is None:
        raise UsageError("give both --x and --y, or neither to list the metrics")
    if out.is_dir():
        raise UsageError(f"'{out}' is a folder, and --out needs an HTML file")
    pairs = [label.rpartition("=") for label in labels]
    for label, (model, _, text) in zip(labels, pairs, strict=True):
        if not model or not text:
            raise UsageError(f"expected --label MODEL=TEXT, got '{label}'")
    names = {model: text for model, _, text in pairs}
    found = compare(audits, x, y, labels=names, out=out)
    console = Console()
    console.print(found)
    if json is not None:
        write_result(json, "compare", metrics=found.to_dict())
    console.print(f"wrote {out}" + ("" if json is None else f" and {json}"), highlight=False)


def _list_metrics(models: "list[Mapping[str, Metric]]") -> None:
    """Print every metric, the models that have it, and its range."""
    from unshortcut.report.formats import printable, value_of

    names = list(dict.fromkeys(name for metrics in models for name in metrics))
    table = Table()
    # Names are there to be copied, so that they must not be shortened or wrapped.
    table.add_column("metric", no_wrap=True, min_width=max(map(len, names), default=0))
    for title in ("what it is", "models", "lowest", "highest"):
        table.add_column(title)
    for name in names:
        found = sorted((m[name] for m in models if name in m), key=lambda metric: metric.value)
        ends = value_of(found[0]), value_of(found[-1])
        label, count = printable(found[0].label), f"{len(found)} of {len(models)}"
        table.add_row(printable(name), label, count, *ends)
    Console().print(table)
