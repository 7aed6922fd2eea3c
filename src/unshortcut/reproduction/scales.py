"""The scales of an experiment: which recipes it varies, and what it changes in them.

`laptop` are the recipes of `small` with an encoder and a schedule with which they reach on `shapes`
what their method can, in at most half an hour per training on one core. Its settings were chosen on
drawings of another seed, not on what is reported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from unshortcut.errors import unknown

if TYPE_CHECKING:
    from unshortcut.recipes.schema import Recipe

Scale = Literal["small", "laptop", "paper"]
REGISTERED: Scale = "laptop"
"""The scale at which claims are registered and decided."""


@dataclass(frozen=True)
class ScaleSettings:
    """What a scale means for every claim."""

    duration: str
    """How long a training takes, as part of a sentence."""
    hours: float
    """The longest that a training should take, in hours."""
    recipes: Literal["small", "paper"]
    """Which recipes of a claim it varies."""
    changes: tuple[str, ...] = ()
    """Changes to all recipes, `key=value`."""
    changes_of_parts: tuple[str, ...] = ()
    """Changes to parts that only some recipes have; the others are left as they are."""
    encoders: Mapping[str, str] = field(default_factory=dict)
    """By name of the encoder: the change to recipes that have it."""


SCALES: dict[Scale, ScaleSettings] = {
    "small": ScaleSettings("a training takes a few minutes on two cores", 0.1, "small"),
    "laptop": ScaleSettings(
        "a training takes at most half an hour on one core",
        0.5,
        "small",
        changes=("schedule.epochs=40", "schedule.warmup_epochs=2"),
        changes_of_parts=(
            # A large alpha from the beginning keeps some seeds from starting for many epochs.
            "method.negatives.patch.schedule={kind: linear, over: 0.25}",
        ),
        encoders={
            # The 7 × 7 stem with 64 channels is most of the work of this encoder; three 3 × 3
            # convolutions with 8 channels see as far.
            "resnet18": "encoder.options={layers: [1, 1, 1, 1], channels: [16, 32, 64, 128], "
            "stem_type: deep, stem_width: 8}"
        },
    ),
    "paper": ScaleSettings(
        "one of the paper's trainings took about 1.5 days on four GPUs", 36.0, "paper"
    ),
}


def scale_settings(scale: str) -> ScaleSettings:
    """The settings of a scale, or a `UsageError` that suggests the nearest one."""
    for name, found in SCALES.items():
        if name == scale:
            return found
    raise unknown("scale", scale, SCALES)


def scale_recipe(recipe: "Recipe", scale: Scale, own: Sequence[str] = ()) -> "Recipe":
    """A recipe at a scale; `own` are the changes of a claim, which come after those for all.

    A change also replaces what single phases of the recipe state under the same key.
    """
    from unshortcut.recipes.load import load_recipe, to_mapping

    chosen, values = scale_settings(scale), to_mapping(recipe)
    present = [one for one in chosen.changes_of_parts if _has_part(values, one)]
    encoder = chosen.encoders.get(recipe.encoder.name)
    changes = [*([encoder] if encoder else []), *chosen.changes, *present, *own]
    phases: list[dict[str, Any]] = values.get("phases", [])
    stated = [
        f"phases.{phase['name']}.{change}"
        for change in changes
        for phase in phases
        if _has_key(phase, change)
    ]
    return load_recipe(recipe, [*changes, *stated])


def _has_key(values: Any, change: str) -> bool:
    """Whether values state the key that a change sets."""
    key, _, _ = change.partition("=")
    for part in key.split("."):
        if not isinstance(values, dict) or part not in values:
            return False
        values = values[part]
    return True


def _has_part(values: Any, change: str) -> bool:
    """Whether a recipe has the part that a change addresses, by key or by name in a list."""
    key, _, _ = change.partition("=")
    for part in key.split(".")[:-1]:
        if isinstance(values, list):
            named = {entry["name"]: entry for entry in values if isinstance(entry, dict)}
            values = named.get(part)
        else:
            values = values.get(part) if isinstance(values, dict) else None
        if values is None:
            return False
    return True
