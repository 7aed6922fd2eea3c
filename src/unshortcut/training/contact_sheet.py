"""A contact sheet of what a recipe's method would see."""

from collections.abc import Iterable
from pathlib import Path

from PIL import Image as PillowImage

from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.recipes.load import AnyRecipe, load_recipe
from unshortcut.views.sheet import view_sheet


def show(
    recipe: AnyRecipe,
    data: str | Path | ImageSource,
    out: str | Path | None = None,
    *,
    sets: Iterable[str] = (),
    images: int = 6,
    samples: int = 3,
) -> PillowImage.Image:
    """Images of a data set with every named view of them; written to `out` where that is given."""
    settings = load_recipe(recipe, sets)
    if out is not None and Path(out).suffix.lower() not in (".png", ".jpg", ".jpeg", ".webp"):
        raise UsageError(f"--out wants a picture such as sheet.png, got '{out}'")
    page = view_sheet(
        open_data(data), settings.view_plan(), settings.seed, images=images, samples=samples
    )
    if out is not None:
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        page.save(out)
    return page
