"""What each space of a model knows: any probe on any subset of its spaces (LooC, table 5).

The features of a model with spaces are as many equal blocks of columns, in the spaces' order. They
are computed once, in full; a subset is a choice of blocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError, unknown
from unshortcut.inference.features import Features
from unshortcut.models.load import LoadedModel, ModelLike, load_model
from unshortcut.probes.bench import Data, bench
from unshortcut.probes.probe import PROBES, Extract, Probe, ProbeResult

SpaceSubset = tuple[str, ...]
"""Names of spaces, in the model's order."""

EACH = "each"
_FEW = 4
"""Spaces that have few enough subsets, 15, to try them all."""


def probe_spaces(
    model: ModelLike,
    data: Data,
    kind: str | Probe = "linear",
    *,
    subsets: str | Sequence[str | Sequence[str]] = EACH,
    tests: Sequence[Data] | Mapping[str, Data] = (),
    console: Console | None = None,
    workers: int = 0,
    **settings: Any,
) -> dict[SpaceSubset, ProbeResult]:
    """How well a readout does on subsets of the spaces, in the order of `subsets_of`.

    Args:
        model: one with spaces: a LooC++ run, an export of spaces, or what `load_spaces` gives of
            any LooC run.
        subsets: which, as in `subsets_of`.
        kind, tests, settings: as in `probe`.
    """
    chosen = kind if isinstance(kind, Probe) else PROBES.build({"name": kind, **settings})
    loaded = model if isinstance(model, LoadedModel) else load_model(model)
    spaces = required_spaces(loaded)
    wanted = subsets_of(spaces, subsets)
    ready = bench(
        loaded,
        data,
        tests=tests,
        needs_labels=chosen.needs_labels,
        console=console,
        workers=workers,
    ).remembering()
    return {
        subset: chosen.measure(_sliced(ready.extract, spaces, subset), ready.train, ready.tests)
        for subset in wanted
    }


def subsets_of(
    spaces: Sequence[str], which: str | Sequence[str | Sequence[str]] = EACH
) -> list[SpaceSubset]:
    """Subsets of spaces, the small ones first.

    `each` gives every one of up to four spaces' subsets; of more spaces each alone, the first
    (which is invariant to all) with each other, and all together. Otherwise name them: `a,b+c`, or
    a sequence of `b+c` or of sequences of names.

    >>> subsets_of(("invariant", "color"), "color,color+invariant")
    [('color',), ('invariant', 'color')]
    """
    if which == EACH:
        if len(spaces) <= _FEW:
            sizes = range(1, len(spaces) + 1)
            return [subset for size in sizes for subset in combinations(spaces, size)]
        pairs = [(spaces[0], other) for other in spaces[1:]]
        return [*((space,) for space in spaces), *pairs, tuple(spaces)]
    entries = which.split(",") if isinstance(which, str) else which
    found = [
        ordered(spaces, entry.split("+") if isinstance(entry, str) else entry) for entry in entries
    ]
    if not found:
        raise UsageError(f"subsets must name at least one of the spaces {', '.join(spaces)}")
    return sorted(dict.fromkeys(found), key=len)


def ordered(spaces: Sequence[str], names: Sequence[str]) -> SpaceSubset:
    """Some spaces in the order of all, each once; `UsageError` for one that is not there."""
    names = [name.strip() for name in names]
    for name in names:
        if name not in spaces:
            raise unknown("space", name, spaces)
    if not names:
        raise UsageError(f"a subset must name at least one of the spaces {', '.join(spaces)}")
    return tuple(space for space in spaces if space in names)


def required_spaces(model: LoadedModel) -> SpaceSubset:
    """The spaces of a model, or a `UsageError`."""
    if model.spaces is None:
        raise UsageError(
            f"'{model.name}' has no spaces: a run of the method 'looc' and an export of its spaces "
            "have"
        )
    return model.spaces


def select_spaces(model: LoadedModel, names: Sequence[str]) -> LoadedModel:
    """A model whose features are those of the named spaces alone."""
    spaces = required_spaces(model)
    subset = ordered(spaces, names)

    def features(images: Tensor) -> Tensor:
        full = model.features(images).flatten(1)
        return full[:, columns(spaces, subset, full.shape[1])]

    mark = model.fingerprint and f"{model.fingerprint} {'+'.join(subset)} of {'+'.join(spaces)}"
    return replace(
        model, features=features, fingerprint=mark, logits=None, classes=None, spaces=subset
    )


def columns(spaces: Sequence[str], subset: Sequence[str], width: int) -> Tensor:
    """The columns, of `width` in all, that belong to a subset of the spaces."""
    if width % len(spaces):
        raise UsageError(
            f"features of {width} columns are no {len(spaces)} equal blocks for the spaces "
            f"{', '.join(spaces)}"
        )
    blocks = torch.arange(width).view(len(spaces), -1)
    return blocks[[spaces.index(space) for space in subset]].flatten()


def _sliced(extract: Extract, spaces: SpaceSubset, subset: SpaceSubset) -> Extract:
    def extract_subset(source: ImageSource, name: str) -> Features:
        full = extract(source, name)
        wanted = columns(spaces, subset, full.values.shape[1]).numpy()
        return replace(full, values=np.ascontiguousarray(full.values[:, wanted]))

    return extract_subset
