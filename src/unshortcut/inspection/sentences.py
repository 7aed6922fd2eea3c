"""The most important findings of an inspection in words, for the top of the page."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from unshortcut.inspection.association import Association
from unshortcut.inspection.findings import Inspection
from unshortcut.measuring.wording import percent
from unshortcut.models.origins.embedded import Embedded

Weight = Literal["grave", "notable", "light"]
_STRONG, _NOTABLE = 0.2, 0.5
"""Strengths from which a property of files, or of pixels, is emphasized."""


@dataclass(frozen=True)
class Sentence:
    """One of the sentences on top of the page."""

    weight: Weight
    subject: str
    text: str
    """To be read after the subject."""


def sentences(found: Inspection) -> list[Sentence]:
    """The findings, property by property, then copies, labels and what to know of the model."""
    return [
        *_on_properties(found), *_on_copies(found), *_on_labels(found), *_on_the_model(found)
    ]  # fmt: skip


def _on_properties(found: Inspection) -> Iterator[Sentence]:
    properties = found.properties
    if isinstance(properties, str):
        yield Sentence("light", "Properties", f"were not compared with classes: {properties}.")
        return
    for one in properties.alarms:
        text = (
            "tells the class, which the content of images does not explain: a tree on it alone is "
            f"right in {_accuracy(one)}.{_used(found, one)}"
        )
        weight: Weight = "grave" if one.strength >= _STRONG else "notable"
        yield Sentence(weight, one.about.label, text)
    if not properties.alarms:
        what = "Files" if found.collection.splits[found.training].has_files else "Sizes of images"
        yield Sentence("light", what, "tell nothing about the class.")
    content = [one for one in properties.of("content") if one.significant]
    if content:
        others = f", the most of {len(content)} properties that do" if len(content) > 1 else ""
        text = (
            f"tells the class in {_accuracy(content[0])}{others}, which may come from what the "
            f"images show.{_used(found, content[0])}"
        )
        weight = "notable" if content[0].strength >= _NOTABLE else "light"
        yield Sentence(weight, content[0].about.label, text)


def _accuracy(one: Association) -> str:
    return f"{percent(one.accuracy, 1)} of cases (chance: {percent(one.chance, 1)})"


def _used(found: Inspection, one: Association) -> str:
    use = found.use_of(one.about.name)
    if use is None:
        return ""
    return (
        f" The model {'uses it' if use.used else 'shows no use of it'}: "
        f"{percent(use.changed.value, 1)} of its decisions change when all images get the same "
        f"value, {percent(use.control.value, 1)} when they get one of their own class."
    )


def _on_copies(found: Inspection) -> Iterator[Sentence]:
    pairs, leaked = len(found.copies.pairs), len(found.leaked)
    if not pairs:
        yield Sentence("light", "Copies", "of images were not found.")
    if leaked:
        where = f"a copy in {found.collection.names[0]}"
        text = f"of other splits {'has' if leaked == 1 else 'have'} {where}.{_accuracy_gap(found)}"
        yield Sentence("grave", _counted(leaked, "image"), text)
    elif pairs:
        yield Sentence("notable", _counted(pairs, "pair"), "of images are copies of each other.")
    conflicts = len(found.copies.conflicting(found.collection))
    if conflicts:
        yield Sentence("notable", _counted(conflicts, "pair"), "of copies have different labels.")


def _accuracy_gap(found: Inspection) -> str:
    leaks = None if found.model is None else found.model.leaks
    if leaks is None or isinstance(leaks, str) or not leaks.num_left_out:
        return ""
    return (
        f" Accuracy is {percent(leaks.every.value, 1)} with them and "
        f"{percent(leaks.without.value, 1)} without."
    )


def _on_labels(found: Inspection) -> Iterator[Sentence]:
    if found.model is None:
        return
    errors = found.model.label_errors
    if isinstance(errors, str):
        yield Sentence("light", "Label errors", f"are not listed: {errors}.")
        return
    count = len(errors.numbers)
    if not count:
        yield Sentence("light", "Labels", "show no errors.")
        return
    share = count / errors.num_images
    text = f"{'is' if count == 1 else 'are'} probably wrong, {percent(share, 1)} of all."
    yield Sentence("notable" if share >= 0.01 else "light", _counted(count, "label"), text)


def _on_the_model(found: Inspection) -> Iterator[Sentence]:
    if found.model is not None and found.model.name.startswith(f"{Embedded.name}:"):
        text = (
            "is an encoder of the package with a probe on top. It was trained on drawn shapes: "
            "what your own model uses, only an inspection with that model can tell."
        )
        yield Sentence("light", "The model", text)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
