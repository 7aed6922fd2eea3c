"""Coarse against fine: whether a model's errors stay among classes that are alike."""

from collections.abc import Mapping, Sequence

from unshortcut.measurements.coarse.accuracy import CoarseResult, choices, coarse_accuracy
from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import MODEL, Cell, Column, Exhibit, Note, Plot, Table
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent, some
from unshortcut.progress import OnProgress

FEW = 20
"""Errors below which nothing is said of them in the verdict."""
NOTABLE = 0.15
"""StepOutput of accuracy from coarse to fine that is worth a word."""


class Coarse(Measurement[CoarseResult]):
    """Accuracy of coarse and of fine decisions under a hierarchy of classes."""

    name = "coarse"
    title = "Coarse against fine"
    question = "When it errs, does it at least get the kind of thing right?"
    definition = (
        "The hierarchy gives each fine class a coarse one. Fine accuracy is the share of images "
        "whose class is decided for. Coarse accuracy is the share for which the class decided for "
        "has the coarse class of the label: the fine decision is made first, and then mapped (Ge "
        "et al. 2021, figure 6 d). Beside it, the coarse decision by summed probability takes the "
        "coarse class whose fine classes have the largest probability together. Decisions are "
        "among the data's classes and those other classes of the hierarchy that the model can "
        "name. Errors inside the coarse class are the share of wrong fine decisions with the right "
        "coarse class; by chance means if every wrong class were as likely. Shape tells coarse "
        "classes apart, and texture often the fine ones."
    )
    place = 100
    needs = ("hierarchy",)
    gives = ("coarse_accuracy", "fine_accuracy", "coarse_accuracy_summed", "errors_within_coarse")
    result = CoarseResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> CoarseResult:
        """From the plain images of the data, which other measurements look at as well."""
        assert subject.hierarchy is not None
        chosen = choices(subject.decisions, subject.classes, subject.hierarchy)
        kinds = dict(zip(chosen.selection.names, chosen.coarse, strict=True))
        missing = tuple(name for name in subject.classes if kinds[name] is None)
        if len(missing) == len(subject.classes):
            raise NotApplicable(
                "the hierarchy has none of the data's classes "
                f"(it has {some(list(subject.hierarchy))}; the data have {some(missing)})"
            )
        named = {kind for kind in chosen.coarse if kind is not None}
        if len(named) == 1 and None not in chosen.coarse:
            raise NotApplicable(
                f"all classes that can be decided for are of the coarse class '{named.pop()}', so "
                "every decision is right; a hierarchy that has other classes of the model helps"
            )
        images = subject.labeled()
        labels = images.required_labels()
        counted = [row for row, at in enumerate(labels) if images.classes[at] not in missing]
        images = images.take(counted)
        native = subject.outputs(images, on_progress=on_progress).native
        assert native is not None
        # The data's classes come first among the choices, so labels count in both.
        return coarse_accuracy(
            chosen.selection.probabilities(native),
            images.required_labels(),
            chosen.coarse,
            missing=missing,
        )

    def metrics(self, result: CoarseResult, baseline: CoarseResult | None) -> dict[str, Metric]:
        """Coarse accuracy and the errors inside lead."""
        fine, coarse, summed, within = _estimates(result)
        n = f"{result.images} images"
        return {
            "coarse_accuracy": Metric.of("Coarse accuracy", coarse, better="higher", note=n),
            "fine_accuracy": Metric.of(
                "Fine accuracy",
                fine,
                better="higher",
                headline=False,
                note=f"{n}, among {result.choices} classes",
            ),
            "coarse_accuracy_summed": Metric.of(
                "Coarse accuracy by summed probability",
                summed,
                better="higher",
                headline=False,
                note=n,
            ),
            "errors_within_coarse": Metric.of(
                "Errors inside the coarse class",
                within,
                note=f"of {result.errors} errors; {percent(result.within_by_chance)} by chance"
                if result.errors
                else "no errors",
            ),
        }

    def exhibits(
        self, results: Mapping[str, CoarseResult], baseline: CoarseResult | None
    ) -> Sequence[Exhibit]:
        """The accuracies as bars and numbers, each coarse class, and what was left out."""
        series = {name: Bars.of(_estimates(result)[:3]) for name, result in results.items()}
        groups = ("fine", "coarse", "coarse, summed")
        return [
            Plot(
                "Accuracy on fine and coarse classes",
                bars(groups, series, "accuracy"),
                "Coarse is by the fine decision; summed, by the probability of all fine classes of "
                "a kind. The bars end in 95 % intervals.",
            ),
            _summary(results),
            _by_class(results),
            *_notes(results),
        ]

    def finding(self, result: CoarseResult) -> Finding | None:
        """Errors that chance would place as well, or a class less known than its kind."""
        if result.errors < FEW:
            return None
        fine, coarse, _, within = _estimates(result)
        if within.low <= result.within_by_chance:
            return Finding(
                f"errs across kinds: {percent(within.value)} of its errors stay inside the coarse "
                f"class ({percent(result.within_by_chance)} by chance)",
                0.4,
            )
        if coarse.value - fine.value >= NOTABLE:
            return Finding(
                f"knows the kind better than the class ({percent(coarse.value)} against "
                f"{percent(fine.value)})",
                0.2,
            )
        return None


def _estimates(result: CoarseResult) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    """Fine, coarse, coarse by summed probability, and errors inside."""
    return (
        Estimate.counted(result.fine_right, result.images),
        Estimate.counted(result.coarse_right, result.images),
        Estimate.counted(result.summed_right, result.images),
        Estimate.counted(result.errors_within, result.errors),
    )


def _summary(results: Mapping[str, CoarseResult]) -> Table:
    columns = (
        MODEL,
        Column("Fine accuracy", percent=True),
        Column("Coarse accuracy", percent=True, tip="by the coarse class of the fine decision"),
        Column("Coarse, summed", percent=True, tip="by the summed probability of fine classes"),
        Column("Errors inside", percent=True, tip="share of the errors that stay inside"),
        Column("By chance", percent=True, tip="errors inside if every wrong class were as likely"),
        Column("Errors"),
        Column("Images"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        metrics = (one.value for one in _estimates(result))
        rows.append((name, *metrics, result.within_by_chance, result.errors, result.images))
    return Table("Fine and coarse accuracy", columns, tuple(rows))


def _by_class(results: Mapping[str, CoarseResult]) -> Table:
    columns = (
        Column("Coarse class"),
        MODEL,
        Column("Fine classes", tip="that can be decided for"),
        Column("Fine accuracy", percent=True),
        Column("Coarse accuracy", percent=True),
        Column("Errors inside", percent=True, tip="share of the errors that stay inside"),
        Column("Images"),
    )
    rows = tuple(
        (
            one.name,
            name,
            one.classes,
            one.fine_right / one.images,
            one.coarse_right / one.images,
            Estimate.counted(one.coarse_right - one.fine_right, one.images - one.fine_right).value,
            one.images,
        )
        for name, result in results.items()
        for one in result.groups
    )
    return Table("Each coarse class", columns, rows, folded=len(rows) > 12)


def _notes(results: Mapping[str, CoarseResult]) -> list[Note]:
    notes = []
    for missing, names in _by_missing(results).items():
        if missing:
            notes.append(
                Note(
                    f"The hierarchy lacks {len(missing)} of the data's classes: "
                    f"{some(missing, 20)}. Their images are not counted; a decision for one of "
                    f"them is an error outside every coarse class ({', '.join(names)}).",
                    warning=True,
                )
            )
    return notes


def _by_missing(results: Mapping[str, CoarseResult]) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for name, result in results.items():
        found.setdefault(result.missing, []).append(name)
    return found
