"""`embedded:NAME`: encoders that come with the package (`models/embedded.py`)."""

from dataclasses import replace
from typing import Any, ClassVar

from unshortcut.models.embedded import embedded_path
from unshortcut.models.exported import from_export
from unshortcut.models.loaded import LoadedModel
from unshortcut.models.origin import Origin


class Embedded(Origin):
    """Encoders of the package."""

    name: ClassVar[str] = "embedded"
    form: ClassVar[str] = "embedded:NAME"

    def load(self, spec: str, stated: dict[str, Any]) -> LoadedModel:
        return replace(from_export(embedded_path(spec), stated), name=f"{self.name}:{spec}")
