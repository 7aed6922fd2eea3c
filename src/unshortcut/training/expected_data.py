"""The size of a run's data, also where the data are not."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from unshortcut.data.copies import with_filtered_copy
from unshortcut.data.named import NAMES, needs_download
from unshortcut.data.naming import data_name
from unshortcut.data.open import DataSpec, open_data, unprefixed
from unshortcut.data.shards import is_shard_pattern
from unshortcut.data.source import ImageSource
from unshortcut.data.stated_sizes import stated_size
from unshortcut.errors import UsageError
from unshortcut.recipes.schema import Recipe
from unshortcut.training.objects import with_objects, with_proposals
from unshortcut.training.plan_copies import plan_copies
from unshortcut.training.run_data import check_copies
from unshortcut.training.throughput import MadeImages

_TYPICAL = (500, 375)
"""Width and height of most photographs of ImageNet."""


@dataclass(frozen=True)
class ExpectedData:
    """The size of the training data, and where it is known from."""

    name: str
    num_images: int
    """Images in an epoch, including those of `data.filtered_copy`; or objects, if it is over these,
    where the data are opened."""
    num_classes: int | None
    known_from: Literal["opened", "stated", "given"]
    """The data themselves, a published size, or the caller."""
    origin: str = ""
    """What a published size is that of."""


def expected_data(
    recipe: Recipe, data: str | Path | ImageSource | None, num_images: int | None
) -> tuple[ExpectedData, ImageSource]:
    """The size of the data, and images to make views of: theirs, or made ones.

    Data are opened, but neither downloaded nor scanned. With `num_images` they are not opened. If
    the data that the recipe names are not on this machine, their published size is used.
    """
    given = data if data is not None else recipe.data.name
    if given is None and num_images is None:
        raise UsageError("the recipe names no data; choose them with --data or --num-images")
    name = "data" if given is None else data_name(given)
    stated = None if isinstance(given, ImageSource) else stated_size(str(given))
    made = MadeImages(*((stated.width, stated.height) if stated else _TYPICAL))
    noise = recipe.data.label_noise

    def count(images: int) -> int:
        selected = images if noise is None else noise.count(images)
        return selected if recipe.data.filtered_copy is None else 2 * selected

    classes = stated.num_classes if stated else None
    if num_images is not None or given is None:
        return ExpectedData(name, count(num_images or 0), classes, "given"), made
    # A path that the user gave and that does not exist is an error, as in a run.
    downloads = (
        not isinstance(given, ImageSource) and unprefixed(DataSpec.parse(given).where) in NAMES
    )
    absent = not isinstance(given, ImageSource) and not _is_here(given)
    if not absent or not (downloads or data is None):
        return _opened(recipe, name, given)
    if stated is None:
        raise UsageError(
            f"'{given}' is not on this machine, and its size is not known: give its place with "
            "--data, or its size with --num-images"
        )
    images = count(stated.num_images)
    return ExpectedData(name, images, classes, "stated", stated.origin), made


def _opened(
    recipe: Recipe, name: str, data: str | Path | ImageSource
) -> tuple[ExpectedData, ImageSource]:
    copies, filtered = plan_copies(recipe.view_plan()), recipe.data.filtered_copy
    check_copies(copies, filtered)
    source, noise = with_proposals(recipe, open_data(data)), recipe.data.label_noise
    if noise is not None:
        source = noise.select(noise.corrupt(source, recipe.seed))
    if filtered is not None:
        source = with_filtered_copy(source, filtered)
    classes = None if source.classes is None else len(source.classes)
    source = with_objects(recipe, copies.attach(source)).source
    return ExpectedData(name, len(source), classes, "opened"), source


def _is_here(spec: str | Path) -> bool:
    """Whether data can be opened without a download; a path that does not exist cannot."""
    parsed = DataSpec.parse(spec)
    where = unprefixed(parsed.where)
    if where in NAMES:
        return not needs_download(where, parsed.split)
    return is_shard_pattern(where) or Path(where).expanduser().exists()
