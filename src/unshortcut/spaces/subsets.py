"""Probe subsets of the spaces of a model (LooC, table 5).

The features of a model with S spaces are S equal blocks of columns, in the order of the spaces.
They are computed once; a subset selects some of the blocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError, unknown
from unshortcut.inference.features import Features
from unshortcut.models.load import LoadedModel, ModelLike, as_model
from unshortcut.probes.base import PROBES, Crops, Extract, Probe, ProbeResult
from unshortcut.probes.kinds.linear import LinearProbe
from unshortcut.probes.prepare import Data, prepare_probe
from unshortcut.progress import OnProgress

SpaceSubset = tuple[str, ...]
"""Names of spaces, in the order of the model."""

EACH = "each"
_FEW = 4
"""Up to this number of spaces, all subsets are tried (15 for four spaces)."""


def probe_spaces(
    model: ModelLike,
    data: Data,
    kind: str | Probe = "linear",
    *,
    subsets: str | Sequence[str | Sequence[str]] = EACH,
    tests: Sequence[Data] | Mapping[str, Data] = (),
    console: Console | None = None,
    workers: int | None = None,
    **settings: Any,
) -> dict[SpaceSubset, ProbeResult]:
    """Evaluate subsets of the spaces of a model with a probe, in the order of `subsets_of`.

    Args:
        model: a model with spaces: a LooC++ run, an export of spaces, or the result of
            `load_spaces` for any LooC run.
        subsets: the subsets to probe, as in `subsets_of`.
        kind, tests, workers, settings: as in `probe`.
    """
    chosen = kind if isinstance(kind, Probe) else PROBES.build({"name": kind, **settings})
    model = as_model(model)
    spaces = required_spaces(model)
    wanted = subsets_of(spaces, subsets)
    prepared = prepare_probe(
        model, data, tests=tests, needs_labels=chosen.needs_labels, console=console, workers=workers
    ).cached()
    if isinstance(chosen, LinearProbe):
        chosen_columns = [partial(columns, spaces, subset) for subset in wanted]
        found = chosen.measure_columns(
            prepared.extract, prepared.train, prepared.tests, chosen_columns
        )
        return dict(zip(wanted, found, strict=True))
    results = {}
    for subset in wanted:
        extract = _sliced(prepared.extract, spaces, subset)
        results[subset] = chosen.measure(extract, prepared.train, prepared.tests)
    return results


def subsets_of(
    spaces: Sequence[str], which: str | Sequence[str | Sequence[str]] = EACH
) -> list[SpaceSubset]:
    """List subsets of spaces, the smallest first.

    `each` gives all subsets of up to four spaces. For more spaces it gives each space alone, the
    first space (which is invariant to all augmentations) together with each other space, and all
    spaces. Otherwise name the subsets: `"a,b+c"`, or a sequence such as `["a", "b+c"]` or
    `[("a",), ("b", "c")]`.

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
    """The named spaces in the order of `spaces`, each once; an unknown name is a `UsageError`."""
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
            f"'{model.name}' has no spaces; only runs of the method 'looc' and exports of their "
            "spaces do"
        )
    return model.spaces


def select_spaces(model: LoadedModel, names: Sequence[str]) -> LoadedModel:
    """A model with the features of the named spaces only."""
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
    """Indices of the feature columns, out of `width`, that belong to a subset of the spaces."""
    if width % len(spaces):
        raise UsageError(
            f"{width} feature columns cannot be split into {len(spaces)} equal blocks for the "
            f"spaces {', '.join(spaces)}"
        )
    blocks = torch.arange(width).view(len(spaces), -1)
    return blocks[[spaces.index(space) for space in subset]].flatten()


def _sliced(extract: Extract, spaces: SpaceSubset, subset: SpaceSubset) -> Extract:
    def extract_subset(
        source: ImageSource,
        name: str,
        crops: Crops | None = None,
        on_progress: OnProgress | None = None,
    ) -> Features:
        full = extract(source, name, crops, on_progress)
        wanted = columns(spaces, subset, full.values.shape[1]).numpy()
        return replace(full, values=np.ascontiguousarray(full.values[:, wanted]))

    return extract_subset
