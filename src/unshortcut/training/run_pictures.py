"""Pictures of what the method of a run predicts, while it trains or afterwards."""

from collections.abc import Iterable
from pathlib import Path

from PIL import Image as PillowImage

from unshortcut.data.naming import Data, data_name
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.recipes.load import AnyRecipe, load_recipe
from unshortcut.recipes.schema import DataSettings
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.contact_sheet import check_out, saved
from unshortcut.training.folder import RunFolder
from unshortcut.training.objects import drawn_source
from unshortcut.training.plan_copies import plan_copies
from unshortcut.training.pretraining import build_method
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
    settings = load_recipe(folder.recipe if recipe is None else recipe, sets)
    plan = settings.view_plan()
    images = _default_images(folder, settings.data) if data is None else open_data(data)
    source = drawn_source(settings, images, plan_copies(plan))
    method = build_method(settings, source=source)
    if not method.makes_pictures:
        raise UsageError(
            f"method '{settings.method.name}' predicts nothing that can be drawn; "
            "`unshortcut show RECIPE --data DATA` draws its views"
        )
    try:
        method.load_state_dict(load_checkpoint(folder.checkpoint)["state_dict"])
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise UsageError(
            f"the recipe does not fit the weights of '{run}': {reason[:200]}"
        ) from None
    views = sample_views(source, plan, settings.seed, num_images)
    if not views:
        raise UsageError(f"none of the images of '{data_name(images)}' that were tried can be read")
    return saved(picture_sheet(method, views), out)


def _default_images(folder: RunFolder, chosen: DataSettings) -> ImageSource:
    """The images that a run was trained on, or those that another recipe names.

    A run knows its images by name, since `--data` may have taken the place of those of its recipe.
    """
    stated = folder.read_metadata() if folder.metadata.is_file() else {}
    of_run = "data" in stated and chosen.name == load_recipe(folder.recipe).data.name
    named = stated["data"] if of_run else chosen.name
    if named is None:
        raise UsageError("the recipe names no data; say which with --data")
    try:
        images = open_data(named)
    except UsageError as error:
        raise UsageError(f"--data is needed to draw this run: {error}") from None
    # The fingerprint of a run is that of its images if there is nothing beside them.
    beside = chosen.filtered_copy or chosen.proposals or chosen.label_noise
    if of_run and not beside and images.fingerprint() not in stated["data_fingerprint"]:
        raise UsageError(
            f"'{named}' is not, or no longer, what the run was trained on; to draw it all the "
            f"same, add --data {named}"
        )
    return images
