"""The data of a run: readable images, the copies that it uses, and the images for online kNN."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from unshortcut.data.copies import CopiedSource, SameSizeCopies, open_copy, with_filtered_copy
from unshortcut.data.failures import Failure
from unshortcut.data.loader import check_batch
from unshortcut.data.naming import data_name
from unshortcut.data.open import open_data
from unshortcut.data.scan import readable, scan
from unshortcut.data.source import ImageSource, Joined
from unshortcut.errors import UsageError
from unshortcut.progress import bar
from unshortcut.recipes.schema import Recipe
from unshortcut.training.online_knn import KnnData, knn_data
from unshortcut.training.plan_copies import PlanCopies, plan_copies


@dataclass(frozen=True)
class RunData:
    """What a run trains on."""

    name: str
    """The data as the user named them, without private folders."""
    source: ImageSource
    """The readable images, followed by those of `data.filtered_copy`; what is trained on."""
    everything: ImageSource
    """The same, with the unreadable images."""
    copies: PlanCopies
    """Copies from which single views are made."""
    unreadable: tuple[Failure, ...]
    knn: KnnData | None
    """Originals for online kNN, None without labels."""

    @property
    def num_classes(self) -> int | None:
        return None if self.source.classes is None else len(self.source.classes)

    def fingerprint(self) -> str:
        """A digest of all content that the weights of the run depend on."""
        return "-".join([self.everything.fingerprint(), *self.copies.fingerprints()])


def open_run_data(
    recipe: Recipe, data: str | Path | ImageSource | None, console: Console, *, visible: bool
) -> RunData:
    """Open the data of a run and scan them for unreadable images.

    Args:
        data: as in `pretrain`; None for the data that the recipe names.
        visible: whether to show progress bars.
    """
    given = data if data is not None else recipe.data.name
    if given is None:
        raise UsageError("the recipe names no data; choose them with --data")
    spec = given if isinstance(given, ImageSource) else str(given)
    original = everything = open_data(spec)
    copies = plan_copies(recipe.view_plan())
    filtered = recipe.data.filtered_copy
    check_copies(copies, filtered)
    check_batch(len(original), recipe.data.batch_size)
    unreadable: list[Failure] = []

    def scanned(source: ImageSource) -> ImageSource:
        with bar(console, "reading headers", visible=visible) as on_progress:
            report = scan(source, seed=recipe.seed, on_progress=on_progress)
        report.check()
        unreadable.extend(report.bad)
        return readable(source, report)

    source = scanned(original)
    check_batch(len(source), recipe.data.batch_size)
    knn = knn_data(spec, source, recipe.seed)
    # Images whose copy is missing stay: they are replaced when a view needs the copy.
    for copy in copies.same_size.values():
        scanned(SameSizeCopies(source, copy))
    for copy in copies.any_size.values():
        scanned(CopiedSource(source, copy))
    if filtered is not None:
        everything = with_filtered_copy(original, filtered)
        source = Joined(source, scanned(CopiedSource(source, open_copy(filtered))))
    return RunData(
        data_name(spec), copies.attach(source), everything, copies, tuple(unreadable), knn
    )


def check_copies(copies: PlanCopies, filtered_copy: str | None) -> None:
    """Raise `UsageError` if views would be made from a copy of a copy."""
    if len(copies) and filtered_copy is not None:
        raise UsageError(
            "data.filtered_copy excludes views that are made from a copy: copies have no copies"
        )
