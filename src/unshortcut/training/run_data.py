"""The data of a run: readable images, the copies that it uses, and the images for online kNN."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from unshortcut.data.copies import CopiedSource, SameSizeCopies, open_copy, with_filtered_copy
from unshortcut.data.failures import Failure
from unshortcut.data.loader import check_batch
from unshortcut.data.naming import data_name
from unshortcut.data.noisy_labels import gold_images
from unshortcut.data.open import open_data
from unshortcut.data.proposals import elsewhere_note, left_out_note
from unshortcut.data.scan import ScanReport, readable, scan
from unshortcut.data.source import ImageSource, Joined
from unshortcut.errors import UsageError
from unshortcut.progress import bar
from unshortcut.recipes.schema import Recipe
from unshortcut.training.objects import ObjectData, few_objects, with_objects, with_proposals
from unshortcut.training.online_knn import KnnData, knn_data
from unshortcut.training.plan_copies import PlanCopies, plan_copies


@dataclass(frozen=True)
class RunData:
    """What a run trains on."""

    name: str
    """The data as the user named them, without private folders."""
    source: ImageSource
    """The readable images, followed by those of `data.filtered_copy`; what is trained on. With
    views of objects, the images come with boxes, and there may be an item for each object."""
    everything: ImageSource
    """The same, with the unreadable images."""
    copies: PlanCopies
    """Copies from which single views are made."""
    unreadable: tuple[Failure, ...]
    knn: KnnData | None
    """Originals for online kNN, None without labels; with label noise, those that are trusted."""
    objects: ObjectData
    """The images without objects, for views of objects."""

    @property
    def num_classes(self) -> int | None:
        return None if self.source.classes is None else len(self.source.classes)

    def fingerprint(self) -> str:
        """A digest of all content that the weights of the run depend on."""
        return "-".join([self.everything.fingerprint(), *self.copies.fingerprints()])


Scans = dict[tuple[str | ImageSource, int], ScanReport]
"""Reports on data as the user gave them, with the seed of the scan."""


def open_run_data(
    recipe: Recipe,
    data: str | Path | ImageSource | None,
    console: Console,
    *,
    visible: bool,
    scans: Scans | None = None,
) -> RunData:
    """Open the data of a run and scan them for unreadable images.

    Args:
        data: as in `pretrain`; None for the data that the recipe names.
        visible: whether to show progress bars.
        scans: reports on the same data from other phases, to which this one is added.
    """
    given = data if data is not None else recipe.data.name
    if given is None:
        raise UsageError("the recipe names no data; choose them with --data")
    spec = given if isinstance(given, ImageSource) else str(given)
    original, noise = with_proposals(recipe, open_data(spec)), recipe.data.label_noise
    everything = original if noise is None else noise.corrupt(original, recipe.seed)
    copies = plan_copies(recipe.view_plan())
    filtered = recipe.data.filtered_copy
    check_copies(copies, filtered)
    check_batch(len(original), recipe.data.batch_size)
    unreadable: list[Failure] = []

    def scanned(source: ImageSource) -> ScanReport:
        with bar(console, "reading headers", visible=visible) as on_progress:
            return scan(source, seed=recipe.seed, on_progress=on_progress)

    def checked(source: ImageSource, report: ScanReport) -> ImageSource:
        report.check()
        unreadable.extend(report.bad)
        return readable(source, report)

    def checked_copy(source: ImageSource, where: str) -> ImageSource:
        try:
            return checked(source, scanned(source))
        except UsageError as error:
            raise UsageError(f"the copy '{where}': {error}") from None

    scans = {} if scans is None else scans
    key = spec, recipe.seed
    if key not in scans:
        scans[key] = scanned(original)
    source = checked(everything, scans[key])
    # Of images whose labels are not trusted, the true labels are not known.
    known = source if noise is None else gold_images(source)
    knn = knn_data(spec, known, recipe.seed)
    if noise is not None:
        source, everything = noise.select(source), noise.select(everything)
    check_batch(len(source), recipe.data.batch_size)
    # Images whose copy is missing stay: they are replaced when a view needs the copy.
    for where, copy in copies.same_size.items():
        checked_copy(SameSizeCopies(source, copy), where)
    for where, copy in copies.any_size.items():
        checked_copy(CopiedSource(source, copy), where)
    if filtered is not None:
        everything = with_filtered_copy(everything, filtered)
        copied = checked_copy(CopiedSource(source, open_copy(filtered)), filtered)
        source = Joined(source, copied)
    with bar(
        console, "reading boxes", visible=visible and recipe.views.objects is not None
    ) as show:
        objects = with_objects(recipe, copies.attach(source), show)
    notes = few_objects(objects), left_out_note(original.left_out), elsewhere_note(original)
    for note in notes:
        if note is not None and visible and recipe.views.objects is not None:
            console.print(note, highlight=False, markup=False)
    return RunData(
        data_name(spec), objects.source, everything, copies, tuple(unreadable), knn, objects
    )


def check_copies(copies: PlanCopies, filtered_copy: str | None) -> None:
    """Raise `UsageError` if views would be made from a copy of a copy."""
    if len(copies) and filtered_copy is not None:
        raise UsageError(
            "data.filtered_copy excludes views that are made from a copy: copies have no copies"
        )
