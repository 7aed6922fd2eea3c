"""Reproducing a claim: train every variant with every seed, measure, and compare."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from rich.console import Console

from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.files import cache_folder
from unshortcut.plain_yaml import parse_set
from unshortcut.probes.run import Data
from unshortcut.recipes.load import AnyRecipe, load_recipe
from unshortcut.recipes.schema import Recipe
from unshortcut.reproduction.claim import Claim, Variant, get_claim, select_variants
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.experiment import Experiment
from unshortcut.reproduction.identity import training_key, without_absent
from unshortcut.reproduction.measure import load_or_compute
from unshortcut.reproduction.outcome import Reproduction
from unshortcut.reproduction.plot import draw_plot
from unshortcut.reproduction.request import ReproductionRequest
from unshortcut.reproduction.scales import Scale, scale_recipe, scale_settings
from unshortcut.reproduction.tables import print_tables
from unshortcut.reproduction.training_job import TrainingJob
from unshortcut.result import RESULT_FILE

PLOT_FILE = "plot.png"
DEFAULT_SEEDS = 3


def reproduce(
    claim: str | Claim,
    data: Data | None = None,
    *,
    recipe: AnyRecipe | None = None,
    seeds: int | None = None,
    scale: Scale = "small",
    sets: Sequence[str] = (),
    values: Mapping[str, Sequence[str]] | None = None,
    only: Sequence[str] = (),
    probe_data: Data | None = None,
    tests: Mapping[str, Data] | None = None,
    transfers: Mapping[str, tuple[Data, Data]] | None = None,
    conflict: Data | None = None,
    hierarchy: str | Path | None = None,
    out: str | Path | None = None,
    cache: str | Path | None = None,
    console: Console | None = None,
) -> Reproduction:
    """Train, measure and compare the variants of a claim; earlier trainings are reused.

    Args:
        claim: Name of a claim, or a `Claim`.
        data: Training data, on which probes are fitted too. Default: the data of the recipe.
        recipe: Recipe to vary instead of the claim's own. For a claim that compares recipes, that
            of its first row; the other rows use the recipes for the same data.
        seeds: Number of trainings per variant, with the seeds 0, 1, and so on. Default: 3, or as
            many as the claim registers at the scale `laptop`.
        scale: `small` (minutes per training), `laptop` (the registered experiment: half an hour on
            one core), or `paper` for the data, the sizes and the linear evaluation of the paper.
        sets: Changes to the recipes of all variants, `key=value`.
        values: Other values of an axis, e.g. `{"alpha": ["0", "4"]}`.
        only: Labels of variants, or parts of labels, to which the experiment is limited.
        probe_data: Labeled data to fit probes on, if `data` have no labels.
        tests: Test sets with the same classes, by name, in addition to the usual ones or in their
            place.
        transfers: By name, data to fit a probe on and data to test it on.
        conflict: Images with the shape of one class and the texture of another, named
            SHAPE/SHAPE1-TEXTURE2.png, for the shape bias; `shapes` has its own.
        hierarchy: File with two columns, fine class and coarse class.
        out: Folder for `result.json` and the plot. Default: `reproduce/CLAIM`, or
            `reproduce/CLAIM-SCALE` at another scale than `small`.
        cache: Folder in which trainings are stored. Default: `trainings` in the cache folder.
        console: Where progress is printed. Default: standard error.
    """
    console = console or Console(stderr=True)
    chosen = claim if isinstance(claim, Claim) else get_claim(claim)
    scale_settings(scale)
    registered = chosen.registered(scale)
    if seeds is None:
        seeds = DEFAULT_SEEDS if registered is None else registered.seeds
    if seeds < 1:
        raise UsageError(f"seeds must be at least 1, not {seeds}")
    tests, transfers = dict(tests or {}), dict(transfers or {})
    given = {"tests": tests, "transfers": transfers, "conflict": conflict, "hierarchy": hierarchy}
    _check_used(chosen, given)
    variants = select_variants(chosen.variants(scale, values), only)
    _check_sets(sets, variants)
    recipe = recipe if recipe is not None else chosen.base_recipe(scale)
    own = () if registered is None else registered.changes
    recipes = {}
    for variant in variants:
        scaled = scale_recipe(load_recipe(chosen.recipe(variant, recipe)), scale, own)
        recipes[variant.label] = load_recipe(scaled, sets)
    spec = data if data is not None else next(iter(recipes.values())).data.name
    if spec is None:
        raise UsageError("the recipe names no data; say which with --data")
    spec = spec if isinstance(spec, ImageSource) else str(spec)
    request = ReproductionRequest(
        chosen.name, spec, seeds, scale, recipe, tuple(sets), values or {}, tuple(only),
        probe_data, tests, transfers, conflict, hierarchy,
    )  # fmt: skip
    root = Path(cache) if cache is not None else cache_folder() / "trainings"
    trainings = _trainings(recipes, variants, seeds, spec, root)
    evaluation = Evaluation(
        spec, tests, transfers, probe_data, chosen.protocol if scale == "paper" else None, console,
        conflict_data=conflict, hierarchy_file=hierarchy,
    )  # fmt: skip
    # Problems with the data should be found before any training.
    dependencies = {measure: measure.dependencies(evaluation) for measure in chosen.measures}
    notes = [note for measure in chosen.measures for note in measure.notes(evaluation)]
    for note in notes:
        console.print(note, highlight=False, markup=False)

    def measure_all(training: TrainingJob) -> dict[str, float]:
        found: dict[str, float] = {}
        for measure, on in dependencies.items():
            found |= load_or_compute(training, measure, on, evaluation)
        return found

    experiment = Experiment(_distinct(trainings), measure_all, scale, console)
    experiment.run()
    metrics: dict[str, list[dict[str, float]]] = {variant.label: [] for variant in variants}
    for training, variant in zip(trainings, variants * seeds, strict=True):
        found = chosen.read(variant, experiment.metrics[training.key])
        metrics[variant.label].append(dict(found))
    folder = Path(out) if out is not None else default_folder(chosen, scale)
    folder.mkdir(parents=True, exist_ok=True)
    trained = experiment.trained
    outcome = Reproduction(chosen, request, folder, variants, trainings, metrics, trained, notes)
    draw_plot(outcome, folder / PLOT_FILE)
    outcome.write(folder / RESULT_FILE)
    print_tables(outcome)
    console.print(f"wrote {folder / RESULT_FILE} and {folder / PLOT_FILE}", highlight=False)
    return outcome


def default_folder(claim: Claim, scale: Scale) -> Path:
    """The folder of a result that is named by nothing else."""
    return Path("reproduce") / (claim.name if scale == "small" else f"{claim.name}-{scale}")


def _trainings(
    recipes: Mapping[str, Recipe], variants: Sequence[Variant], seeds: int, data: Data, root: Path
) -> list[TrainingJob]:
    """Every variant with every seed, seed by seed, so that finished ones can be compared.

    `recipes` holds the recipe of each variant by its label.
    """
    source = open_data(data)
    made = []
    for seed, variant in product(range(seeds), variants):
        changed = load_recipe(recipes[variant.label], [*variant.changes, f"seed={seed}"])
        recipe = without_absent(changed)
        folder = root / training_key(recipe, source)
        made.append(TrainingJob(variant.label, recipe, data, folder))
    return made


def _distinct(trainings: Sequence[TrainingJob]) -> list[TrainingJob]:
    """Each distinct training once, named after the first of its variants."""
    shared: dict[str, list[TrainingJob]] = {}
    for training in trainings:
        shared.setdefault(training.key, []).append(training)
    return [
        replace(first, variant=f"{first.variant} (and {len(more)} more)") if more else first
        for first, *more in shared.values()
    ]


def _check_sets(sets: Sequence[str], variants: Sequence[Variant]) -> None:
    """Refuse changes to keys that the experiment varies itself."""
    varied = {
        key for variant in variants for change in variant.changes for key in parse_set(change)
    }
    for key in (key for change in sets for key in parse_set(change)):
        if key == "seed":
            raise UsageError("--set seed: the seeds are 0, 1, …; --seeds gives their number")
        if key in varied:
            message = f"--set {key}: the claim varies it itself; --values gives other values"
            raise UsageError(message)


def _check_used(claim: Claim, given: Mapping[str, object]) -> None:
    """Refuse data that no measure of the claim uses."""
    used = {name for measure in claim.measures for name in measure.uses}
    for name, data in given.items():
        if data and name not in used:
            raise UsageError(f"{claim.name} does not use {name}")
