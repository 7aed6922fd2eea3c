"""Values of others that a measured one is compared with, and which models have learned nothing.

`known/*.csv` lists published values, each with its source.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_UNTRAINED = re.compile(r"(^|[:/ ])untrained$|@random$")


@dataclass(frozen=True)
class KnownShapeBias:
    """The shape bias of humans or of a network on the 1,280 stimuli of Geirhos et al. (2019)."""

    name: str
    label: str
    """A shorter name."""
    bias: float
    coverage: float | None
    """None where the decisions were not published."""
    aggregate: str
    """How the probabilities of a category's classes were combined: `mean`, `sum`, `prompts` if a
    text names the category itself, or empty if there are none or it is not stated."""
    source: str


@cache
def known_shape_biases() -> tuple[KnownShapeBias, ...]:
    """All known values; the ones that say most to a reader come first."""
    file = files("unshortcut.measuring") / "known" / "shape_bias.csv"
    return tuple(
        _shape_bias(row) for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    )


def comparable_shape_biases(aggregate: str) -> tuple[KnownShapeBias, ...]:
    """One value per name: that of the same aggregate, where both are known."""
    known = known_shape_biases()
    best = {one.name: one for one in known} | {
        one.name: one for one in known if one.aggregate == aggregate
    }
    return tuple(best[name] for name in dict.fromkeys(one.name for one in known))


def is_untrained(model: str) -> bool:
    """Whether the name of a model says that it has random weights, e.g. `timm:resnet18@random`."""
    return _UNTRAINED.search(model) is not None


def _shape_bias(row: dict[str, str]) -> KnownShapeBias:
    bias, coverage = row["bias"], None
    if row["shape"]:
        shape, texture = int(row["shape"]), int(row["texture"])
        bias, coverage = str(shape / (shape + texture)), (shape + texture) / int(row["conflicts"])
    return KnownShapeBias(
        row["name"], row["label"], float(bias), coverage, row["aggregate"], row["source"]
    )
