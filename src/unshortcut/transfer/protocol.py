"""The schema of a protocol: how an encoder is fine-tuned for a task, in one validated document."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, model_validator

from unshortcut.augmentations.augmentation import AnyAugmentation
from unshortcut.errors import UsageError
from unshortcut.methods.optimization import OptimizerSettings
from unshortcut.parts import build
from unshortcut.recipes.load import assign
from unshortcut.recipes.reading import inherit, parse_file
from unshortcut.recipes.schema import PaperRow, TrainingSettings
from unshortcut.recipes.views import Strict, fill_sizes
from unshortcut.transfer.catalog import protocol_path
from unshortcut.transfer.parameters import TrainedParts
from unshortcut.transfer.schedule import TransferSchedule
from unshortcut.transfer.task import AnyTask


class TransferData(Strict):
    """The training data: how many of them, in which batches, and what is held out."""

    batch_size: int = Field(32, ge=1)
    """Images per optimizer step, over all devices; fewer if the data have fewer."""
    workers: int | None = Field(None, ge=0)
    """Worker processes that make views; by default chosen by the number of cores."""
    fraction: float = Field(1.0, gt=0, le=1)
    """Share of the training images to use, of each class where there are classes; at least one of
    each. Which ones depends on `fraction_seed`."""
    fraction_seed: int = Field(0, ge=0)
    validation: float = Field(0.1, ge=0, lt=1)
    """Share of the training images that is held out to choose the best weights, if the data have
    no split for it; 0 chooses nothing: the last weights are the result."""


class TransferViews(Strict):
    """How images are made ready for training and for evaluation."""

    size: int | None = Field(None, ge=8)
    """Side of an image in pixels, the default of every augmentation that has a size; by default
    that of the model times `relative_size`. For boxes and masks, the shorter side in evaluation."""
    relative_size: float = Field(1.0, gt=0)
    """Side of an image relative to that of the model, if `size` is not stated: boxes and masks need
    more pixels than a class."""
    augmentations: list[AnyAugmentation]
    crop_share: float | None = Field(None, gt=0, le=1)
    """In evaluation, the side of the center crop relative to the resized image's shorter side; by
    default that of the model. Boxes and masks are evaluated on whole images."""
    longest: int | None = Field(None, ge=8)
    """For boxes and masks: the longer side in evaluation at most, in pixels; by default 5/3 of
    `size`."""
    min_visible: float = Field(0.25, ge=0, le=1)
    """Share of a box that must be inside a view for the box to be trained on."""


class TransferTraining(TrainingSettings):
    """How a run is executed, saved and logged, as in a recipe."""

    knn_epochs: Literal[0] = 0
    """Always 0: what is measured during training is the task's own metric."""


class Protocol(Strict):
    """All settings of fine-tuning but the model and the data."""

    summary: str = ""
    paper: PaperRow | None = None
    seed: int = Field(0, ge=0)
    task: AnyTask
    data: TransferData = TransferData()
    views: TransferViews
    train: TrainedParts = TrainedParts()
    optimizer: OptimizerSettings = OptimizerSettings()
    schedule: TransferSchedule
    training: TransferTraining = TransferTraining()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        accumulate, batch = self.training.accumulate, self.data.batch_size
        if batch % accumulate:
            raise UsageError(
                f"data.batch_size {batch} must be a multiple of training.accumulate {accumulate}"
            )
        if self.schedule.head_first and self.train.encoder == "none":
            raise UsageError(
                "schedule.head_first: a frozen encoder is never trained; leave it at 0"
            )
        return self


AnyProtocol = str | Path | Mapping[str, Any] | Protocol
"""The name of a protocol, the path of a YAML file, a mapping, or a `Protocol`."""


def load_protocol(
    protocol: AnyProtocol, sets: Iterable[str] = (), *, size: int | None = None
) -> Protocol:
    """Load and validate a protocol.

    Args:
        sets: changes such as `schedule.epochs=20`.
        size: side of the images in pixels if the protocol states none: that of the model.
    """
    values, where = _stated(protocol, sets)
    views = values.get("views")
    if isinstance(views, dict):
        relative = views.get("relative_size", 1)
        if views.get("size") is None and size is not None and isinstance(relative, int | float):
            views["size"] = round(size * relative)
        if views.get("size") is not None:
            fill_sizes(views.get("augmentations"), views["size"])
    return build(Protocol, values, where)


def show_protocol(protocol: AnyProtocol, sets: Iterable[str] = ()) -> str:
    """A protocol as YAML, with all defaults but the sizes that depend on the model."""
    sets = list(sets)
    shown = to_mapping(load_protocol(protocol, sets))
    if shown["views"]["size"] is None:
        stated, _ = _stated(protocol, sets)
        _leave_out_sizes(shown["views"]["augmentations"], stated["views"]["augmentations"])
    return yaml.safe_dump(shown, sort_keys=False, allow_unicode=True)


def to_mapping(protocol: Protocol) -> dict[str, Any]:
    """The protocol as a mapping of plain values, with all defaults."""
    return protocol.model_dump(mode="json")


def to_yaml(protocol: Protocol) -> str:
    """The protocol as YAML, with all defaults."""
    return yaml.safe_dump(to_mapping(protocol), sort_keys=False, allow_unicode=True)


def _stated(protocol: AnyProtocol, sets: Iterable[str]) -> tuple[dict[str, Any], str]:
    """The values that a protocol states, with changes, and what errors call it."""
    if isinstance(protocol, Protocol):
        protocol = to_mapping(protocol)
    if isinstance(protocol, Mapping):
        values, where = inherit(deepcopy(dict(protocol)), read=_read), "protocol"
    else:
        values, where = inherit(*_read(str(protocol)), read=_read), f"protocol '{protocol}'"
    for assignment in sets:
        values = assign(values, assignment)
    return values, where


def _leave_out_sizes(shown: list[dict[str, Any]], stated: list[dict[str, Any]]) -> None:
    """Delete the sizes of augmentations that do not state one."""
    for entry, own in zip(shown, stated, strict=True):
        if "size" not in own:
            entry.pop("size", None)
        _leave_out_sizes(entry.get("augmentations", []), own.get("augmentations", []))


def _read(protocol: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    if Path(protocol).suffix in (".yaml", ".yml"):
        return parse_file(Path(protocol), "protocol"), (protocol,)
    return parse_file(protocol_path(protocol), "protocol"), (protocol,)
