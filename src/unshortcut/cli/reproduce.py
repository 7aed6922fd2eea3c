"""`unshortcut reproduce`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from unshortcut.cli.options import JsonOption, SetOption
from unshortcut.errors import UsageError

if TYPE_CHECKING:
    from unshortcut.reproduction.claim import Claim

GROUP = "Papers"
_WIDE = 200
"""Width in characters of the status if the output is not a terminal."""


def command(
    context: typer.Context,
    claim: str | None = typer.Argument(
        None, metavar="[CLAIM]", help="Name of a claim. [default: list all claims]"
    ),
    data: str | None = typer.Option(
        None, metavar="DATA", help="Training data. [default: the recipe's own]"
    ),
    recipe: str | None = typer.Option(
        None, metavar="RECIPE", help="Recipe to vary. [default: the claim's]"
    ),
    seeds: int | None = typer.Option(
        None,
        min=1,
        help="Number of trainings per variant. [default: 3; at the laptop scale, as registered]",
    ),
    scale: str = typer.Option(
        "small",
        help="small (minutes per training), laptop (the registered experiment that decides the "
        "claim, at most half an hour per training on one core), or paper for the data, sizes and "
        "linear evaluation of the paper.",
    ),
    sets: SetOption = [],
    values: list[str] = typer.Option(
        [], metavar="AXIS=V,V,...", help="Other values of an axis, e.g. alpha=0,4. May be repeated."
    ),
    only: list[str] = typer.Option(
        [],
        metavar="VARIANT",
        help="Limit the experiment to this variant, e.g. alpha=2. May be repeated.",
    ),
    probe_data: str | None = typer.Option(
        None, metavar="DATA", help="Labeled data to fit probes on. [default: the training data]"
    ),
    tests: list[str] = typer.Option(
        [],
        "--test",
        metavar="NAME=DATA",
        help="Another test set with the same classes. May be repeated.",
    ),
    transfers: list[str] = typer.Option(
        [],
        "--transfer",
        metavar="NAME=TRAIN:TEST",
        help="Fit a probe on TRAIN and test it on TEST, e.g. photos and sketches. May be repeated.",
    ),
    conflict: str | None = typer.Option(
        None,
        metavar="DATA",
        help="Cue-conflict stimuli, a folder or tar file of SHAPE/SHAPE1-TEXTURE2.png, to measure "
        "shape bias on.",
    ),
    hierarchy: str | None = typer.Option(
        None,
        metavar="FILE",
        help="File with two columns, fine class and coarse class, to compare accuracies on both; "
        "wordnet or wordnet:dog,bird for the classes of ImageNet.",
    ),
    out: Path | None = typer.Option(
        None,
        help="Folder for the result and plot. [default: reproduce/CLAIM; with -SCALE if not small]",
    ),
    cache: Path | None = typer.Option(
        None, help="Folder in which trainings are stored. [default: trainings in the cache folder]"
    ),
    jobs: int = typer.Option(
        1,
        min=1,
        help="Number of trainings that run side by side, with one thread each and low priority.",
    ),
    every: bool = typer.Option(
        False, "--all", help="Run every registered claim in its order, at the laptop scale."
    ),
    status: bool = typer.Option(
        False, "--status", help="Show what is decided at the laptop scale and what is left to run."
    ),
    evidence: Path | None = typer.Option(
        None,
        metavar="FOLDER",
        help="Write a page on every claim from the results in FOLDER (CLAIM.json, or "
        "CLAIM-laptop/result.json) to --out, FILE.md with plots or FILE.html.",
    ),
    json: JsonOption = None,
) -> None:
    """Run a claim of the papers as an experiment: train, measure, compare, plot.

    Every variant is trained with every seed. Trainings are stored, shared between claims, and
    never repeated; after an interruption, the same command continues.

    Examples: `unshortcut reproduce negatives-alpha --scale laptop --jobs 2`,
    `unshortcut reproduce --status`, `unshortcut reproduce --evidence reproduce --out evidence.md`
    """
    from unshortcut.reproduction.claim import all_claims, get_claim

    if status:
        _refuse_others(context, "status", "claim", "cache")
        _show_status(None if claim is None else get_claim(claim), cache)
        return
    if every:
        _refuse_others(context, "every", "jobs", "cache")
        from unshortcut.reproduction.overview import reproduce_all
        from unshortcut.reproduction.registered import registered_claims

        reproduce_all(registered_claims(), jobs=jobs, cache=cache)
        return
    if evidence is not None:
        _refuse_others(context, "evidence", "out")
        _write_evidence(evidence, out)
        return
    if claim is None:
        table = Table("claim", "what it says", "where")
        for name, known in all_claims().items():
            table.add_row(name, known.summary, known.where)
        Console().print(table)
        return
    chosen = get_claim(claim)
    typer.echo(f"Reproducing {claim} at the {scale} scale", err=True)
    from unshortcut.reproduction.run import reproduce
    from unshortcut.result import RESULT_FILE

    done = reproduce(
        chosen,
        data,
        recipe=recipe,
        seeds=seeds,
        scale=scale,  # type: ignore[arg-type]  # checked by the function
        sets=sets,
        values={axis: text.split(",") for axis, text in _pairs(values, "--values AXIS=V,V")},
        only=only,
        probe_data=probe_data,
        tests=dict(_pairs(tests, "--test NAME=DATA")),
        transfers={
            name: _two(text, ":", "--transfer NAME=TRAIN:TEST")
            for name, text in _pairs(transfers, "--transfer NAME=TRAIN:TEST")
        },
        conflict=conflict,
        hierarchy=hierarchy,
        out=out,
        cache=cache,
        jobs=jobs,
    )
    if json is not None:
        from unshortcut.files import write_bytes

        write_bytes(json, (done.folder / RESULT_FILE).read_bytes())


def _show_status(claim: "Claim | None", cache: Path | None) -> None:
    from unshortcut.reproduction.overview import claim_status, status_table
    from unshortcut.reproduction.registered import registered_claims

    claims = registered_claims(None if claim is None else [claim])
    if not claims:
        raise UsageError("the claim is not registered, so nothing decides it")
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDE)
    console.print(status_table([claim_status(one, cache) for one in claims]))


def _write_evidence(folder: Path, out: Path | None) -> None:
    from unshortcut.reproduction.evidence import write_evidence

    for path in write_evidence(folder, out if out is not None else Path("evidence.md")):
        typer.echo(f"wrote {path}", err=True)


def _refuse_others(context: typer.Context, mode: str, *allowed: str) -> None:
    """Refuse options that have no effect in a mode."""
    flags = {one.name: one for one in context.command.params}
    for name, parameter in flags.items():
        given = context.get_parameter_source(str(name))
        if given is not None and given.name == "COMMANDLINE" and name not in (mode, *allowed):
            said = parameter.opts[0] if parameter.opts[0].startswith("-") else "a CLAIM"
            raise UsageError(f"{flags[mode].opts[0]} and {said} do not go together")


def _pairs(given: list[str], form: str) -> list[tuple[str, str]]:
    return [_two(text, "=", form) for text in given]


def _two(text: str, separator: str, form: str) -> tuple[str, str]:
    first, found, second = text.partition(separator)
    if not first or not found or not second:
        raise UsageError(f"expected {form}, got '{text}'")
    return first, second
