"""`unshortcut inspect`."""

from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape

from unshortcut.cli import options

GROUP = "Data"


def command(
    data: str = typer.Argument(metavar="DATA", help=options.DATA_HELP),
    model: str | None = typer.Option(
        None,
        metavar="MODEL",
        help="A model, as in `unshortcut audit`: does it use what the files tell, how accurate is "
        "it without leaked images, and which labels do its features contradict? If there is none "
        "yet, 'embedded' takes an encoder of the package, trained on drawn shapes.",
    ),
    against: str | None = typer.Option(
        None,
        metavar="DATA",
        help="Further images to search for copies, such as a test set that is no split of DATA.",
    ),
    classifier: str | None = typer.Option(
        None,
        help="What classifies the images: head, linear or knn. [default: as in the audit]",
    ),
    max_images: int = typer.Option(
        500, min=2, help="Maximum number of images for the model's use of each property."
    ),
    seed: int = typer.Option(0, min=0, help="Random seed for subsets and permutations."),
    workers: int | None = typer.Option(
        None, min=1, help="Number of threads. [default: one per core]"
    ),
    size: options.SizeOption = None,
    mean: options.MeanOption = None,
    std: options.StdOption = None,
    crop: float | None = typer.Option(
        None, min=0.1, max=1.0, help="Side of the center crop, for models that state none."
    ),
    classes: Path | None = typer.Option(
        None, metavar="FILE", help="Names of the classes of an ONNX file or module, one per line."
    ),
    out: Path = typer.Option("inspect.html", metavar="FILE", help="HTML file for the page."),
    lists: Path | None = typer.Option(
        None, metavar="FOLDER", help="Folder for copies.csv and, with --model, label-errors.csv."
    ),
    json: options.JsonOption = None,
    require: list[str] = typer.Option(
        [],
        metavar="'FIGURE<=NUMBER'",
        help="Bound that must be met, such as 'alarms<=0' or 'leaked_images<=0'; otherwise the "
        "exit status is 1. May be given several times.",
    ),
) -> None:
    """Search data for leaks: files that tell their class, copies between splits, wrong labels.

    Compares the class of every image with how its file was made (format, size, JPEG quality, EXIF)
    and with simple numbers of its pixels, and searches for copies. Without --model, 10,000 images
    take about a minute.

    - unshortcut inspect photos
    - unshortcut inspect photos --model runs/mine --lists found
    - unshortcut inspect photos --model embedded --lists found
    - unshortcut inspect photos --require 'alarms<=0' --require 'leaked_images<=0'
    """
    from unshortcut.errors import UsageError
    from unshortcut.inspection.inspector import inspect_data
    from unshortcut.inspection.requirements import check_requirements, parse_requirements

    if out.is_dir():
        raise UsageError(f"'{out}' is a folder, and --out needs an HTML file")
    if classifier not in (None, "head", "linear", "knn"):
        raise UsageError(f"--classifier must be one of head, linear, knn, not '{classifier}'")
    requirements = parse_requirements(require)
    report = inspect_data(
        data,
        model,
        against=against,
        classifier=classifier,  # type: ignore[arg-type]
        max_images=max_images,
        seed=seed,
        workers=workers,
        crop=crop,
        classes=classes,
        out=out,
        **options.preprocessing(size, mean, std),
    )
    console = Console()
    console.print(report)
    written = [out]
    if lists is not None:
        written += report.write_lists(lists)
    if json is not None:
        options.write_json(json, "inspect", report.to_dict(), data=data, models=model, seed=seed)
        written.append(json)
    names = ", ".join(str(path) for path in written)
    console.print(escape(f"wrote {names}"), highlight=False)
    results = check_requirements(requirements, report.findings)
    for one in results:
        mark = "[green]met[/]" if one.met else "[bold red]not met[/]"
        console.print(f"{mark}: {escape(one.requirement.text)}: {one.explanation}", highlight=False)
    if not all(one.met for one in results):
        raise typer.Exit(1)
