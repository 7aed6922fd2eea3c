"""`unshortcut probe`."""

from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli import options

GROUP = "Evaluate"

if TYPE_CHECKING:
    from unshortcut.probes.base import ProbeResult


def command(
    model: options.ModelArgument,
    data: options.DataOption,
    kind: str = typer.Option(
        "linear",
        help="linear, knn, fewshot (5 and 10 images per class), rotation (by how many quarter "
        "turns an image was rotated; needs no labels), multilabel (which classes an image shows, "
        "by logistic regression), or svm (the same, or one class per image, by support vector "
        "machines).",
    ),
    on: options.OnOption = [],
    protocol: str | None = typer.Option(
        None,
        help="For linear and rotation: train the classifier as a paper does instead of solving for "
        "it: moco, nsn (non-semantic negatives), looc, looc-inat, byol or mae. It is trained on "
        "random resized crops and flips; the learning rates are for 2048 features.",
    ),
    views: str | None = typer.Option(
        None,
        metavar="N|fresh",
        help="For --protocol: 'fresh' computes the features of new crops in every epoch, as in the "
        "papers, which takes as many passes over the images as there are epochs; N computes them "
        "once for N copies of every image, and each epoch uses one of the copies; 0 is the center "
        "crop. [default: 10]",
    ),
    sets: options.ProbeSetOption = [],
    seeds: options.SeedsOption = None,
    spaces: str | None = typer.Option(
        None, metavar="NAMES", help="Use only these spaces of a looc run, e.g. invariant,color."
    ),
    size: options.SizeOption = None,
    mean: options.MeanOption = None,
    std: options.StdOption = None,
    workers: options.WorkersOption = None,
    json: options.JsonOption = None,
) -> None:
    """Evaluate frozen features: fit a classifier on the train split and test it on others.

    Settings of the classifier are chosen on a held-out part of the training images, never on a
    test split.
    """
    typer.echo(f"Running a {kind} probe of {model} on {data}", err=True)
    from unshortcut.models.load import load_model
    from unshortcut.probes.run import probe

    loaded = load_model(model, **options.preprocessing(size, mean, std))
    if spaces is not None:
        from dataclasses import replace

        from unshortcut.spaces.loading import load_with_spaces
        from unshortcut.spaces.subsets import select_spaces

        chosen = select_spaces(load_with_spaces(model), spaces.split(","))
        loaded = replace(chosen, preprocessing=loaded.preprocessing)
    settings = options.settings_of(sets, protocol=protocol, views=views, seeds=seeds)
    result = probe(loaded, data, kind, tests=on, workers=workers, **settings)
    Console().print(_table(result, f"{kind} probe of {loaded.name}"))
    if result.chosen:
        values = ", ".join(f"{key} {value}" for key, value in result.chosen.items())
        Console().print(f"chosen on held-out training features: {values}", highlight=False)
    if result.training:
        text = f"protocol {result.training['protocol']}, {result.training['note']}"
        Console().print(text, highlight=False)
    options.write_json(json, "probe", result.to_dict(), data=data, models=model)


_COLUMNS = {
    "accuracy": "accuracy",
    "map": "mean AP",
    "map_interpolated": "interpolated",
    "map_11pt": "11-point",
    "map_mean_over_batches": "mean over batches of 256",
}


def _table(result: "ProbeResult", title: str) -> Table:
    scores = result.scores.values()
    with_top5 = any(score.top5 is not None for score in scores)
    metric = next((score.metric for score in scores), "accuracy")
    others = list(dict.fromkeys(key for score in scores for key in score.others))
    heads = [_COLUMNS.get(key, key) for key in (metric, *others)]
    table = Table("data", heads[0], *(["top-5"] if with_top5 else []), *heads[1:], title=title)
    for name, score in result.scores.items():
        if score.interval is not None:
            table.caption = "± 95 % interval of the mean"
        elif score.std is not None:
            table.caption = "± standard deviation"
        top5 = [str(score.top5 or "–")] if with_top5 else []
        table.add_row(name, str(score), *top5, *(f"{score.others[key]:.2f} %" for key in others))
    return table
