"""The objects that a recipe's views are made of: where boxes come from, and what an epoch is."""

from dataclasses import dataclass

from unshortcut.data.objects import EachObject, WithObjects
from unshortcut.data.proposals import WithProposals
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.progress import OnProgress
from unshortcut.recipes.schema import Recipe
from unshortcut.training.plan_copies import PlanCopies


@dataclass(frozen=True)
class ObjectData:
    """Images with the boxes of their objects, as a recipe wants them."""

    source: ImageSource
    """What an epoch goes over: images, or objects."""
    images: int = 0
    without: int = 0
    """Number of images without an object, whose views are of the whole image."""


def with_proposals(recipe: Recipe, source: ImageSource) -> ImageSource:
    """The source with the recipe's proposals in place of its boxes, if there are any."""
    proposals, objects = recipe.data.proposals, recipe.views.objects
    if proposals is None or objects is None:
        return source
    return WithProposals(source, proposals, objects.most)


def with_objects(
    recipe: Recipe, source: ImageSource, on_progress: OnProgress = lambda done, total: None
) -> ObjectData:
    """The source whose images come with their objects, if the recipe has views of them.

    Raises `UsageError` if the source has no boxes, or no image with an object.
    """
    objects = recipe.views.objects
    if objects is None:
        return ObjectData(source)
    found = WithObjects(source, objects.smallest)
    counts = found.counts(on_progress)
    without = int((counts == 0).sum())
    if without == len(found):
        raise UsageError(
            "none of the images has an object"
            + (f" of {objects.smallest:g}² pixels or more" if objects.smallest else "")
            + ": views of objects need some"
        )
    each = recipe.data.epoch == "objects"
    return ObjectData(EachObject(found, counts) if each else found, len(found), without)


def drawn_source(recipe: Recipe, source: ImageSource, copies: PlanCopies) -> ImageSource:
    """Images to draw a recipe's views of, with copies and boxes as its runs have them.

    Unlike in a run, there is one item per image, and boxes are not counted.
    """
    attached = copies.attach(with_proposals(recipe, source))
    objects = recipe.views.objects
    return attached if objects is None else WithObjects(attached, objects.smallest)


def few_objects(data: ObjectData) -> str | None:
    """A sentence about images without objects, if there are any."""
    if not data.without:
        return None
    share = data.without / data.images
    return (
        f"{data.without} of {data.images} images ({share:.1%}) have no object: their views are of "
        "the whole image"
    )
