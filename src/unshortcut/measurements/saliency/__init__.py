"""Saliency: the regions of an image on which a model bases its decision."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from itertools import zip_longest

from unshortcut.measurements.measurement import Measurement, Metric, Metrics
from unshortcut.measurements.saliency.gradcam import SMALLEST
from unshortcut.measurements.saliency.maps import (
    EDGES,
    LEVEL,
    MAX_IMAGES,
    TRIED,
    Coverages,
    SaliencyResult,
    coverages,
    saliency,
)
from unshortcut.measuring.exhibits import (
    MODEL,
    Column,
    Exhibit,
    Note,
    Pictures,
    Plot,
    Table,
    rows_each,
)
from unshortcut.measuring.glance import GlancePart, TellingPicture
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.plots import Bars, bars
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress

MAX_ROWS = 12
"""Limit on the images shown, taken evenly from all cases."""
MANY_EMPTY = 0.1
"""Share of empty maps that gives a warning."""

Results = Mapping[str, SaliencyResult]


class Saliency(Measurement[SaliencyResult]):
    """Grad-CAM maps, and the share of area and edges that they cover.

    There is no finding, since the size of a map depends on the architecture as much as on the
    weights.
    """

    name = "saliency"
    title = "Saliency"
    question = "Does the model look at the whole object or at a small part?"
    definition = (
        "Grad-CAM (Selvaraju et al. 2017, by the package grad-cam) for the predicted class, right "
        "or wrong: the feature maps of a layer are weighted by the mean gradient of the class's "
        "score, and negative values are dropped. The layer is the last one whose maps have at "
        f"least {SMALLEST} × {SMALLEST} positions; for transformers, the last layer norm where all "
        "positions influence the decision. Area is the share of the image where the map has at "
        f"least {percent(LEVEL)} of its maximum. Edges are the {percent(EDGES)} of the pixels with "
        "the largest change of brightness, and edge coverage is the share of them within that "
        "area; divided by the area it is 1 for a map that ignores edges. The maps of models that "
        "recognize shape cover a larger area and include the outlines of objects (the dissertation "
        "on suppressing texture, figures 2.9 to 2.17, by visual inspection). Intervals are 95 %, "
        "by a bootstrap over images. Areas are comparable only between maps of the same size."
    )
    order = 40
    version = 2
    gives = ("saliency_area", "saliency_edge_coverage", "saliency_edge_lift", "saliency_empty")
    result = SaliencyResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> SaliencyResult:
        return saliency(subject, on_progress)

    def passes(self, subject: Subject) -> Passes:
        images = len(subject.labeled(MAX_IMAGES))
        return Passes(plain=images, with_gradient=images + min(images, TRIED))

    def metrics(self, result: SaliencyResult, baseline: SaliencyResult | None) -> Metrics:
        found = result.coverages
        note = f"{found.num_images} images, maps with {result.side} × {result.side} positions"
        lift = "Salient edges divided by salient area"
        return {
            "saliency_area": Metric.of("Salient area", found.area, note=note),
            "saliency_edge_coverage": Metric.of("Salient edges", found.edges, note=note),
            "saliency_edge_lift": Metric.of(
                lift, found.lift, percent=False, headline=False, note=note
            ),
            "saliency_empty": Metric(
                "Empty saliency maps",
                result.empty,
                better="lower",
                headline=False,
                note=f"of {len(result.decisions)}",
            ),
        }

    def exhibits(self, results: Results, baseline: SaliencyResult | None) -> list[Exhibit]:
        cases = _cases(results)
        found = {
            case: {
                name: coverages([one for one in result.decisions if one.index in indices])
                for name, result in results.items()
            }
            for case, indices in cases.items()
            if indices
        }
        shown: list[Exhibit] = [*_pictures(results, cases), _summary(results)]
        if found:
            series = {name: Bars.of([by[name].area for by in found.values()]) for name in results}
            figure = bars(list(found), series, "salient area")
            shown.append(Plot("Salient area by who is right", figure, "With 95 % intervals."))
            shown.append(_by_case(found))
        return shown + _notes(results)

    def glance(self, results: Results) -> list[GlancePart]:
        errors = {name: one.error for name, one in results.items() if one.error is not None}
        return [
            TellingPicture(
                "looked at in an error",
                {name: one.map for name, one in errors.items()},
                "no error to show",
            )
        ]


def _cases(results: Results) -> dict[str, list[int]]:
    """Indices of the images that all models saw, by which models are right.

    As in figures 2.14 to 2.17 of the dissertation on suppressing texture.
    """
    right = [{one.index: one.right for one in result.decisions} for result in results.values()]
    cases: dict[tuple[bool, ...], str] = {(True,): "right", (False,): "wrong"}
    if len(results) == 2:
        first, second = results
        cases = {(True, True): "both right", (True, False): f"only {first} right"}
        cases |= {(False, True): f"only {second} right", (False, False): "both wrong"}
    elif len(results) > 2:
        cases = {(True,): "all right", (True, False): "some right", (False,): "all wrong"}
    found: dict[str, list[int]] = {case: [] for case in cases.values()}
    for index in right[0]:
        if all(index in known for known in right):
            flags = tuple(known[index] for known in right)
            if len(results) > 2:
                flags = tuple(sorted(set(flags), reverse=True))
            found[cases[flags]].append(index)
    return found


def _pictures(results: Results, cases: Mapping[str, Sequence[int]]) -> list[Pictures]:
    shown = [{one.index: one for one in result.shown} for result in results.values()]
    truth = {one.index: one.truth for result in results.values() for one in result.decisions}
    known = {
        case: [index for index in indices if all(index in one for one in shown)]
        for case, indices in cases.items()
    }
    rounds = zip_longest(*known.values())
    chosen = [index for one in rounds for index in one if index is not None][
        : rows_each(MAX_ROWS, len(results))
    ]
    rows = tuple(
        (f"{case}: {truth[index]}", (shown[0][index].plain, *(one[index].map for one in shown)))
        for case, indices in known.items()
        for index in indices
        if index in chosen
    )
    title = "Where the models look" if len(results) > 1 else "Where the model looks"
    caption = (
        "Warm colors mark the evidence for the predicted class, which the caption names. The frame "
        "shows whether it is correct."
    )
    return [Pictures(title, rows, ("image", *results), caption)] if rows else []


def _summary(results: Results) -> Table:
    columns = (
        MODEL,
        Column("Layer", tip="layer of the model that gives the maps"),
        Column("Map size", tip="size of the map before it is enlarged"),
        Column("Images"),
        Column("Empty maps", percent=True, tip="maps without any evidence for the decision"),
    )
    rows = [
        (name, one.layer, f"{one.side} × {one.side}", len(one.decisions), one.empty)
        for name, one in results.items()
    ]
    return Table("Maps", columns, rows)


def _by_case(found: Mapping[str, Mapping[str, Coverages]]) -> Table:
    columns = (
        Column("Case"),
        MODEL,
        Column("Images", tip="images whose map is not empty"),
        *Column.estimate("Area", percent=True, tip="salient share of the image"),
        *Column.estimate("Edges", percent=True, tip="salient share of the edges"),
        *Column.estimate("Edges / area", digits=2, tip="1 for a map that ignores edges"),
    )
    rows = [
        (case, name, one.num_images, *astuple(one.area), *astuple(one.edges), *astuple(one.lift))
        for case, by in found.items()
        for name, one in by.items()
    ]
    return Table("Coverage by who is right", columns, rows, folded=True)


def _notes(results: Results) -> list[Exhibit]:
    notes: list[Exhibit] = []
    for name, result in results.items():
        count = f"{len(result.decisions)} of {result.total} images"
        notes.append(Note(f"{name}: {count}; maps explain the {result.explained}."))
        if result.empty >= MANY_EMPTY:
            text = (
                f"{name}: {percent(result.empty)} of its maps are empty and not counted. Grad-CAM "
                "keeps only evidence for a class, and the layer has none for these images."
            )
            notes.append(Note(text, warning=True))
    if len({result.side for result in results.values()}) > 1:
        text = (
            "The maps of these models have different sizes before they are enlarged. A coarser map "
            "covers more area for that reason alone, so their areas are not comparable."
        )
        notes.append(Note(text, warning=True))
    return notes
