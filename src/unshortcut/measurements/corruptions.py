"""Accuracy of a model under the 15 corruptions of ImageNet-C."""

from collections.abc import Mapping, Sequence
from functools import partial

import plotly.graph_objects as go
from timm.data import ImageNetInfo

from unshortcut.imaging.corruptions import GROUPS, SMALLEST
from unshortcut.intervals import wilson
from unshortcut.measurements.measurement import Finding, Measurement, Metric, Metrics
from unshortcut.measuring.corruption_accuracy import (
    CASES,
    COMPARABLE,
    LEVELS,
    NAMES,
    SEVERE,
    Conditions,
    CorruptionsResult,
    corruption_errors,
    corruptions_result,
    mean_corruption_error,
    mean_seen,
    readable,
    reference_errors,
    relative_mean_corruption_error,
)
from unshortcut.measuring.corruption_decisions import (
    MAX_IMAGES,
    case_transform,
    cases_each,
    decide_corrupted,
)
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.exhibits import (
    MODEL,
    Cell,
    Column,
    Exhibit,
    Note,
    Pictures,
    Plot,
    Table,
    picture,
)
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, Curve, bars, curves, plain
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress
from unshortcut.randomness import key_bits

SHOWN = 3
"""Severity of the pictures."""
NOTABLE = 0.05
"""Smallest drop that the verdict mentions."""

Results = Mapping[str, CorruptionsResult]


class Corruptions(Measurement[CorruptionsResult]):
    """Accuracy under each corruption at each severity, and the mCE."""

    name = "corruptions"
    title = "Corruptions"
    question = "How accurate is the model on noisy, blurred, weathered or compressed images?"
    definition = (
        "Accuracy on resized and cropped images, under each of the 15 corruptions of ImageNet-C "
        "(Hendrycks and Dietterich 2019) at severities 1 to 5. For the mCE, the mean error over "
        "the five severities is divided by that of a reference (the published one of AlexNet, or "
        "that of a baseline model) for each corruption, and averaged over the 15; 100 % means as "
        "many errors as the reference. The relative mCE does the same with the error that a "
        "corruption adds to the error on clean images. Corrupted images are read from published "
        "files if they are given, and otherwise made in memory with a fixed seed. The published "
        "images were saved as JPEG files, which can change accuracies by some points; in memory, "
        "snow and frost use generated textures instead of the original ones."
    )
    order = 50
    quick = True
    uses = ("corrupted",)
    gives = (
        "corruption_accuracy",
        "corruption_accuracy_severe",
        *(f"corruption_accuracy_{group}" for group in GROUPS),
        "corruption_drop",
        "mce",
        "mce_13",
        "relative_mce",
    )
    result = CorruptionsResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> CorruptionsResult:
        images, settings, files = subject.labeled(MAX_IMAGES), subject.settings, subject.corrupted
        if files is None and images.view.size < SMALLEST:
            raise NotApplicable(
                f"corruptions need images of at least {SMALLEST} px; the model uses "
                f"{images.view.size} px"
            )
        clean = subject.probabilities(images).argmax(axis=1) == images.required_labels()
        decided = decide_corrupted(subject, images, on_progress)
        corrupted = dict(zip(NAMES, decided, strict=True))
        conditions = Conditions(
            num_images=len(images),
            total=images.total,
            image_set=f"{key_bits(*images.indices.tolist()):032x}",
            size=images.view.size,
            num_classes=len(images.classes),
            imagenet=set(images.classes) == set(ImageNetInfo("imagenet-1k").label_names()),
            severities=settings.severities if files is None else "imagenet",
            published=files is not None,
            cases_each=cases_each(len(images), settings),
        )
        pixels = images.pixels(0)
        shown = [picture(pixels, images.identity(0))]
        for name in NAMES:
            if files is None:
                case = CASES.index((name, SHOWN))
                changed = case_transform(images, settings, case)(pixels, 0)
            else:
                changed = files.of(images.take([0]), name, SHOWN).pixels(0)
            shown.append(picture(changed, readable(name)))
        return corruptions_result(conditions, clean, corrupted, shown, settings.seed)

    def passes(self, subject: Subject) -> Passes:
        images = len(subject.labeled(MAX_IMAGES))
        return Passes(changed=images * cases_each(images, subject.settings), plain=images)

    def metrics(self, result: CorruptionsResult, baseline: CorruptionsResult | None) -> Metrics:
        reference, unlike = "AlexNet", result.conditions.unlike_alexnet
        if baseline is not None:
            reference, unlike = "the baseline", baseline.without_errors()
        fifteen = "; ".join(part for part in (result.conditions.own_textures, unlike) if part)
        severe = f"Accuracy under corruptions of severity {SEVERE} and above"
        accuracies = {
            "corruption_accuracy": ("Accuracy under corruptions", result.corrupted),
            "corruption_accuracy_severe": (severe, result.severe),
        } | {
            f"corruption_accuracy_{group}": (f"Accuracy under {_phrase(group)}", found)
            for group, found in result.groups.items()
        }
        lower = partial(Metric.of, better="lower")
        return {
            name: Metric.of(label, found, better="higher", headline=name == "corruption_accuracy")
            for name, (label, found) in accuracies.items()
        } | {
            "corruption_drop": lower("Accuracy lost under corruptions", result.drop),
            "mce": lower(
                f"mCE relative to {reference}",
                mean_corruption_error(result, baseline, NAMES),
                note=fifteen,
            ),
            "mce_13": lower(
                f"mCE relative to {reference}, without snow and frost",
                mean_corruption_error(result, baseline, COMPARABLE),
                headline=not result.conditions.unlike_alexnet,
                note=unlike,
            ),
            "relative_mce": lower(
                f"Relative mCE with {reference} as the reference",
                relative_mean_corruption_error(result, baseline, NAMES),
                headline=False,
                note=fifteen,
            ),
        }

    def exhibits(self, results: Results, baseline: CorruptionsResult | None) -> list[Exhibit]:
        return [
            *_notes(list(results.values()), baseline),
            _by_severity(results),
            _by_group(results),
            *(_heat_map(name, one) for name, one in results.items() if one.conditions.complete),
            _table(results, baseline),
            _sheet(next(iter(results.values()))),
        ]

    def finding(self, result: CorruptionsResult) -> Finding | None:
        if not result.drop.low >= NOTABLE:
            return None
        worst = min(result.groups, key=lambda group: result.groups[group].value)
        text = (
            f"loses {100 * result.drop.value:.0f} points of accuracy under corruptions, "
            f"most under {_phrase(worst)}"
        )
        chance = 1 / result.conditions.num_classes
        lost = result.drop.value / max(result.clean.value - chance, result.drop.value)
        brief = f"loses accuracy under corruptions, most under {_phrase(worst)}"
        return Finding(text, 0.7 * lost, brief)


def _phrase(group: str) -> str:
    """The name of a group in a sentence."""
    return "digital corruptions" if group == "digital" else group


def _notes(results: Sequence[CorruptionsResult], baseline: CorruptionsResult | None) -> list[Note]:
    first = results[0].conditions
    text = f"{first.num_images} of {first.total} images at {first.size} px, {_origin(first)}. "
    if not first.complete:
        text += (
            f"Each of them is seen under {first.cases_each} of the {len(CASES)} corruptions and "
            "severities, so only means over many of these are reliable."
        )
    else:
        low, high = wilson(first.num_images / 2, first.num_images)
        text += (
            "The accuracy for one corruption at one severity has a margin of error of about "
            f"{50 * (high - low):.0f} points."
        )
    notes = [Note(text)]
    if first.own_textures:
        text = f"{first.own_textures[0].upper()}{first.own_textures[1:]}"
        notes.append(Note(f"{text}; the mCE over the 13 others can."))
    reasons = [reason for one in results if (reason := one.conditions.unlike_alexnet)]
    if baseline is None and reasons:
        notes.append(Note(f"{reasons[0]}. A baseline model is a better reference.", True))
    return notes


def _origin(conditions: Conditions) -> str:
    if conditions.published:
        return "whose corrupted versions were read from the published files"
    severities = "ImageNet-C" if conditions.severities == "imagenet" else "CIFAR-10-C"
    return f"corrupted in memory with the severities of {severities}"


def _by_severity(results: Results) -> Plot:
    lines = {
        name: Curve.of([0, *LEVELS], [result.clean, *result.by_severity])
        for name, result in results.items()
    }
    return Plot(
        "Accuracy by severity",
        curves(lines, "severity (0: clean)", "accuracy"),
        "Means over the 15 corruptions, with 95 % intervals.",
    )


def _by_group(results: Results) -> Plot:
    series = {
        name: Bars.of([result.clean, *result.groups.values()]) for name, result in results.items()
    }
    return Plot(
        "Accuracy by group",
        bars(["clean", *GROUPS], series, "accuracy"),
        "Means over the corruptions of a group and the five severities, with 95 % intervals.",
    )


def _heat_map(name: str, result: CorruptionsResult) -> Plot:
    figure = go.Figure(
        go.Heatmap(
            x=[str(level) for level in LEVELS],
            y=[readable(corruption) for corruption in NAMES],
            z=[list(result.accuracy[corruption]) for corruption in NAMES],
            zmin=0,
            zmax=1,
            colorscale="Viridis",
            colorbar={"tickformat": ".0%"},
            hovertemplate="%{y}, severity %{x}: %{z:.1%}<extra></extra>",
        )
    )
    figure.update_layout(xaxis_title="severity")
    figure.update_xaxes(type="category")
    figure.update_yaxes(autorange="reversed", automargin=True)
    return Plot(f"Accuracy under each corruption: {name}", plain(figure), height=460)


def _table(results: Results, baseline: CorruptionsResult | None) -> Table:
    reference = reference_errors(baseline, NAMES)
    groups = {name: group for group, names in GROUPS.items() for name in names}
    whose = "AlexNet's" if baseline is None else "the baseline's"
    columns = (
        Column("Corruption"),
        Column("Group"),
        MODEL,
        Column("Accuracy", percent=True, tip="mean over the five severities"),
        Column("CE", percent=True, tip=f"error divided by {whose}"),
    )
    errors = {model: mean_seen(one.errors(NAMES)) for model, one in results.items()}
    ratios = {model: corruption_errors(one, reference) for model, one in errors.items()}
    rows: list[list[Cell]] = [
        [readable(name), groups[name], model, one.mean_accuracy(name), float(ratios[model][at])]
        for at, name in enumerate(NAMES)
        for model, one in results.items()
    ]
    caption = f"Accuracy is the mean over the five severities, CE the error divided by {whose}."
    return Table("Accuracy by corruption", columns, rows, caption, folded=len(results) > 1)


def _sheet(result: CorruptionsResult) -> Pictures:
    clean, *corrupted = result.pictures
    by_name = dict(zip(NAMES, corrupted, strict=True))
    rows = [(group, tuple(by_name[name] for name in names)) for group, names in GROUPS.items()]
    title = f"One image under the corruptions at severity {SHOWN}"
    return Pictures(title, (("clean", (clean,)), *rows))
