"""Everything that an inspection found, and its figures by name."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unshortcut.inspection.association import Associations
from unshortcut.inspection.collection import Collection
from unshortcut.inspection.equalizing import EQUALIZERS
from unshortcut.inspection.label_errors import LabelErrors
from unshortcut.inspection.near_copies import NearCopies
from unshortcut.inspection.use import PropertyUse
from unshortcut.inspection.with_model import AccuracyWithout, Refitted

METRICS = {
    "alarms": "Properties of files that tell the class",
    "file_strength": "Strength of the most telling property of files",
    "content_strength": "Strength of the most telling property of pixels",
    "copies": "Pairs of copies",
    "leaked_images": "Images with a copy in another split",
    "conflicting_copies": "Copies with different labels",
    "properties_used": "Telling properties that the model uses",
    "accuracy": "Accuracy on the test images",
    "accuracy_without_leaks": "Accuracy without leaked images",
    "label_errors": "Labels that are probably wrong",
    "label_error_share": "Estimated share of wrong labels",
}
"""Figures by name, for `--require`; those from `properties_used` on need a model."""


@dataclass(frozen=True)
class ModelFindings:
    """What was found with a model; a text is the reason why something could not be."""

    name: str
    classifier: str
    use: tuple[PropertyUse, ...] | str
    leaks: AccuracyWithout | str
    label_errors: LabelErrors | str
    without_errors: AccuracyWithout | str
    refitted: Refitted | None


@dataclass(frozen=True)
class Inspection:
    """What an inspection of a data set found."""

    data: str
    collection: Collection
    training: str
    """The split whose properties were compared with its classes."""
    properties: Associations | str
    copies: NearCopies
    model: ModelFindings | None
    seed: int
    command: str
    warnings: tuple[str, ...] = ()

    @cached_property
    def leaked(self) -> NDArray[np.int64]:
        """Numbers of the images outside the first split that have a copy in it."""
        first, *others = self.collection.names
        found = [self.copies.with_copy_in(self.collection, one, first) for one in others]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def use_of(self, name: str) -> PropertyUse | None:
        """How the model uses a property, or one that the same change makes equal, if measured."""
        use = self.model.use if self.model is not None else ()
        change = EQUALIZERS.get(name)
        every = () if isinstance(use, str) or change is None else use
        return next((one for one in every if EQUALIZERS[one.about.name] == change), None)

    def metrics(self) -> dict[str, float]:
        """Figures by their names in `METRICS`, as far as they are known."""
        found: dict[str, float] = {}
        if not isinstance(self.properties, str):
            found["alarms"] = len(self.properties.alarms)
            for kind in ("file", "content"):
                telling = [one.strength for one in self.properties.of(kind) if one.significant]
                found[f"{kind}_strength"] = max(telling, default=0.0)
        found["copies"] = len(self.copies.pairs)
        if len(self.collection.names) > 1:
            found["leaked_images"] = len(self.leaked)
        found["conflicting_copies"] = len(self.copies.conflicting(self.collection))
        return found | self._of_model()

    def _of_model(self) -> dict[str, float]:
        found: dict[str, float] = {}
        if self.model is None:
            return found
        if not isinstance(self.model.use, str):
            found["properties_used"] = sum(one.used for one in self.model.use)
        if not isinstance(self.model.leaks, str):
            found["accuracy"] = self.model.leaks.every.value
            found["accuracy_without_leaks"] = self.model.leaks.without.value
        errors = self.model.label_errors
        if not isinstance(errors, str):
            found["label_errors"] = len(errors.numbers)
            found["label_error_share"] = errors.estimated / errors.num_images
        return {name: value for name, value in found.items() if not math.isnan(value)}
