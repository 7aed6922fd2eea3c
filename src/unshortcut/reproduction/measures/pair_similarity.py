"""Similarity of an image to its positive, its patch tiles, its texture and another image."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure

if TYPE_CHECKING:
    from unshortcut.reproduction.evaluation import Evaluation


@dataclass(frozen=True)
class SimilarityMeasure(Measure):
    """Mean cosine similarities over pairs of training images (NSN, section 2.4).

    Metrics: `positive`, `negative`, `patch` and `texture_image` for the embedding that the loss is
    computed on, and the same names after `features_` for the output of the encoder.
    """

    name: ClassVar[str] = "similarity"
    version: ClassVar[int] = 2

    images: int = 512
    seed: int = 0

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        return {"data": evaluation.train.fingerprint(), "images": self.images, "seed": self.seed}

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        from unshortcut.measuring.similarities import similarity
        from unshortcut.models.load import load_model
        from unshortcut.training.folder import RunFolder
        from unshortcut.training.projection import load_projection

        found = similarity(
            {"": load_projection(run), "features_": load_model(run)},
            evaluation.train,
            space="features",
            num_images=self.images,
            seed=self.seed,
            views=RunFolder(run).last_phase.recipe,
            console=evaluation.console,
        )
        return {
            f"{space}{'texture_image' if kind == 'texture' else kind}": mean
            for space, kinds in found.means().items()
            for kind, mean in kinds.items()
        }
