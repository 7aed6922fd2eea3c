"""`unshortcut.similarity`: how similar models find an image, its positives and its negatives.

A view of an image (the query) is compared with four others: another view of the same image
(positive), a view of another image (negative), the image's texture with the query's augmentations
(texture), and the query's own patches, tiled in a new arrangement (patch). A model that recognizes
shape finds the last two as dissimilar as the second. MoCo-v2 does not: its mean cosines are 0.94,
0.00, 0.35 and 0.30 (Ge et al. 2021, section 2.4 and figures 2, 3, 12 and 13).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from rich.console import Console

from unshortcut.augmentations.augmentation import Augmentation
from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError, unknown
from unshortcut.measuring.pair_distributions import EDGES, Distribution, cosine_histograms
from unshortcut.measuring.pairs import KINDS, Cosines, Sampling, compare, pair_transforms
from unshortcut.measuring.plots import write_html
from unshortcut.models.load import LoadedModel, ModelLike, load_model, models_by_name
from unshortcut.progress import OnProgress, bar
from unshortcut.recipes.views import ViewSettings, read_views
from unshortcut.result import public_name
from unshortcut.training.folder import RunFolder, is_run
from unshortcut.views.plan import ViewPlan

if TYPE_CHECKING:  # imports Lightning, which an audit does not need
    from unshortcut.recipes.load import AnyRecipe

Space = Literal["features", "embedding"]
"""The output of the encoder, or that of encoder and projection head."""

MOCO_V2 = "moco-v2-imagenet"
"""The recipe whose augmentations make the views by default."""


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
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> Cosines:
    """Cosines between views of `count` random images and their partners, by kind of pair.

    Args:
        pairs: the kinds to measure, from `KINDS`; texture images take the longest to make.
        augmentations: augmentations that make the views at the model's input size; by default
            those of MoCo-v2.
        patch: range of the side of the patches in pixels; by default the paper's share of the
            side of the view, 16 to 72 of 224.

    The images and their views depend on `seed` alone, not on `batch_size` or `workers`.
    """
    if augmentations is None:
        augmentations = views_at(read_views(MOCO_V2), model.preprocessing.size).augmentations
    plan = ViewPlan(pair_transforms(pairs, patch), augmentations)
    sampling = Sampling(source, count, seed, batch_size, workers)
    return compare([model], pairs, sampling.batches(plan, on_progress))[0]


@dataclass(frozen=True)
class SimilarityResult:
    """The similarities of several models, measured on the same images and views."""

    space: Space
    views: str
    """The recipe whose augmentations made the views, or `as trained`."""
    models: dict[str, dict[str, Distribution]]  # by model and kind of pair

    def means(self) -> dict[str, dict[str, float]]:
        """The mean cosine by model and kind of pair."""
        return {name: {kind: own[kind].mean for kind in own} for name, own in self.models.items()}

    def to_dict(self) -> dict[str, Any]:
        """The whole result as plain values, for JSON."""
        return {**asdict(self), "bin_edges": [round(float(edge), 6) for edge in EDGES]}

    def plot(self, path: str | Path) -> None:
        """Write the histograms of all models as a self-contained HTML page."""
        title = f"Cosine similarity to a view of an image, {self.space} space"
        write_html(path, cosine_histograms(self.models), self.models, title)


def similarity(
    models: Sequence[ModelLike] | Mapping[str, ModelLike],
    data: str | Path | ImageSource,
    *,
    space: Space | None = None,
    num_images: int = 512,
    seed: int = 0,
    pairs: Sequence[str] = KINDS,
    views: "AnyRecipe | None" = None,
    size: int | None = None,
    mean: tuple[float, float, float] | None = None,
    std: tuple[float, float, float] | None = None,
    workers: int | None = None,
    console: Console | None = None,
) -> SimilarityResult:
    """Compare how similar models find the pairs, on the same images and views for all of them.

    Args:
        models: specs as in `load_model`, or loaded models, whose `features` are used as they are;
            a mapping gives them names.
        space: `embedding`, the default if all models are runs, or `features`. Published weights
            that include a projection head have an embedding, too.
        num_images: number of images, chosen at random.
        pairs: the kinds of pairs, from `KINDS`; texture images take the longest to make.
        views: the recipe whose augmentations make the views; by default the one of the runs if all
            models are runs that share their augmentations, otherwise MoCo-v2's.
        size, mean, std: preprocessing, instead of what each model states.
    """
    named: dict[str, ModelLike] = models_by_name(models)
    if not named:
        raise UsageError("similarity needs at least one model")
    runs = [spec for spec in named.values() if not isinstance(spec, LoadedModel) and is_run(spec)]
    if len(runs) < len(named):
        runs = []
    chosen = space or ("embedding" if runs else "features")
    if chosen not in get_args(Space):
        raise unknown("space", chosen, get_args(Space))

    options: dict[str, Any] = {"size": size, "mean": mean, "std": std}
    given = {key: value for key, value in options.items() if value is not None}

    def load(spec: ModelLike) -> LoadedModel:
        if isinstance(spec, LoadedModel):
            return spec
        if chosen == "embedding":
            from unshortcut.training.projection import load_projection  # imports Lightning

            return load_projection(spec, **given)
        return load_model(spec) if is_run(spec) else load_model(spec, **given)

    transforms = pair_transforms(pairs)
    recipe_name, settings = _choose_views(views, runs)
    loaded = {name: load(spec) for name, spec in named.items()}
    sampling = Sampling(open_data(data), num_images, seed, workers=workers)
    console = console or Console(stderr=True)
    cosines: dict[str, Cosines] = {}
    for side in sorted({model.preprocessing.size for model in loaded.values()}):
        same_size = {name: one for name, one in loaded.items() if one.preprocessing.size == side}
        sized = views_at(settings, side)
        # A method may have more views than are made here, with augmentations of their own.
        overrides = {name: sized.overrides[name] for name in transforms if name in sized.overrides}
        plan = ViewPlan(transforms, sized.augmentations, overrides)
        with bar(console, f"pairs at {side} px", unit="images") as on_progress:
            own = compare(list(same_size.values()), pairs, sampling.batches(plan, on_progress))
        cosines |= dict(zip(same_size, own, strict=True))
    distributions = {
        name: {kind: Distribution.of(values) for kind, values in cosines[name].items()}
        for name in loaded
    }
    return SimilarityResult(chosen, recipe_name, distributions)


def views_at(views: ViewSettings, size: int) -> ViewSettings:
    """The views of a recipe at another size."""

    def resized(value: Any) -> Any:
        if isinstance(value, list):
            return [resized(entry) for entry in value]
        if isinstance(value, dict):
            new = {key: resized(entry) for key, entry in value.items()}
            return new | {"size": size} if value.get("size") == views.size else new
        return value

    return type(views).model_validate(resized(views.model_dump(mode="json")))


def _choose_views(
    recipe: "AnyRecipe | None", runs: Sequence[ModelLike]
) -> tuple[str, ViewSettings]:
    """The name of the recipe whose views are made, and its settings."""
    if isinstance(recipe, str | Path):
        return public_name(str(recipe)), read_views(recipe)
    if recipe is not None:
        from unshortcut.recipes.load import load_recipe

        return "a recipe's", load_recipe(recipe).views
    trained = [read_views(RunFolder(Path(str(run))).last_phase.recipe) for run in runs]
    if trained and all(_pipelines(one) == _pipelines(trained[0]) for one in trained):
        return "as trained", trained[0]
    return MOCO_V2, read_views(MOCO_V2)


def _pipelines(views: ViewSettings) -> tuple[Any, Any]:
    """The augmentations of a run, which may equal those of a run with another input size."""
    sized = views_at(views, 224)
    return sized.augmentations, sized.overrides
