"""Every measurement of the audit on a ViT that was trained here."""

from pathlib import Path

import pytest
from rich.console import Console

from tests.methods.small_runs import small_run
from tests.methods.test_mae import SMALL
from unshortcut.auditing.findings import Findings
from unshortcut.auditor import audit
from unshortcut.data.shapes import SHAPE_NAMES, Shapes
from unshortcut.data.source import Joined
from unshortcut.measurements.measurement import measurements
from unshortcut.recipes.load import load_recipe

SCENE_VIEWS = ("object", "scene")


# Grad-CAM needs maps of at least 4 × 4 positions.
SIZED = ["views.size=32", "encoder.options.img_size=32"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("vit") / "run"
    return str(small_run("can-shapes", folder, [*SMALL, *SIZED]).folder)


@pytest.fixture(scope="module")
def findings(run: str, tmp_path_factory: pytest.TempPathFactory) -> Findings:
    folder = tmp_path_factory.mktemp("audit")
    kinds = folder / "kinds.csv"
    kinds.write_text("\n".join(f"{name},{number % 2}" for number, name in enumerate(SHAPE_NAMES)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNSHORTCUT_CACHE", str(folder / "cache"))
        return audit(
            {"vit": run},
            # Scenes, so that there are boxes and objects out of context.
            Joined(*(Shapes(f"context-{one}", size=32, count=24) for one in ("test", "odd"))),
            train=Shapes("train", size=32, count=240),
            conflict=Shapes("conflict", size=32, count=32),
            shifts={"sketch": Shapes("sketch", size=32, count=32)},
            hierarchy=kinds,
            console=Console(quiet=True),
        ).findings


OTHERS = {"scene_norm", "weak_slices"}
"""They need hyperbolic learning, and more images of a class."""


@pytest.mark.parametrize("name", [name for name in measurements() if name not in OTHERS])
def test_it_measures_a_vit_and_shows_it(name: str, findings: Findings) -> None:
    entry = findings.entries[name]["vit"]
    assert entry.status == "done", entry.reason
    assert findings.measurements[name].exhibits({"vit": entry.result}, None)


def test_weak_slices_need_more_images(run: str) -> None:
    found = audit(
        {"vit": run},
        Shapes("test", size=32, count=400),
        train=Shapes("train", size=32, count=240),
        only=["weak_slices"],
        console=Console(quiet=True),
    ).findings
    entry = found.entries["weak_slices"]["vit"]
    assert entry.status == "done", entry.reason
    assert found.measurements["weak_slices"].exhibits({"vit": entry.result}, None)


def test_the_norm_of_a_vit_with_hyperbolic_learning(
    run: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    vit = load_recipe(Path(run) / "recipe.yaml").encoder
    whole = [f"views.overrides.{view}=[{{name: resize, size: [32, 32]}}]" for view in SCENE_VIEWS]
    sets = [
        "views.size=32",
        *whole,
        f"encoder.name={vit.name}",
        f"encoder.options={vit.options}",
        "encoder.positions=sincos",
        "method.hyperbolic_queue=64",
    ]
    scenes = Shapes("context-train", size=48, count=64)
    folder = tmp_path_factory.mktemp("ball") / "run"
    small_run("hcl-shapes", folder, sets, source=scenes)
    found = audit(
        {"vit": str(folder)},
        Shapes("context-test", size=48, count=48),
        train=scenes,
        only=["scene_norm"],
        console=Console(quiet=True),
    ).findings
    entry = found.entries["scene_norm"]["vit"]
    assert entry.status == "done", entry.reason
    assert found.measurements["scene_norm"].exhibits({"vit": entry.result}, None)
