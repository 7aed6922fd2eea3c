"""Saliency: where in an image a model finds what it decides by."""

from collections.abc import Mapping, Sequence

from unshortcut.measurements.measurement import Measurement, Metric
from unshortcut.measurements.saliency.coverage import EDGES, LEVEL
from unshortcut.measurements.saliency.exhibits import saliency_exhibits
from unshortcut.measurements.saliency.layers import SMALLEST
from unshortcut.measurements.saliency.maps import SaliencyResult, saliency
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress


class Saliency(Measurement[SaliencyResult]):
    """Grad-CAM, and the share of area and edges that it covers.

    It gives no finding: how large a map is hangs on the architecture as much as on the model.
    """

    name = "saliency"
    title = "Saliency"
    question = "Where does it look: at the whole object, or at a small part?"
    definition = (
        "Grad-CAM (Selvaraju et al. 2017, by the package grad-cam) of the class that is decided "
        "for, right or wrong: a layer's maps are weighted by the mean gradient of the class's "
        "score, and what is negative is dropped. The layer is the last whose maps have at least "
        f"{SMALLEST} × {SMALLEST} places; of a network of tokens the last layer norm that the "
        f"decision depends on at all places. Area is the share of the image where the map has at "
        f"least {percent(LEVEL)} of its maximum. Edges are the {percent(EDGES)} of the "
        "pixels where brightness changes most, and their coverage is the share of them inside "
        "that area; divided by the area it is 1 for a map that does not care for edges. Maps of "
        "models that go by shape spread over a bigger area and include the outlines of objects "
        "(the dissertation on suppressing texture, metrics 2.9 to 2.17, by eye). Intervals are by "
        "the bootstrap over images, 95 %. Areas compare only between maps of the same size."
    )
    place = 40
    gives = (
        "saliency_area",
        "saliency_edge_coverage",
        "saliency_edge_lift",
        "saliency_empty",
    )
    result = SaliencyResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> SaliencyResult:
        return saliency(subject, on_progress)

    def metrics(self, result: SaliencyResult, baseline: SaliencyResult | None) -> dict[str, Metric]:
        metrics = result.coverages
        note = f"{metrics.images} images, maps of {result.side} × {result.side} places"
        return {
            "saliency_area": Metric.of("Area that is salient", metrics.area, note=note),
            "saliency_edge_coverage": Metric.of("Edges that are salient", metrics.edges, note=note),
            "saliency_edge_lift": Metric.of(
                "Salient edges over salient area",
                metrics.lift,
                percent=False,
                headline=False,
                note=note,
            ),
            "saliency_empty": Metric(
                "Saliency maps that are empty",
                result.empty,
                better="lower",
                headline=False,
                note=f"of {len(result.looked)}",
            ),
        }

    def exhibits(
        self, results: Mapping[str, SaliencyResult], baseline: SaliencyResult | None
    ) -> Sequence[Exhibit]:
        return saliency_exhibits(results)
