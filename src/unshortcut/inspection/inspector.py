"""The function `unshortcut.inspect_data`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.console import Console
from rich.markup import escape

from unshortcut.auditing.request import AuditRequest
from unshortcut.errors import UsageError
from unshortcut.result import public_name

if TYPE_CHECKING:
    from unshortcut.data.naming import Data
    from unshortcut.inspection.report import InspectionReport

Triple = tuple[float, float, float]
EMBEDDED = "embedded"
"""As a model: an encoder of the package."""
_ENCODER = "embedded:moco-v2-shapes"
"""What `embedded` means as a model: the plainest of the encoders of the package."""


def inspect_data(
    data: "Data",
    model: Any = None,
    *,
    against: "Data | None" = None,
    classifier: Literal["head", "linear", "knn"] | None = None,
    max_images: int = 500,
    seed: int = 0,
    workers: int | None = None,
    size: int | None = None,
    mean: Triple | None = None,
    std: Triple | None = None,
    crop: float | None = None,
    classes: Sequence[str] | str | Path | None = None,
    out: str | Path | None = None,
    lists: str | Path | None = None,
    console: Console | None = None,
) -> "InspectionReport":
    """Search a data set for leaks: files that tell their class, copies and, with a model, more.

    With a model, it is also measured whether the model uses what the files tell, how accurate it is
    without leaked images, and which labels are probably wrong.

    >>> report = inspect_data("photos")  # doctest: +SKIP
    >>> report.write("inspect.html")  # doctest: +SKIP

    Args:
        data: The images. The splits `train`, `val` and `test` are inspected together; properties
            are compared with the classes of the first one, and copies are searched for in all.
        model: A model as in `audit`, or `"embedded"` for an encoder of the package with a linear
            probe, where no model is at hand. Defaults to none.
        against: Further images, such as a test set that is not a split of the data, in which copies
            are searched for.
        classifier: What classifies the images, as in `audit`.
        max_images: Maximum number of images for the model's use of each property.
        seed: Random seed for subsets and permutations.
        workers: Number of threads. Defaults to the number of available cores.
        size, mean, std, crop, classes: As in `audit`, for models that do not state their own.
        out: File to write the page to.
        lists: Folder to write `copies.csv` and, with a model, `label-errors.csv` to.
        console: Where to print progress. Defaults to standard error.
    """
    if max_images < 2:
        raise UsageError(f"max_images must be at least 2, not {max_images}")
    if seed < 0:
        raise UsageError(f"seed must be at least 0, not {seed}")
    of_model = {
        "classifier": classifier,
        "size": size,
        "mean": mean,
        "std": std,
        "crop": crop,
        "classes": classes,
    }
    given = [name for name, value in of_model.items() if value is not None]
    if model is None and given:
        raise UsageError(f"{given[0]} says something of a model, and none is given")
    console = console or Console(stderr=True)
    name = public_name(str(data)) if isinstance(data, str | Path) else type(data).__name__
    console.print(escape(f"Inspecting {name}"), highlight=False)
    # Imported after the first line is printed, because PyTorch takes seconds to import.
    from unshortcut.inspection.report import InspectionReport
    from unshortcut.inspection.run import run_inspection

    request = None
    if model is not None:
        request = AuditRequest(
            _ENCODER if isinstance(model, str) and model == EMBEDDED else model,
            data, classifier=classifier, seed=seed, workers=workers, size=size, mean=mean,
            std=std, crop=crop, classes=classes,
        )  # fmt: skip
    found = run_inspection(
        data, against, request,
        seed=seed, workers=workers, use_images=max_images, console=console,
    )  # fmt: skip
    report = InspectionReport(found)
    if out is not None:
        report.write(out)
    if lists is not None:
        report.write_lists(lists)
    return report
