"""Contact sheets of data sets, and of the views that a recipe's method sees."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from PIL import Image as PillowImage

from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.recipes.load import AnyRecipe, load_recipe
from unshortcut.recipes.schema import Recipe
from unshortcut.training.objects import drawn_source
from unshortcut.training.plan_copies import plan_copies
from unshortcut.views.annotation_sheet import data_sheet
from unshortcut.views.sheet import view_sheet


def show(
    recipe: AnyRecipe,
    data: str | Path | ImageSource,
    out: str | Path | None = None,
    *,
    sets: Iterable[str] = (),
    num_images: int = 6,
    samples: int = 3,
) -> PillowImage.Image:
    """Draw images of a data set with their named views; saved to `out` if that is given.

    Phases with other views are drawn one below the other.
    """
    settings = load_recipe(recipe, sets)
    check_out(out)
    pages: list[PillowImage.Image] = []
    for drawn in _with_distinct_views(settings):
        plan = drawn.view_plan()
        source = drawn_source(drawn, open_data(data), plan_copies(plan))
        pages.append(view_sheet(source, plan, drawn.seed, num_images=num_images, samples=samples))
    return saved(_stacked(pages), out)


def show_data(
    data: str | Path | ImageSource,
    out: str | Path | None = None,
    *,
    num_images: int = 8,
    seed: int = 0,
) -> PillowImage.Image:
    """Draw random images of a data set with their labels, boxes and masks, as far as it has them.

    The sheet is saved to `out` if that is given.
    """
    check_out(out)
    return saved(data_sheet(open_data(data), seed, num_images=num_images), out)


def check_out(out: str | Path | None) -> None:
    """Raise `UsageError` unless the file to write is an image, or None."""
    if out is not None and Path(out).suffix.lower() not in (".png", ".jpg", ".jpeg", ".webp"):
        raise UsageError(f"--out must be an image file such as sheet.png, got '{out}'")


def saved(page: PillowImage.Image, out: str | Path | None) -> PillowImage.Image:
    """The page, written to a file if one is given."""
    if out is not None:
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        page.save(out)
    return page


def _with_distinct_views(recipe: Recipe) -> list[Recipe]:
    """The recipes of the phases, each that has other views than those before; or the recipe."""
    found: list[Recipe] = []
    for one in [phase.recipe for phase in recipe.resolved_phases()] or [recipe]:
        if all((one.views, one.method) != (other.views, other.method) for other in found):
            found.append(one)
    return found


def _stacked(pages: Sequence[PillowImage.Image]) -> PillowImage.Image:
    if len(pages) == 1:
        return pages[0]
    size = max(page.width for page in pages), sum(page.height for page in pages)
    whole, top = PillowImage.new(pages[0].mode, size, "white"), 0
    for page in pages:
        whole.paste(page, (0, top))
        top += page.height
    return whole
