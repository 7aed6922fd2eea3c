"""WordNet's hierarchy above the classes of ImageNet, as coarse classes for the audit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from unshortcut.data.class_lists import WORDNET, imagenet_1k, tab_separated
from unshortcut.errors import UsageError, unknown

LARGEST = 120
"""Most classes of ImageNet in a coarse class, unless they are named; its 118 dogs are one."""


def coarse_classes(names: Sequence[str] = ()) -> dict[str, str]:
    """The name of a coarse class for each class of ImageNet, by WordNet id.

    Args:
        names: coarse classes by name (`dog`) or WordNet id; classes of ImageNet below none of them
            are left out, and a class below several belongs to the smallest. Without names, the
            coarse class is the largest hypernym with at most `LARGEST` classes of ImageNet.
    """
    sizes = _sizes()
    if names:
        chosen = {_by_name(name): name for name in names}
        found = {}
        for fine in imagenet_1k():
            above = [one for one in hypernyms(fine) if one in chosen]
            if above:
                found[fine] = chosen[min(above, key=lambda one: (sizes[one], one))]
        return found
    titles = {one: name for one, (name, _) in _synsets().items()}
    return {fine: titles[_largest(fine, sizes)] for fine in imagenet_1k()}


@cache
def hypernyms(synset: str) -> tuple[str, ...]:
    """A synset and everything above it, each once, the synset first."""
    found = {synset: None}
    for parent in _synsets()[synset][1]:
        found.update(dict.fromkeys(hypernyms(parent)))
    return tuple(found)


def _largest(fine: str, sizes: Mapping[str, int]) -> str:
    """The largest hypernym that is small enough; of equally large ones, the most specific."""
    allowed = [one for one in hypernyms(fine) if sizes[one] <= LARGEST]
    return max(allowed, key=lambda one: (sizes[one], len(hypernyms(one)), one))


def _by_name(name: str) -> str:
    """The id of a synset that is given by its id or by its name."""
    synsets = _synsets()
    if name in synsets:
        return name
    same = [one for one, (title, _) in synsets.items() if title == name]
    if not same:
        titles = sorted({title for title, _ in synsets.values()})
        raise unknown("class of WordNet above or in ImageNet", name, titles)
    if len(same) > 1:
        raise UsageError(
            f"WordNet has several classes called '{name}'; give one of their ids: {', '.join(same)}"
        )
    return same[0]


@cache
def _sizes() -> Counter[str]:
    """The number of classes of ImageNet below each synset."""
    return Counter(one for fine in imagenet_1k() for one in hypernyms(fine))


@cache
def _synsets() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Name and parents of each synset, by id."""
    return {one: (name, tuple(up.split())) for one, name, up in tab_separated(WORDNET)}
