"""Which images of a data set carry the cues that a model goes by.

The transplant of the audit finds patches that take decisions with them. Each is reduced to what is
steady in its class, a tag without what is around it, and searched in all images of all splits.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from rich.console import Console

from unshortcut.auditing.entries import measure, settled
from unshortcut.auditing.inputs import open_images, open_optional
from unshortcut.auditing.request import AuditRequest
from unshortcut.auditing.run import settings_of
from unshortcut.auditing.subjects import SubjectFactory, load
from unshortcut.data.naming import Data
from unshortcut.data.open import DataSpec, open_data, splits
from unshortcut.data.source import ImageSource
from unshortcut.errors import RunError, UsageError
from unshortcut.fixing.carrier_list import Carrier, Carriers, Cue
from unshortcut.fixing.pasting import WithoutCue
from unshortcut.fixing.search import SearchedImages, inside, learn_template, search, threshold
from unshortcut.imaging.template import Match, Template
from unshortcut.measurements.measurement import measurements
from unshortcut.measurements.transplant.transplants import Patch, TransplantResult
from unshortcut.measuring.estimates import UNKNOWN, Estimate
from unshortcut.measuring.settings import Profile
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import models_by_name
from unshortcut.models.loaded import ModelLike
from unshortcut.progress import bar

LIFT = 0.25
"""How much more often than any paste a patch must take decisions with it, to be searched."""
OF_A_CLASS, IN_ALL = 2, 12
"""Patches that are searched, at most."""
LEARNED_FROM = 120
"""Images of the class of a patch, and of others, that its steady part is learned from, about."""
_OWN, _FEWEST = 0.5, 3
"""Share of its carriers that must be of its class, and their least number: a patch that occurs as
often elsewhere tells nothing of the class, and one that hardly occurs is no cue of the data."""
_SAME = 0.7
"""Two patches whose carriers overlap by more than this are one cue."""
ONLY_SPLIT = "all"
"""The name of the split of data that have none."""


def find_carriers(
    model: ModelLike,
    data: Data,
    *,
    train: Data | None = None,
    profile: Profile = "standard",
    lift: float = LIFT,
    seed: int = 0,
    workers: int | None = None,
    console: Console | None = None,
) -> Carriers:
    """Search the patches that win in the audit's transplant in all images of the data.

    Args:
        model: as in `load_model`.
        data: the images of the audit; all of their splits are searched.
        train: labeled images to fit a probe on, for a model without a head, as in `audit`.
        profile: that of the audit whose patches are searched.
        lift: the least effect of a patch beyond that of any paste, from 0 to 1.
    """
    shown = console or Console(stderr=True)
    subject, found = _transplant(model, data, train, profile, seed, workers, shown)
    chosen = _chosen(found, lift)
    view = subject.model.preprocessing.view
    here = SearchedImages(subject.data, view)
    templates = [_template(one, here) for one in chosen]
    sources = {name: SearchedImages(one, view) for name, one in _sources(data, subject).items()}
    matches: dict[str, list[list[Match] | None]] = {}
    for name, images in sources.items() if templates else ():
        with bar(shown, f"searching {name}", unit="images") as on_progress:
            matches[name] = []
            for index, best in search(images, templates, workers):
                matches[name].append(best)
                on_progress(index + 1, len(images))
    cues: list[Cue] = []
    carriers: list[Carrier] = []
    for number, (patch, template) in enumerate(zip(chosen, templates, strict=True)):
        cue, carried = _located(number, patch, template, sources, matches, subject)
        if not _tells(carried, patch) or any(
            _overlap(carried, carriers, one.name) > _SAME for one in cues
        ):
            continue
        of_class = sum(one.patch.label == patch.label for one in cues) + 1
        name = f"{patch.label}-{of_class}"
        cues.append(replace(cue, name=name))
        carriers += [replace(one, group=name) for one in carried]
    return Carriers(
        tuple(cues),
        tuple(carriers),
        sum(len(one) for one in sources.values()),
        sum(best is None for found in matches.values() for best in found),
        len(found.patches),
    )


def _transplant(
    model: ModelLike,
    data: Data,
    train: Data | None,
    profile: Profile,
    seed: int,
    workers: int | None,
    console: Console,
) -> tuple[Subject, TransplantResult]:
    """The model with its images and classifier, and its transplant, cached as in an audit."""
    request = AuditRequest(
        model, data, train=train, profile=profile, seed=seed, workers=workers, console=console
    )
    ((name, one),) = models_by_name(model).items()
    loaded = load(name, one, request)
    images, inputs = open_images(data, train), open_optional(request)
    factory = SubjectFactory(images, inputs, None, None, settings_of(request), workers, console)
    if factory.needs_fit(loaded):
        factory = replace(factory, images=images.halved(seed))
    subject = factory.make(name, loaded)
    measurement = measurements(["transplant"])["transplant"]
    entry = settled(measurement, subject, inputs) or measure(measurement, subject, inputs, console)
    if entry.status == "not applicable":
        raise UsageError(f"no patch can be searched: {entry.reason}")
    if entry.status != "done":
        raise RunError(f"the transplant failed: {entry.reason}")
    result = entry.result
    assert isinstance(result, TransplantResult)
    return subject, result


def _chosen(found: TransplantResult, lift: float) -> list[Patch]:
    """The patches with the largest lift, a few of each class."""
    chosen: list[Patch] = []
    of_class: Counter[str] = Counter()
    for one in sorted(found.patches, key=lambda one: (-one.follows.lift, -one.drop)):
        if one.follows.lift >= lift and of_class[one.label] < OF_A_CLASS:
            of_class[one.label] += 1
            chosen.append(one)
    return chosen[:IN_ALL]


def _sources(data: Data, subject: Subject) -> dict[str, ImageSource]:
    """Every split of the data."""
    if isinstance(data, ImageSource):
        return {ONLY_SPLIT: data}
    spec = DataSpec.parse(data)
    known = splits(spec.where)
    sized = {
        name: open_data(spec.where, split=name)
        for name in known
        if spec.split in (None, name) or name in ("train", "val", "test")
    }
    same = {name: one for name, one in sized.items() if one.classes == subject.data.classes}
    return same or {ONLY_SPLIT: open_data(data)}


def _template(patch: Patch, images: SearchedImages) -> Template:
    """The steady part of a patch within its class."""
    source = images.source
    assert source.labels is not None and source.classes is not None
    is_own = source.labels == source.classes.index(patch.label)
    own, others = np.flatnonzero(is_own).tolist(), np.flatnonzero(~is_own)
    donor = next(index for index in own if source.identity(index) == patch.image)
    pixels = images.pixels(donor)
    assert pixels is not None  # the audit has read it
    left, top, right, bottom = (round(share * images.side) for share in patch.box)
    whole = Template.of(pixels[top : max(bottom, top + 2), left : max(right, left + 2)])
    seen = [index for index in own[:LEARNED_FROM] if index != donor]
    spread = others[:: max(1, len(others) // LEARNED_FROM)].tolist()
    known, unrelated = (
        [one for one in map(images.pixels, rows) if one is not None] for rows in (seen, spread)
    )
    return learn_template(whole, known, unrelated)


def _located(
    number: int,
    patch: Patch,
    template: Template,
    sources: dict[str, SearchedImages],
    matches: dict[str, list[list[Match] | None]],
    subject: Subject,
) -> tuple[Cue, list[Carrier]]:
    """Where one cue occurs, and what it does to the test images of its class."""
    elsewhere = []
    for split, images in sources.items():
        names = _label_names(images.source)
        elsewhere += [
            best[number].score
            for best, name in zip(matches[split], names, strict=True)
            if best is not None and name != patch.label
        ]
    bound = threshold(np.array(elsewhere))
    carriers: list[Carrier] = []
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for split, images in sources.items():
        for index, (best, name) in enumerate(
            zip(matches[split], _label_names(images.source), strict=True)
        ):
            carries = best is not None and best[number].score >= bound
            carried, total = counts.get((split, name), (0, 0))
            counts[split, name] = carried + carries, total + 1
            if best is not None and carries:
                seen = inside(template, best[number])
                crop = images.framed(index, seen)
                box, image = images.full_box(index, seen), images.source.identity(index)
                carriers.append(Carrier(image, split, name, "", best[number].score, box, crop))
    carriers.sort(key=lambda one: -one.score)
    accuracies = _accuracies(patch.label, carriers, subject)
    return Cue("", patch, template, bound, counts, *accuracies), carriers


def _accuracies(
    label: str, carriers: Sequence[Carrier], subject: Subject
) -> tuple[Estimate, Estimate, Estimate]:
    """On the test images of a class: with the cue, with the cue filled, and those without it."""
    images = subject.labeled()
    own = np.flatnonzero(images.required_labels() == images.classes.index(label))
    boxes = {one.image: (one.box,) for one in carriers}
    carry = np.array([images.identity(int(row)) in boxes for row in own], dtype=bool)

    def accuracy(rows: np.ndarray, filled: bool = False) -> Estimate:
        if not len(rows):
            return UNKNOWN
        chosen = images.take(rows)
        if filled:
            clean = WithoutCue(subject.data, boxes)
            chosen = replace(chosen, source=clean, kept=None)
        right = subject.probabilities(chosen).argmax(axis=1) == chosen.required_labels()
        return Estimate.share(right)

    return accuracy(own[carry]), accuracy(own[carry], filled=True), accuracy(own[~carry])


def _label_names(source: ImageSource) -> list[str]:
    if source.labels is None or source.classes is None:
        return [""] * len(source)
    return [source.classes[label] if label >= 0 else "" for label in source.labels.tolist()]


def _tells(carried: Sequence[Carrier], patch: Patch) -> bool:
    """Whether a patch is a cue: it occurs in several images, and mostly in those of its class."""
    own = sum(one.label == patch.label for one in carried)
    return own >= _FEWEST and own >= _OWN * len(carried)


def _overlap(carried: Sequence[Carrier], known: Sequence[Carrier], name: str) -> float:
    """Share of images in common with a cue that is known, of all that carry one of them."""
    ours = {(one.split, one.image) for one in carried}
    theirs = {(one.split, one.image) for one in known if one.group == name}
    return len(ours & theirs) / len(ours | theirs)
