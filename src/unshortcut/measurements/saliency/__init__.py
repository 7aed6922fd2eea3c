"""Saliency: the regions of an image on which a model bases its decision."""

from collections.abc import Mapping, Sequence

from unshortcut.measurements.measurement import Measurement, Metric
from unshortcut.measurements.saliency.exhibits import saliency_exhibits
from unshortcut.measurements.saliency.layers import SMALLEST
from unshortcut.measurements.saliency.maps import EDGES, LEVEL, SaliencyResult, saliency
from unshortcut.measuring.exhibits import Exhibit
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress


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
    gives = ("saliency_area", "saliency_edge_coverage", "saliency_edge_lift", "saliency_empty")
    result = SaliencyResult

    def measure(self, subject: Subject, on_progress: OnProgress) -> SaliencyResult:
        return saliency(subject, on_progress)

    def metrics(self, result: SaliencyResult, baseline: SaliencyResult | None) -> dict[str, Metric]:
        found = result.coverages
        note = f"{found.num_images} images, maps with {result.side} × {result.side} positions"
        return {
            "saliency_area": Metric.of("Salient area", found.area, note=note),
            "saliency_edge_coverage": Metric.of("Salient edges", found.edges, note=note),
            "saliency_edge_lift": Metric.of(
                "Salient edges divided by salient area",
                found.lift,
                percent=False,
                headline=False,
                note=note,
            ),
            "saliency_empty": Metric(
                "Empty saliency maps",
                result.empty,
                better="lower",
                headline=False,
                note=f"of {len(result.decisions)}",
            ),
        }

    def exhibits(
        self, results: Mapping[str, SaliencyResult], baseline: SaliencyResult | None
    ) -> Sequence[Exhibit]:
        return saliency_exhibits(results)
