"""The settings of views: apart from the rest of the schema, because they need no method."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from unshortcut.augmentations.augmentation import AUGMENTATIONS, AnyAugmentation
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import IMAGENET_MEAN, IMAGENET_STD
from unshortcut.parts import build
from unshortcut.recipes.reading import read_recipe
from unshortcut.views.objects import ObjectViews


class Strict(BaseModel):
    """Settings in which a misspelled key is an error."""

    model_config = ConfigDict(extra="forbid")


class ViewSettings(Strict):
    """How views are made for training, and how images are prepared for evaluation."""

    size: int = Field(224, ge=8)
    """Side of a view in pixels; the default of every augmentation that has a size."""
    augmentations: list[AnyAugmentation]
    overrides: dict[str, list[AnyAugmentation]] = {}
    """Other augmentations for single views, by the name of the view."""
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD
    crop_share: float = Field(0.875, gt=0, le=1)
    """In evaluation, the side of the center crop relative to the resized image's shorter side."""
    eval_size: int | None = Field(None, ge=8)
    """In evaluation, the side of an image in pixels; by default that of a view."""
    filtered_copy: list[AnyAugmentation] | None = None
    """Augmentations of the images of `data.filtered_copy`; by default those of all images."""

    objects: ObjectViews | None = None
    """Views of objects in place of views of the whole image; {} for the defaults."""

    def object_views(self) -> ObjectViews | None:
        """How views of objects are made, with the window that belongs to the size of a view."""
        objects = self.objects
        if objects is None or objects.window is not None:
            return objects
        return replace(objects, window=self.size)

    @model_validator(mode="before")
    @classmethod
    def _sizes(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        size = values.get("size", 224)
        overrides = values.get("overrides") or {}
        for entries in (
            values.get("augmentations"),
            values.get("filtered_copy"),
            *overrides.values(),
        ):
            fill_sizes(entries, size)
        return values


def fill_sizes(entries: Any, size: Any) -> None:
    """Give a size to every augmentation, in plain values, that has one and states none."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            if "size" not in entry and _has_size(entry.get("name")):
                entry["size"] = size
            fill_sizes(entry.get("augmentations"), size)


def _has_size(name: Any) -> bool:
    if not isinstance(name, str):
        return False
    try:
        return any(field.name == "size" for field in fields(AUGMENTATIONS.find(name)))
    except UsageError:
        return False  # building the augmentation reports it


def read_views(recipe: str | Path) -> ViewSettings:
    """The settings of views of a recipe, by its name or file."""
    return build(ViewSettings, read_recipe(recipe)["views"], f"recipe '{Path(recipe).name}'")
