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


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    folder = tmp_path_factory.mktemp("vit")
    kinds = folder / "kinds.csv"
    kinds.write_text("\n".join(f"{name},{number % 2}" for number, name in enumerate(SHAPE_NAMES)))
    # Grad-CAM needs maps of at least 4 × 4 positions.
    sets = [*SMALL, "views.size=32", "encoder.options.img_size=32"]
    run = small_run("can-shapes", folder / "run", sets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNSHORTCUT_CACHE", str(folder / "cache"))
        return audit(
            {"vit": str(Path(run.folder))},
            # Scenes, so that there are boxes and objects out of context.
            Joined(*(Shapes(f"context-{one}", size=32, count=24) for one in ("test", "odd"))),
            train=Shapes("train", size=32, count=240),
            conflict=Shapes("conflict", size=32, count=32),
            shifts={"sketch": Shapes("sketch", size=32, count=32)},
            hierarchy=kinds,
            console=Console(quiet=True),
        ).findings


OTHERS = {"scene_norm", "weak_slices"}
"""They need hyperbolic learning, and more images of a class; they have tests of their own."""


@pytest.mark.parametrize("name", [name for name in measurements() if name not in OTHERS])
def test_it_measures_a_vit_and_shows_it(name: str, findings: Findings) -> None:
    entry = findings.entries[name]["vit"]
    assert entry.status == "done", entry.reason
    assert findings.measurements[name].exhibits({"vit": entry.result}, None)
