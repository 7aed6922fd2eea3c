"""How alike a model finds an image and its positives and negatives (NSN, metrics 2, 3, 12, 13).

Four kinds of pairs, each a query view and: another view of the same image (positive), the query
of another image (negative), the image's texture with the query's augmentations (texture), the
query's own patches tiled anew (patch). A model that reads shape finds the last two as unlike as
the second; MoCo-v2 does not: 0.94, 0.00, 0.35 and 0.30 on average (NSN, section 2.4).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError, unknown
from unshortcut.measuring.pairs import KINDS, Cosines, Sampling, compare, pair_transforms
from unshortcut.measuring.similarity_plot import draw_histograms
from unshortcut.measuring.subjects.models import by_name
from unshortcut.models.load import LoadedModel, ModelLike, load_model
from unshortcut.progress import OnProgress, bar
from unshortcut.recipes.load import AnyRecipe, load_recipe
from unshortcut.recipes.schema import ViewSettings
from unshortcut.result import public_name
from unshortcut.training.folder import RunFolder, is_run
from unshortcut.training.projection import load_projection
from unshortcut.views.plan import ViewPlan

Space = Literal["features", "embedding"]
"""The encoder's output; or that of encoder and head, where the loss works (runs only)."""

EDGES = np.linspace(-1, 1, 51)
"""Of the histograms' bins."""
MOCO_V2 = "moco-v2-imagenet"
"""The recipe whose augmentations make the views where nothing else is asked for."""
AS_TRAINED = "as trained"
_TITLES = {
    "positive": "positive",
    "negative": "standard negative",
    "texture": "texture-based negative",
    "patch": "patch-based negative",
}


def pair_similarities(
    model: LoadedModel,
    source: ImageSource,
    *,
    count: int = 512,
    seed: int = 0,
    pairs: Sequence[str] = KINDS,
    augmentations: Sequence[Augmentation] | None = None,
    patch: tuple[int, int] | None = None,
    batch_size: int = 64,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Cosines:
    """Cosines of `count` random images' query views to their partners, by kind of pair.

    Args:
        pairs: the kinds to measure, of `KINDS`; texture images take the longest to make.
        augmentations: of the views, to the model's input size; by default those of MoCo-v2.
        patch: range of the patches' side in pixels; by default the papers' share of the view's
            side, 16 to 72 of 224.

    The images and their views depend on `seed` alone, not on `batch_size` or `threads`.
    """
    if augmentations is None:
        augmentations = views_at(load_recipe(MOCO_V2).views, model.preprocessing.size).augmentations
    plan = ViewPlan(pair_transforms(pairs, patch), augmentations)
    sampling = Sampling(source, count, seed, batch_size, threads)
    return compare([model], pairs, sampling.batches(plan, on_progress))[0]


@dataclass(frozen=True)
class Distribution:
    """Cosines of one kind of pair, summed up."""

    mean: float
    std: float
    n: int
    histogram: tuple[int, ...]
    """Pairs in each bin of `EDGES`."""

    @classmethod
    def of(cls, cosines: NDArray[np.float64]) -> "Distribution":
        counts, _ = np.histogram(cosines, EDGES)
        mean, std = float(cosines.mean()), float(cosines.std())
        return cls(mean, std, len(cosines), tuple(counts.tolist()))


@dataclass(frozen=True)
class SimilarityResult:
    """Similarities of several models, all of the same images and draws."""

    space: Space
    views: str
    """Whose augmentations made the views: a recipe's name, or `as trained`."""
    models: dict[str, dict[str, Distribution]]
    """By model and kind of pair."""

    def means(self) -> dict[str, dict[str, float]]:
        """By model and kind of pair."""
        return {
            model: {kind: one.mean for kind, one in kinds.items()}
            for model, kinds in self.models.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {**asdict(self), "bin_edges": [round(float(edge), 6) for edge in EDGES]}

    def plot(self, path: str | Path) -> None:
        """A PNG: a panel for each kind of pair, all models overlaid, their means in the legend."""
        panels = {
            _TITLES[kind]: {model: kinds[kind] for model, kinds in self.models.items()}
            for kind in KINDS
            if all(kind in kinds for kinds in self.models.values())
        }
        draw_histograms(path, f"Cosine similarity to the query, {self.space} space", panels, EDGES)


def similarity(
    models: Sequence[ModelLike] | Mapping[str, ModelLike],
    data: str | Path | ImageSource,
    *,
    space: Space | None = None,
    images: int = 512,
    seed: int = 0,
    pairs: Sequence[str] = KINDS,
    views: AnyRecipe | None = None,
    size: int | None = None,
    mean: tuple[float, float, float] | None = None,
    std: tuple[float, float, float] | None = None,
    threads: int | None = None,
    console: Console | None = None,
) -> SimilarityResult:
    """Similarities that models find in the pairs, for all of them of the same images and draws.

    Args:
        models: specs as in `load_model`, or loaded models, whose `features` are taken as they
            are; a mapping gives them names.
        space: `embedding`, the default where all models are runs, or `features`.
        images: how many images, drawn at random.
        pairs: the kinds of pairs, of `KINDS`; texture images take the longest to make.
        views: the recipe whose augmentations make the views; by default that of the runs, where
            all models are runs and have the same, else MoCo-v2's.
        size, mean, std: the preprocessing of models that are no runs, where no card states it.
    """
    named = dict(models) if isinstance(models, Mapping) else by_name(models)
    if not named:
        raise UsageError("similarity needs at least one model")
    runs = [spec for spec in named.values() if not isinstance(spec, LoadedModel) and is_run(spec)]
    if len(runs) < len(named):
        runs = []
    chosen = space or ("embedding" if runs else "features")
    if chosen not in get_args(Space):
        raise unknown("space", chosen, get_args(Space))

    def load(spec: ModelLike) -> LoadedModel:
        if isinstance(spec, LoadedModel):
            return spec
        if chosen == "embedding":
            return load_projection(spec)
        return load_model(spec) if is_run(spec) else load_model(spec, size=size, mean=mean, std=std)

    transforms = pair_transforms(pairs)
    whose, settings = _choose_views(views, runs)
    loaded = {name: load(spec) for name, spec in named.items()}
    sampling = Sampling(open_data(data), images, seed, threads=threads)
    console = console or Console(stderr=True)
    found: dict[str, Cosines] = {}
    for side in sorted({model.preprocessing.size for model in loaded.values()}):
        alike = {name: one for name, one in loaded.items() if one.preprocessing.size == side}
        sized = views_at(settings, side)
        # A method may have more views than are made here, with augmentations of their own.
        overrides = {name: sized.overrides[name] for name in transforms if name in sized.overrides}
        plan = ViewPlan(transforms, sized.augmentations, overrides)
        with bar(console, f"pairs at {side} px", unit="images") as on_progress:
            cosines = compare(list(alike.values()), pairs, sampling.batches(plan, on_progress))
        found |= dict(zip(alike, cosines, strict=True))
    distributions = {
        name: {kind: Distribution.of(values) for kind, values in found[name].items()}
        for name in loaded
    }
    return SimilarityResult(chosen, whose, distributions)


def views_at(views: ViewSettings, size: int) -> ViewSettings:
    """A recipe's views at another size."""

    def resized(value: Any) -> Any:
        if isinstance(value, list):
            return [resized(entry) for entry in value]
        if isinstance(value, dict):
            return {
                key: size if key == "size" and entry == views.size else resized(entry)
                for key, entry in value.items()
            }
        return value

    return ViewSettings.model_validate(resized(views.model_dump(mode="json")))


def _choose_views(recipe: AnyRecipe | None, runs: Sequence[ModelLike]) -> tuple[str, ViewSettings]:
    """Whose views are made, and how."""
    if recipe is not None:
        named = isinstance(recipe, str | Path)
        return public_name(str(recipe)) if named else "a recipe's", load_recipe(recipe).views
    trained = [load_recipe(RunFolder(Path(str(run))).recipe).views for run in runs]
    if trained and all(_pipelines(one) == _pipelines(trained[0]) for one in trained):
        return AS_TRAINED, trained[0]
    return MOCO_V2, load_recipe(MOCO_V2).views


def _pipelines(views: ViewSettings) -> tuple[Any, Any]:
    """What runs of different input sizes may have in common."""
    sized = views_at(views, 224)
    return sized.augmentations, sized.overrides
