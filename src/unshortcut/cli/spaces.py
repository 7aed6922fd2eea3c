"""`unshortcut spaces`."""

from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli.options import DataOption, JsonOption

GROUP = "Evaluate"

if TYPE_CHECKING:
    from unshortcut.probes.probe import Score
    from unshortcut.spaces.reliance import SpaceReliance


def command(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A run of the method looc, or a .safetensors file of spaces of one.",
        ),
    ],
    data: DataOption,
    on: Annotated[
        list[str],
        typer.Option(
            "--on",
            metavar="DATA",
            help="Test on this, e.g. shapes@rotated. May be given several times. "
            "[default: the test or val split of --data]",
        ),
    ] = [],
    kind: Annotated[
        str, typer.Option("--kind", help="linear, knn, rotation, fewshot, or another probe.")
    ] = "linear",
    subsets: Annotated[
        str,
        typer.Option(
            "--subsets",
            metavar="NAMES",
            help="Such as color,invariant+color; or each: all subsets of up to four spaces, of "
            "more each alone, the first with each other, and all.",
        ),
    ] = "each",
    sets: Annotated[
        list[str],
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the probe."),
    ] = [],
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="How many seeds.")] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FOLDER", help="For reliance.png, reliance.csv and result.json."
        ),
    ] = Path("spaces"),
    json: JsonOption = None,
) -> None:
    """Measure what each space of a model knows, and which of them a classifier relies on.

    A probe on every subset of the spaces tells what each adds. Then a linear classifier on all of
    them is taken apart: for each image that it gets right, the share of every space in the sum of
    activation × weight for its class, and how even the shares are, as entropy in bits.
    """
    from unshortcut.errors import UsageError
    from unshortcut.measuring.subjects.models import load_with_spaces
    from unshortcut.plain_yaml import parse_set
    from unshortcut.probes.bench import bench
    from unshortcut.result import RESULT_FILE, write_result
    from unshortcut.spaces.reliance import space_reliance
    from unshortcut.spaces.subsets import probe_spaces

    if out.is_file():
        raise UsageError(f"'{out}' is a file; --out wants a folder")
    settings: dict[str, Any] = {} if seeds is None else {"seeds": seeds}
    for change in sets:
        settings |= parse_set(change)
    loaded = load_with_spaces(model)
    unlabeled = bench(loaded, data, tests=on, needs_labels=False).unlabeled
    scores = probe_spaces(loaded, data, kind, subsets=subsets, tests=on, **settings)
    console = Console()
    tests = list(next(iter(scores.values())).scores)
    table = Table("spaces", *tests, title=f"{kind} probe of {loaded.name} by spaces")
    for subset, result in scores.items():
        table.add_row(" + ".join(subset), *(_accuracy(result.scores[name]) for name in tests))
    console.print(table)
    metrics: dict[str, Any] = {
        "subsets": {"+".join(subset): result.to_dict() for subset, result in scores.items()}
    }
    out.mkdir(parents=True, exist_ok=True)
    written = [RESULT_FILE]
    if unlabeled is not None:
        typer.echo(f"No classifier is taken apart. {unlabeled}.")
    else:
        reliance = space_reliance(loaded, data, tests=on, seeds=seeds or 3)
        console.print(_shares(reliance))
        metrics["reliance"] = reliance.to_dict()
        reliance.plot(out / "reliance.png")
        reliance.write_images(out / "reliance.csv")
        written = ["reliance.png", "reliance.csv", RESULT_FILE]
    for path in (out / RESULT_FILE, *([json] if json is not None else [])):
        write_result(path, "spaces", metrics=metrics, data=data, model=model)
    typer.echo(f"wrote {', '.join(written)} to {out}")


def _accuracy(score: "Score") -> str:
    spread = score.std if score.interval is None else score.interval
    return f"{score.mean:.2f} %" + ("" if spread is None else f" ± {spread:.2f}")


def _shares(reliance: "SpaceReliance") -> Table:
    table = Table(
        "data", "correct", *reliance.spaces, "entropy", "of an image",
        title="Which spaces a linear classifier on all of them relies on",
        caption="Shares of activation × weight in correct predictions; few of those say little. "
        "Entropy: of the mean shares, and of single images on average; at most "
        f"{log2(len(reliance.spaces)):.2f} bits.",
    )  # fmt: skip
    for name, test in reliance.tests.items():
        shares = [f"{100 * share:.1f} %" for share in test.overall]
        of_images = f"{test.image_entropies.mean():.2f} bits"
        correct = f"{len(test.labels)} of {test.count}"
        table.add_row(name, correct, *shares, f"{test.entropy:.2f} bits", of_images)
    return table
