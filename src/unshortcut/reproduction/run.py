"""Reproducing a claim: every variant with every seed is trained once, measured and compared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from rich.console import Console

from unshortcut.data.open import open_data
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError, unknown
from unshortcut.files import cache_folder
from unshortcut.plain_yaml import parse_set
from unshortcut.probes.run import Data
from unshortcut.recipes.load import AnyRecipe, load_recipe
from unshortcut.recipes.schema import Recipe
from unshortcut.reproduction.asked import Asked
from unshortcut.reproduction.claim import Claim, Scale, Variant, claim_named, keep_only
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.experiment import Experiment
from unshortcut.reproduction.identity import training_key
from unshortcut.reproduction.measure import measured
from unshortcut.reproduction.outcome import Reproduction
from unshortcut.reproduction.plot import plot
from unshortcut.reproduction.record import write_record
from unshortcut.reproduction.tables import print_tables
from unshortcut.reproduction.trainings import Training
from unshortcut.result import RESULT_FILE

PLOT_FILE = "plot.png"


def reproduce(
    claim: str | Claim,
    data: Data | None = None,
    *,
    recipe: AnyRecipe | None = None,
    seeds: int = 3,
    scale: Scale = "small",
    sets: Sequence[str] = (),
    values: Mapping[str, Sequence[str]] | None = None,
    only: Sequence[str] = (),
    readout: Data | None = None,
    tests: Mapping[str, Data] | None = None,
    transfers: Mapping[str, tuple[Data, Data]] | None = None,
    out: str | Path | None = None,
    cache: str | Path | None = None,
    console: Console | None = None,
) -> Reproduction:
    """Train, measure and compare the variants of a claim; what is there already is used again.

    Args:
        claim: the name of a claim, or a claim of your own.
        data: what is trained on, and what readouts are fitted on; by default the recipe's own.
        recipe: what is varied, in place of the claim's own recipe; where a claim compares recipes,
            that of its first row, and the others are those for the same data.
        seeds: how often every variant is trained, with the seeds 0, 1, and so on.
        scale: `small`, or `paper` for the paper's own data and sizes.
        sets: changes to the recipe of all variants, `key=value`.
        values: other values of an axis, e.g. `{"alpha": ["0", "4"]}`.
        only: labels of variants, or parts of them, to which the experiment is limited.
        readout: labeled data that readouts are fitted on, where `data` are not such.
        tests: further test sets with the same classes, by name; or others for the usual names.
        transfers: by name, data to fit a readout on and data to test it on.
        out: the folder for `result.json` and the plot, `reproduce/CLAIM` by default.
        cache: where trainings are kept, `trainings` in the user's cache folder by default.
    """
    console = console or Console(stderr=True)
    chosen = claim if isinstance(claim, Claim) else claim_named(claim)
    if scale not in get_args(Scale):
        raise unknown("scale", scale, get_args(Scale))
    if seeds < 1:
        raise UsageError(f"seeds must be at least 1, not {seeds}")
    tests, transfers = dict(tests or {}), dict(transfers or {})
    _check_used(chosen, {"tests": tests, "transfers": transfers})
    variants = keep_only(chosen.variants(scale, values), only)
    _check_sets(sets, variants)
    recipe = recipe if recipe is not None else chosen.recipes[scale]
    recipes = {v.label: load_recipe(chosen.recipe(v, recipe), sets) for v in variants}
    spec = data if data is not None else next(iter(recipes.values())).data.name
    if spec is None:
        raise UsageError("the recipe names no data; say which with --data")
    spec = spec if isinstance(spec, ImageSource) else str(spec)
    asked = Asked(
        chosen.name, spec, seeds, scale, recipe, tuple(sets), values or {}, tuple(only),
        readout, tests, transfers,
    )  # fmt: skip
    root = Path(cache) if cache is not None else cache_folder() / "trainings"
    trainings = _trainings(recipes, variants, seeds, spec, root)
    evaluation = Evaluation(spec, tests, transfers, readout, console)
    # Now: what is wrong with the data is to be found before any training.
    depends = {measure: measure.depends(evaluation) for measure in chosen.measures}

    def measure_all(training: Training) -> dict[str, float]:
        found: dict[str, float] = {}
        for measure, on in depends.items():
            found |= measured(training, measure, on, evaluation)
        return found

    experiment = Experiment(_distinct(trainings), measure_all, scale, console)
    experiment.run()
    metrics: dict[str, list[dict[str, float]]] = {variant.label: [] for variant in variants}
    for training, variant in zip(trainings, variants * seeds, strict=True):
        found = chosen.read(variant, experiment.metrics[training.key])
        metrics[variant.label].append(dict(found))
    folder = Path(out) if out is not None else Path("reproduce") / chosen.name
    folder.mkdir(parents=True, exist_ok=True)
    outcome = Reproduction(chosen, asked, folder, variants, trainings, metrics, experiment.trained)
    plot(outcome, folder / PLOT_FILE)
    write_record(outcome, folder / RESULT_FILE)
    print_tables(outcome)
    console.print(f"Result and plot lie in {folder}", highlight=False)
    return outcome


def _trainings(
    recipes: Mapping[str, Recipe],
    variants: Sequence[Variant],
    seeds: int,
    data: str | ImageSource,
    root: Path,
) -> list[Training]:
    """Every variant with every seed; seed by seed, so that what is done can be compared.

    `recipes` are by the label of the variant.
    """
    source = open_data(data)
    made = []
    for seed in range(seeds):
        for variant in variants:
            changes = [*variant.changes, f"seed={seed}"]
            recipe = load_recipe(recipes[variant.label], changes)
            made.append(Training(variant.label, recipe, data, root / training_key(recipe, source)))
    return made


def _distinct(trainings: Sequence[Training]) -> list[Training]:
    """Each training once, named after the first of its variants."""
    shared: dict[str, list[Training]] = {}
    for training in trainings:
        shared.setdefault(training.key, []).append(training)
    return [
        replace(first, variant=f"{first.variant} (and {len(more)} more)") if more else first
        for first, *more in shared.values()
    ]


def _check_sets(sets: Sequence[str], variants: Sequence[Variant]) -> None:
    """Refuse changes that the experiment makes itself."""
    varied = {
        key for variant in variants for change in variant.changes for key in parse_set(change)
    }
    for change in sets:
        for key in parse_set(change):
            if key == "seed":
                raise UsageError("--set seed: the seeds are 0, 1, and so on; --seeds says how many")
            if key in varied:
                raise UsageError(
                    f"--set {key}: the claim varies it itself; --values gives other values"
                )


def _check_used(claim: Claim, given: Mapping[str, Mapping[str, object]]) -> None:
    """Refuse data that no measure of the claim would look at."""
    used = {name for measure in claim.measures for name in measure.uses}
    for name, data in given.items():
        if data and name not in used:
            raise UsageError(f"{claim.name} does not look at {name}")
