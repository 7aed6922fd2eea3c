"""The notebook `examples/quickstart.ipynb` runs, and shows what it says."""

from pathlib import Path
from typing import Any

from tests.docs.markdown import ROOT
from tests.docs.workspace import workspace
from tests.examples.notebook import code_cells, run

NOTEBOOK = ROOT / "examples" / "quickstart.ipynb"


def test_every_cell_runs_and_pictures_and_pages_are_shown(tmp_path: Path) -> None:
    with workspace(tmp_path):
        shown: dict[str, Any] = dict(run(code_cells(NOTEBOOK)))
    for name in ("show", "draw"):
        assert shown[name]._repr_png_().startswith(b"\x89PNG")
    assert (tmp_path / "runs" / "quickstart" / "encoder.safetensors").exists()
    assert set(shown["scores"]) == {"test", "conflict"}
    assert all(0 <= score <= 100 for score in shown["scores"].values())
    assert "Shape bias" in shown["report"].html()
    for name in ("report", "embed"):
        assert shown[name]._repr_html_().startswith("<iframe srcdoc=")
    assert len(shown["embed"].identities) == 64


def test_it_is_stored_without_outputs() -> None:
    assert all(cell.outputs == [] for cell in code_cells(NOTEBOOK))
