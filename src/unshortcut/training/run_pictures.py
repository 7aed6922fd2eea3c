"""Pictures of what the method of a run predicts, while it trains or afterwards."""

from collections.abc import Iterable
from pathlib import Path

from PIL import Image as PillowImage

from unshortcut.data.naming import Data, data_name
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.recipes.load import AnyRecipe, load_recipe, to_mapping
from unshortcut.recipes.schema import DataSettings, Recipe
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.contact_sheet import check_out, saved
from unshortcut.training.folder import RunFolder
from unshortcut.training.objects import drawn_source
from unshortcut.training.plan_copies import plan_copies
from unshortcut.training.pretraining import build_method
from unshortcut.training.resume import differences
from unshortcut.training.samples import picture_sheet, sample_views


def show_run(
    run: str | Path,
    data: Data | None = None,
    out: str | Path | None = None,
    *,
    recipe: AnyRecipe | None = None,
    sets: Iterable[str] = (),
    num_images: int = 6,
) -> PillowImage.Image:
    """Draw what the method of a run makes of images, such as the reconstructions of MAE and CAN.

    The weights are those of the last checkpoint, so that a run can be watched.

    Args:
        run: a run folder of `pretrain`, finished or not.
        data: images to draw; by default those that the run was trained on.
        out: the image file to write, if any.
        recipe: views and settings to draw with; by default those of the run.
        sets: changes to the recipe, e.g. `method.mask_ratio=0.9`.
    """
    check_out(out)
    folder = RunFolder(Path(run)).last_phase
    if not folder.recipe.is_file():
        raise UsageError(f"'{run}' is not a run folder of `unshortcut pretrain`")
    if not folder.checkpoint.is_file():
        raise UsageError(f"'{run}' has no checkpoint yet; try again after its first epoch")
    changes = tuple(sets)
    settings = load_recipe(folder.recipe if recipe is None else recipe, changes)
    plan = settings.view_plan()
    if data is not None:
        images = open_data(data)
    elif recipe is not None or any(one.startswith("data.name=") for one in changes):
        images = _named_images(settings.data.name)
    else:
        images = _images_of_run(folder, settings.data)
    source = drawn_source(settings, images, plan_copies(plan))
    method = build_method(settings, source=source)
    if not method.makes_pictures:
        raise UsageError(
            f"method '{settings.method.name}', with the settings of this run, predicts nothing "
            "that can be drawn; `unshortcut show RECIPE --data DATA` draws its views"
        )
    try:
        method.load_state_dict(load_checkpoint(folder.checkpoint)["state_dict"])
    except RuntimeError:
        raise UsageError(_misfit(run, folder, settings)) from None
    views = sample_views(source, plan, settings.seed, num_images)
    if not views:
        raise UsageError(f"none of the images of '{data_name(images)}' that were tried can be read")
    return saved(picture_sheet(method, views), out)


def _named_images(name: str | None) -> ImageSource:
    """The images of a recipe's `data.name`."""
    if name is None:
        raise UsageError("the recipe names no data; say which with --data")
    try:
        return open_data(name)
    except UsageError as error:
        raise UsageError(f"--data is needed to draw this run: {error}") from None


def _images_of_run(folder: RunFolder, of_recipe: DataSettings) -> ImageSource:
    """The images that a run was trained on: those of its recipe, unless it was given others.

    `run.json` has their public name, which lacks private folders; the recipe has the whole path.
    """
    stated = folder.read_metadata() if folder.metadata.is_file() else {}
    given = stated.get("data")
    whole = of_recipe.name is not None and given in (None, data_name(of_recipe.name))
    named = of_recipe.name if whole else given
    images = _named_images(named)
    # Copies, proposals and noisy labels have fingerprints of their own.
    alone = not (of_recipe.filtered_copy or of_recipe.proposals or of_recipe.label_noise)
    known = stated.get("data_fingerprint")
    if alone and known and not known.startswith(images.fingerprint()):
        raise UsageError(
            f"'{named}' is not, or no longer, what the run was trained on; to draw it all the "
            f"same, add --data {named}"
        )
    return images


def _misfit(run: str | Path, folder: RunFolder, settings: Recipe) -> str:
    """Why weights do not fit: the first setting in which the recipe differs from the run's."""
    changed = differences(to_mapping(load_recipe(folder.recipe)), to_mapping(settings))
    for key, (own, other) in changed.items():
        if key.startswith(("encoder", "method")):
            return f"the recipe does not fit the weights of '{run}': {key} is {other}, not {own}"
    return f"the recipe does not fit the weights of '{run}'"
