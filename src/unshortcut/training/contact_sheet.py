"""Contact sheets of the views that a recipe's method sees."""

from collections.abc import Iterable
from pathlib import Path

from PIL import Image as PillowImage

from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.recipes.load import AnyRecipe, load_recipe
from unshortcut.training.plan_copies import plan_copies
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
    """Draw images of a data set with their named views; saved to `out` if that is given."""
    settings = load_recipe(recipe, sets)
    if out is not None and Path(out).suffix.lower() not in (".png", ".jpg", ".jpeg", ".webp"):
        raise UsageError(f"--out must be an image file such as sheet.png, got '{out}'")
    plan = settings.view_plan()
    source = plan_copies(plan).attach(open_data(data))
    page = view_sheet(source, plan, settings.seed, num_images=num_images, samples=samples)
    if out is not None:
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        page.save(out)
    return page
