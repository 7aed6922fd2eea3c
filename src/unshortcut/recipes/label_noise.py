"""Corrupted labels of a recipe: `data.label_noise`."""

from typing import Literal, Self

from pydantic import Field, model_validator

from unshortcut.data.class_files import read_hierarchy
from unshortcut.data.noisy_labels import Kind, NoisyLabels, silver_images
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.recipes.views import Strict


class LabelNoise(Strict):
    """How labels are corrupted, and which are not. All of it is drawn by the seed of the recipe."""

    kind: Kind = "uniform"
    """uniform: a wrong label is any class; flip: one other class, drawn for each class;
    hierarchical: another class of the same coarse class."""
    p: float = Field(ge=0, le=1)
    """Probability with which the label of an image is drawn anew."""
    gold: float = Field(0.0, ge=0, lt=1)
    """Fraction of the images whose labels are right and known to be."""
    images: Literal["all", "silver"] = "all"
    """Images to train on: all, or only those whose labels are not trusted."""
    hierarchy: str | None = None
    """Coarse classes for the kind hierarchical: a file with two columns, `cifar100`, `shapes` or
    `wordnet`, as for `--hierarchy` of an audit."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.kind == "hierarchical" and self.hierarchy is None:
            raise UsageError(
                "data.label_noise of kind hierarchical needs coarse classes: set "
                "data.label_noise.hierarchy to a file with two columns, cifar100, shapes or wordnet"
            )
        if self.kind != "hierarchical" and self.hierarchy is not None:
            raise UsageError(
                f"data.label_noise.hierarchy is for the kind hierarchical, not for {self.kind}"
            )
        return self

    def corrupt(self, source: ImageSource, seed: int) -> NoisyLabels:
        """All images of a source with corrupted labels."""
        hierarchy = None if self.hierarchy is None else read_hierarchy(self.hierarchy)
        return NoisyLabels(source, self.kind, self.p, self.gold, seed, hierarchy)

    def select(self, source: ImageSource) -> ImageSource:
        """The images of a source to train on."""
        return silver_images(source) if self.images == "silver" else source

    def count(self, num_images: int) -> int:
        """How many of so many images are trained on."""
        return num_images - (int(self.gold * num_images) if self.images == "silver" else 0)
