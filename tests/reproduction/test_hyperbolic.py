"""The claim on hyperbolic learning: its arms, and what is measured of them."""

from pathlib import Path

import pytest
from rich.console import Console

from tests.methods.small_runs import small_run
from tests.training.test_ball import SIZED
from unshortcut.data.shapes import Shapes
from unshortcut.data.shapes.source import COUNTS
from unshortcut.errors import UsageError
from unshortcut.measurements.out_of_context import OutOfContext
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.models.load import load_model
from unshortcut.recipes.load import load_recipe
from unshortcut.reproduction.claim import get_claim
from unshortcut.reproduction.evaluation import Evaluation
from unshortcut.reproduction.measures.context import OutOfContextMeasure, odd_scenes
from unshortcut.reproduction.measures.scenes import scenes_to_test
from unshortcut.training.ball import with_ball

CLAIM = get_claim("hyperbolic")


def evaluation(count: int = 64) -> Evaluation:
    train = Shapes("context-train", size=48, count=count)
    return Evaluation(train, console=Console(quiet=True))


@pytest.fixture(autouse=True)
def few_scenes(monkeypatch: pytest.MonkeyPatch) -> None:
    for split in ("context-test", "context-odd"):
        monkeypatch.setitem(COUNTS, split, 40)


@pytest.mark.parametrize("base", ["moco-v2-context-shapes", "moco-v2-openimages"])
def test_arms_differ_in_views_and_method_alone(base: str) -> None:
    arms = {
        variant.values["method"]: load_recipe(CLAIM.recipe(variant, base))
        for variant in CLAIM.variants("small")
    }
    assert list(arms) == ["moco", "objects", "hcl"]
    plain = arms["moco"]
    assert plain.views.objects is None
    for name in ("objects", "hcl"):
        assert arms[name].views.objects is not None
        assert arms[name].data.name == plain.data.name
        assert arms[name].encoder == plain.encoder
    assert [one.method.name for one in arms.values()] == ["moco", "moco", "hcl"]
    with pytest.raises(UsageError, match="recipe with random crops 'hcl-shapes'"):
        CLAIM.recipe(CLAIM.variants("small")[0], "hcl-shapes")


def test_arms_on_shapes_have_the_same_schedule_and_scenes() -> None:
    recipes = [
        load_recipe(CLAIM.recipe(variant, "moco-v2-context-shapes"))
        for variant in CLAIM.variants("laptop")
    ]
    assert len({repr((one.schedule, one.optimizer, one.data)) for one in recipes}) == 1


def test_the_primary_effect_is_the_correlation_of_hyperbolic_learning_alone() -> None:
    registered = CLAIM.registration
    assert registered is not None and registered.seeds == 3
    found = registered.primary.find(
        {"method=hcl": [{"norm_correlation": 30.0}, {"norm_correlation": 34.0}]}, {"method=hcl": {}}
    )
    assert found.mean == 32 and found.verdict == "appears"


def test_scenes_are_tested_on_drawings_beside_the_training_data() -> None:
    drawn = Evaluation(Shapes("context-train", size=64, seed=3, count=8))
    test, odd = scenes_to_test(drawn), odd_scenes(drawn)
    assert isinstance(test, Shapes) and isinstance(odd, Shapes)
    assert (test.split, test.seed, test.size) == ("context-test", 3, 64)
    assert odd.split == "context-odd"


class TestRuns:
    @pytest.fixture(scope="class")
    def runs(self, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
        source, folder = evaluation().train, tmp_path_factory.mktemp("runs")
        hcl = [*SIZED, "method.hyperbolic_queue=64"]
        small_run("hcl-context-shapes", folder / "hcl", hcl, source=source)
        small_run("moco-v2-context-shapes", folder / "moco", source=source)
        return {name: folder / name for name in ("hcl", "moco")}

    def test_every_column_of_the_claim_is_measured_for_every_arm(
        self, runs: dict[str, Path]
    ) -> None:
        for run in runs.values():
            metrics: dict[str, float] = {}
            for measure in CLAIM.measures:
                assert measure.dependencies(evaluation())
                metrics |= measure.compute(run, evaluation())
            assert set(metrics) == {column.measure for column in CLAIM.columns}
            assert -100 <= metrics["norm_correlation"] <= 100
            assert all(abs(metrics[name]) <= 50 for name in ("several_labels", "odd_objects"))
            assert metrics["odd_gain"] == pytest.approx(
                metrics["odd_objects"] - metrics["odd_by_cosine"]
            )
            assert (metrics["odd_gain"] == 0) == (run.name == "moco")

    def test_odd_objects_are_found_as_the_audit_finds_them(self, runs: dict[str, Path]) -> None:
        run = runs["hcl"]
        odd = odd_scenes(evaluation())
        assert odd is not None
        subject = Subject(
            "hcl", with_ball(load_model(run), run), odd, None, Settings(profile="full")
        )
        found = OutOfContext().measure(subject, lambda done, total: None).detections
        metrics = OutOfContextMeasure().compute(run, evaluation())
        assert metrics["odd_objects"] == pytest.approx(100 * found["hyperbolic"].auroc.value - 50)


def test_other_data_need_images_with_odd_objects() -> None:
    other = Evaluation(Shapes("context-train", count=8), more_tests={"odd": Shapes("context-odd")})
    assert OutOfContextMeasure().notes(other) == ()
