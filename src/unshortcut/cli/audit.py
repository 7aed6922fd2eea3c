"""`unshortcut audit`."""

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from unshortcut.auditing.request import OPTIONS, AuditRequest, argument_help, flag_of
from unshortcut.cli.options import (
    C,
    DataOption,
    JsonOption,
    ModelsArgument,
    preprocessing,
    with_options,
    write_json,
)

if TYPE_CHECKING:
    from unshortcut.auditing.requirements import Requirement

GROUP = "Evaluate"


def _with_audit_options(command: C) -> C:
    """Replace `**options` of a command by the options that `AuditRequest` describes."""
    described, options = argument_help(), []
    for name, option in OPTIONS.items():
        default, text = getattr(AuditRequest, name), described.get(name, "")
        kind: Any = option.type | None if default is None else type(default)
        if default == ():
            default, kind, text = [], list[str], f"{text} May be given several times."
        info = typer.Option(
            flag_of(name), metavar=option.metavar, help=text, min=option.min, max=option.max
        )
        kind = Annotated[kind, info]
        keyword = inspect.Parameter.KEYWORD_ONLY
        options.append(inspect.Parameter(name, keyword, default=default, annotation=kind))
    return with_options(command, options)


@_with_audit_options
def command(
    models: ModelsArgument,
    data: DataOption,
    out: Path = typer.Option("report.html", metavar="FILE", help="HTML file to write the page to."),
    json: JsonOption = None,
    require: list[str] = typer.Option(
        [],
        metavar="'METRIC>=NUMBER'",
        help="Bound that every MODEL must meet, such as 'shape_bias>=0.4'; otherwise the exit "
        "status is 1. 'shape_bias>=previous-0.02' is relative to the audit of --previous. May be "
        "given several times.",
    ),
    junit: Path | None = typer.Option(
        None,
        metavar="FILE",
        help="Write a JUnit XML file for a continuous integration system: one test case per "
        "requirement and MODEL, and one per measurement.",
    ),
    **options: Any,
) -> None:
    """See what models look at: one page on shape bias, corruptions, saliency and more.

    Works with any model: a run, timm, torchvision, transformers, open_clip, an ONNX file, or your
    own function. If a model
    has no head for the classes of the images, a linear probe is fitted on its features, and the
    page says so. Results are cached, so a second audit only measures what is new.

    - unshortcut audit runs/mine timm:resnet50 --data photos/ --conflict cue-conflict.tar
    - unshortcut audit runs/mine --data shapes --conflict shapes --shift shapes@sketch
    - unshortcut audit timm:resnet50 --data photos/ --profile quick
    - unshortcut audit model.onnx --data photos/ --only corruptions --require 'mce<=0.8'
    """
    from unshortcut.auditing.requirements import check_requirements
    from unshortcut.auditor import audit
    from unshortcut.errors import UsageError

    for flag, path in (("--out needs an HTML file", out), ("--junit needs an XML file", junit)):
        if path is not None and path.is_dir():
            raise UsageError(f"'{path}' is a folder, and {flag}")
    options["only"] = [name for entry in options["only"] for name in entry.split(",")]
    options |= preprocessing(options["size"], options["mean"], options["std"])
    requirements = _parse_requirements(require, AuditRequest(models, data, **options))
    report = audit(models, data, out=out, **options)
    console = Console()
    console.print(report)
    write_json(json, "audit", report.to_dict(), data=data, models=models, seed=options["seed"])
    results = check_requirements(requirements, report.findings)
    if junit is not None:
        from unshortcut.report.junit import write_junit

        write_junit(junit, report.findings, results)
    written = [str(path) for path in (out, json, junit) if path is not None]
    console.print(f"wrote {' and '.join(written)}", highlight=False)
    for one in results:
        mark = "[green]met[/]" if one.met else "[bold red]not met[/]"
        text = escape(f"{one.requirement.text} for {one.model}: {one.explanation}")
        console.print(f"{mark}: {text}", highlight=False)
    if not all(one.met for one in results):
        raise typer.Exit(1)


def _parse_requirements(texts: list[str], request: AuditRequest) -> "list[Requirement]":
    """Parse requirements, and check them against the request before anything is measured."""
    if not texts:
        return []
    from unshortcut.auditing.previous import read_previous
    from unshortcut.auditing.requirements import parse_requirements, refuse_incomparable
    from unshortcut.auditing.run import settings_of
    from unshortcut.data.naming import data_name

    previous = None if request.previous is None else read_previous(request.previous)
    found = parse_requirements(texts, request.only, profile=request.profile, previous=previous)
    refuse_incomparable(found, previous, data_name(request.data), settings_of(request))
    return found
