"""`unshortcut audit`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from unshortcut.cli.options import (
    DataOption,
    JsonOption,
    MeanOption,
    ModelsArgument,
    SizeOption,
    StdOption,
    command_line,
    preprocessing,
)

GROUP = "Evaluate"


def command(
    context: typer.Context,
    models: ModelsArgument,
    data: DataOption,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The page: one HTML file.")
    ] = Path("report.html"),
    conflict: Annotated[
        str | None,
        typer.Option(
            "--conflict",
            metavar="DATA",
            help="Stimuli with conflicting cues, SHAPE/SHAPE1-TEXTURE2.png (shapes@conflict is "
            "embedded): what decides, shape or texture?",
        ),
    ] = None,
    shift: Annotated[
        list[str],
        typer.Option(
            "--shift",
            metavar="DATA",
            help="The same classes in another domain: sketches, cartoons, renditions. May be given "
            "several times.",
        ),
    ] = [],
    hierarchy: Annotated[
        Path | None,
        typer.Option(
            "--hierarchy", metavar="FILE", help="Two columns, fine class and coarse class."
        ),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--mapping",
            metavar="FILE",
            help="Which classes of the models (names, or numbers from 0) each class of the images "
            "stands for: two columns, or JSON. ImageNet's are known.",
        ),
    ] = None,
    only: Annotated[
        list[str],
        typer.Option(
            "--only", metavar="NAME", help="Only these measurements. May be given several times."
        ),
    ] = [],
    require: Annotated[
        list[str],
        typer.Option(
            "--require",
            metavar="'METRIC>=NUMBER'",
            help="A bound that every MODEL must keep, such as 'shape_bias>=0.4'; the exit status "
            "is 1 where one does not. May be given several times.",
        ),
    ] = [],
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="MODEL",
            help="Take mean corruption errors against this model's. [default: AlexNet's published "
            "errors]",
        ),
    ] = None,
    readout: Annotated[
        str | None,
        typer.Option(
            "--readout",
            help="What decides: head, linear or knn. [default: the head, where it can name the "
            "classes of the images, else linear]",
        ),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(
            "--train",
            metavar="DATA",
            help="Labeled images to fit a readout on. [default: the train split of --data, or a "
            "half of it]",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="All images in every measurement, however long it takes.")
    ] = False,
    images: Annotated[
        int, typer.Option("--images", min=2, help="Images that are looked at, at most.")
    ] = 2000,
    aggregate: Annotated[
        str,
        typer.Option(
            "--aggregate",
            help="Probability of a class that stands for several of the model's: mean or sum.",
        ),
    ] = "mean",
    severities: Annotated[
        str, typer.Option("--severities", help="Of the corruptions: imagenet or cifar.")
    ] = "imagenet",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of subsets and noise.")] = 0,
    size: SizeOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    crop: Annotated[
        float | None,
        typer.Option(
            "--crop",
            min=0.1,
            max=1.0,
            help="Side of the crop at the center over the shorter side of the image, where no card "
            "states it. [default: 1 for ONNX files and functions of yours]",
        ),
    ] = None,
    classes: Annotated[
        Path | None,
        typer.Option(
            "--classes",
            metavar="FILE",
            help="The output of an ONNX file or a module is logits of these classes, one a line.",
        ),
    ] = None,
    json: JsonOption = None,
) -> None:
    """See what models look at: one page for shape bias, corruptions, saliency and the rest.

    Works on any model: a run, timm, torchvision, an ONNX file, a function of yours. One that has no
    head for the classes of the images gets a readout, and the page says so. Results are kept, so
    a second model costs only itself.

    - unshortcut audit runs/mine timm:resnet50 --data photos/ --conflict cue-conflict.tar
    - unshortcut audit runs/mine --data shapes --conflict shapes --shift shapes@sketch
    - unshortcut audit model.onnx --data photos/ --only corruptions --require 'mce<=0.8'
    """
    from unshortcut.auditing.requirements import Requirement, check_names, judge
    from unshortcut.auditor import audit
    from unshortcut.errors import UsageError
    from unshortcut.measurements.measurement import measurements
    from unshortcut.result import write_result

    if out.is_dir():
        raise UsageError(f"'{out}' is a folder; --out wants an HTML file")
    names = [name for entry in only for name in entry.split(",")]
    requirements = [Requirement.parse(text) for text in require]
    check_names(requirements, measurements(names))
    asked: Any = {"readout": readout, "aggregate": aggregate, "severities": severities}
    report = audit(
        models,
        data,
        conflict=conflict,
        shifts=shift,
        hierarchy=hierarchy,
        mapping=mapping,
        only=names,
        baseline=baseline,
        train=train,
        full=full,
        images=images,
        seed=seed,
        **preprocessing(size, mean, std),
        crop=crop,
        classes=None if classes is None else _lines(classes),
        out=out,
        command=command_line(context),
        **asked,
    )
    console = Console()
    console.print(report)
    if json is not None:
        write_result(
            json,
            "audit",
            metrics=report.to_dict(),
            seed=seed,
            data=data,
            model=models[0] if len(models) == 1 else None,
        )
    console.print(f"wrote {out}" + ("" if json is None else f" and {json}"), highlight=False)
    judgments = judge(requirements, report.findings)
    for one in judgments:
        mark = "[green]holds[/]" if one.met else "[bold red]does not hold[/]"
        said = escape(f"{one.requirement.text} for {one.model}: {one.said}")
        console.print(f"{mark}: {said}", highlight=False)
    if not all(one.met for one in judgments):
        raise typer.Exit(1)


def _lines(path: Path) -> list[str]:
    from unshortcut.errors import UsageError

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--classes '{path}' cannot be read: {error}") from None
    return [line.strip() for line in lines if line.strip()]
