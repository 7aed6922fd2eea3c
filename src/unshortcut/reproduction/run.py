"""Reproducing a claim: train every variant with every seed, measure, and compare."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from unshortcut.errors import UsageError
from unshortcut.probes.run import Data
from unshortcut.recipes.load import AnyRecipe
from unshortcut.reproduction.claim import Claim, get_claim
from unshortcut.reproduction.experiment import Experiment
from unshortcut.reproduction.outcome import Reproduction
from unshortcut.reproduction.plan import plan_request
from unshortcut.reproduction.plot import draw_plot
from unshortcut.reproduction.registered import SharedMeasures
from unshortcut.reproduction.request import ReproductionRequest
from unshortcut.reproduction.scales import Scale, scale_settings
from unshortcut.reproduction.side_by_side import train_side_by_side
from unshortcut.reproduction.tables import print_tables
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
    jobs: int = 1,
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
        jobs: Number of trainings that run side by side. Two or more have a process each, with one
            thread and low priority.
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
    if jobs < 1:
        raise UsageError(f"jobs must be at least 1, not {jobs}")
    request = ReproductionRequest(
        chosen.name, "", seeds, scale, recipe if recipe is not None else chosen.base_recipe(scale),
        tuple(sets), values or {}, tuple(only), probe_data, dict(tests or {}),
        dict(transfers or {}), conflict, hierarchy,
    )  # fmt: skip
    plan = plan_request(chosen, request, data, cache, console)
    for note in plan.notes:
        console.print(note, highlight=False, markup=False)
    experiment = Experiment(plan.distinct, SharedMeasures(plan), scale, console)
    if jobs > 1:
        experiment.trained = train_side_by_side(plan, jobs)
    experiment.run()
    folder = Path(out) if out is not None else default_folder(chosen, scale)
    folder.mkdir(parents=True, exist_ok=True)
    outcome = Reproduction(
        chosen, plan.request, folder, plan.variants, plan.trainings,
        plan.by_variant(experiment.metrics), experiment.trained, plan.notes,
    )  # fmt: skip
    draw_plot(outcome, folder / PLOT_FILE)
    outcome.write(folder / RESULT_FILE)
    print_tables(outcome)
    console.print(f"wrote {folder / RESULT_FILE} and {folder / PLOT_FILE}", highlight=False)
    return outcome


def default_folder(claim: Claim, scale: Scale) -> Path:
    """The folder of a result that is named by nothing else."""
    return Path("reproduce") / (claim.name if scale == "small" else f"{claim.name}-{scale}")
