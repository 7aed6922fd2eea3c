"""`unshortcut spaces`."""

from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli import options

GROUP = "Evaluate"

if TYPE_CHECKING:
    from unshortcut.probes.base import Score
    from unshortcut.spaces.reliance import SpaceReliance


def command(
    model: str = typer.Argument(
        metavar="MODEL", help="A run of the method looc, or a .safetensors file with spaces of one."
    ),
    *,
    data: options.DataOption,
    on: options.OnOption = [],
    kind: str = typer.Option("linear", help="linear, knn, rotation, fewshot, or another probe."),
    subsets: str = typer.Option(
        "each",
        metavar="NAMES",
        help="Subsets to probe, such as color,invariant+color. 'each' means all subsets of up to "
        "four spaces; for more spaces, each alone, the first with each other, and all.",
    ),
    sets: options.ProbeSetOption = [],
    seeds: options.SeedsOption = None,
    out: Path = typer.Option(
        "spaces", metavar="FOLDER", help="Folder for reliance.png, reliance.csv and result.json."
    ),
    workers: options.WorkersOption = None,
    json: options.JsonOption = None,
) -> None:
    """Measure what each space of a model knows, and which spaces a classifier relies on.

    A probe on every subset of the spaces shows what each space adds. Then a linear classifier on
    all spaces is analyzed: for each correctly classified image, the share of every space in the sum
    of activation × weight for its class, and the entropy of these shares in bits.
    """
    typer.echo(f"Running a {kind} probe on subsets of the spaces of {model} on {data}", err=True)
    from unshortcut.errors import UsageError
    from unshortcut.probes.prepare import prepare_probe
    from unshortcut.result import RESULT_FILE
    from unshortcut.spaces.loading import load_with_spaces
    from unshortcut.spaces.reliance import space_reliance
    from unshortcut.spaces.subsets import probe_spaces

    if out.is_file():
        raise UsageError(f"'{out}' is a file; --out must be a folder")
    settings = options.settings_of(sets, seeds=seeds)
    loaded = load_with_spaces(model)
    problem = prepare_probe(loaded, data, tests=on, needs_labels=False).label_problem
    scores = probe_spaces(
        loaded, data, kind, subsets=subsets, tests=on, workers=workers, **settings
    )
    console = Console()
    tests = list(next(iter(scores.values())).scores)
    table = Table("spaces", *tests, title=f"{kind} probe of {loaded.name} by spaces")
    for subset, result in scores.items():
        table.add_row(" + ".join(subset), *(_cell(result.scores[name]) for name in tests))
    console.print(table)
    metrics: dict[str, Any] = {
        "subsets": {"+".join(subset): result.to_dict() for subset, result in scores.items()}
    }
    out.mkdir(parents=True, exist_ok=True)
    written = [RESULT_FILE]
    if problem is not None:
        typer.echo(f"No classifier is analyzed: {problem}.")
    else:
        reliance = space_reliance(loaded, data, tests=on, seeds=seeds or 3, workers=workers)
        console.print(_shares(reliance))
        metrics["reliance"] = reliance.to_dict()
        reliance.plot(out / "reliance.png")
        reliance.write_images(out / "reliance.csv")
        written = ["reliance.png", "reliance.csv", RESULT_FILE]
    for path in (out / RESULT_FILE, json):
        options.write_json(path, "spaces", metrics, data=data, models=model)
    typer.echo(f"wrote {', '.join(written)} to {out}")


def _cell(score: "Score") -> str:
    return str(score) if score.top5 is None else f"{score}, top-5 {score.top5}"


def _shares(reliance: "SpaceReliance") -> Table:
    table = Table(
        "data", "correct", *reliance.spaces, "entropy", "mean entropy of images",
        title="Which spaces a linear classifier on all of them relies on",
        caption="Shares of activation × weight in correct predictions; they say little if few "
        "predictions are correct. The entropy of the mean shares, and the mean entropy of single "
        f"images, are at most {log2(len(reliance.spaces)):.2f} bits.",
    )  # fmt: skip
    for name, test in reliance.tests.items():
        shares = [f"{100 * share:.1f} %" for share in test.overall]
        mean_entropy = f"{test.image_entropies.mean():.2f} bits"
        correct = f"{len(test.labels)} of {test.num_images}"
        table.add_row(name, correct, *shares, f"{test.entropy:.2f} bits", mean_entropy)
    return table
