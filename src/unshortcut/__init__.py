"""unshortcut: pretrain vision encoders that do not take shortcuts, and see what a model relies on.

>>> import unshortcut
>>> run = unshortcut.pretrain("moco-v2-shapes", out="runs/shapes")  # doctest: +SKIP
>>> result = unshortcut.probe(run.folder, data="shapes", kind="knn")  # doctest: +SKIP
>>> unshortcut.audit(run.folder, data="shapes", out="report.html")  # doctest: +SKIP
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unshortcut.auditor import audit
    from unshortcut.build.make import filter_data, texturize
    from unshortcut.data.open import open_data
    from unshortcut.demonstration import demo
    from unshortcut.measuring.nearest import neighbors
    from unshortcut.measuring.similarities import similarity
    from unshortcut.models.load import load_model
    from unshortcut.probes.run import embed, probe
    from unshortcut.recipes.load import load_recipe
    from unshortcut.report.report import Report
    from unshortcut.reproduction.run import reproduce
    from unshortcut.spaces.advice import advise
    from unshortcut.spaces.loading import load_spaces
    from unshortcut.spaces.reliance import space_reliance
    from unshortcut.spaces.subsets import probe_spaces
    from unshortcut.training.contact_sheet import show
    from unshortcut.training.exporting import export
    from unshortcut.training.pretraining import pretrain

_PLACES = {
    "Report": "unshortcut.report.report",
    "advise": "unshortcut.spaces.advice",
    "audit": "unshortcut.auditor",
    "demo": "unshortcut.demonstration",
    "embed": "unshortcut.probes.run",
    "export": "unshortcut.training.exporting",
    "filter_data": "unshortcut.build.make",
    "load_model": "unshortcut.models.load",
    "load_recipe": "unshortcut.recipes.load",
    "load_spaces": "unshortcut.spaces.loading",
    "neighbors": "unshortcut.measuring.nearest",
    "open_data": "unshortcut.data.open",
    "pretrain": "unshortcut.training.pretraining",
    "probe": "unshortcut.probes.run",
    "probe_spaces": "unshortcut.spaces.subsets",
    "reproduce": "unshortcut.reproduction.run",
    "show": "unshortcut.training.contact_sheet",
    "similarity": "unshortcut.measuring.similarities",
    "space_reliance": "unshortcut.spaces.reliance",
    "texturize": "unshortcut.build.make",
}

__all__ = [
    "Report",
    "advise",
    "audit",
    "demo",
    "embed",
    "export",
    "filter_data",
    "load_model",
    "load_recipe",
    "load_spaces",
    "neighbors",
    "open_data",
    "pretrain",
    "probe",
    "probe_spaces",
    "reproduce",
    "show",
    "similarity",
    "space_reliance",
    "texturize",
]


def __getattr__(name: str) -> Any:
    """Import on first use: `import unshortcut` and `--help` stay fast, torch is slow to load."""
    if name not in _PLACES:
        raise AttributeError(f"module 'unshortcut' has no attribute '{name}'")
    return getattr(importlib.import_module(_PLACES[name]), name)
