"""Models that `export` and runs have written: weights with a card beside them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from unshortcut.errors import UsageError
from unshortcut.models.card import WEIGHTS_FILE, load_exported
from unshortcut.models.loaded import LoadedModel
from unshortcut.models.wrapping import from_encoder


def from_export(path: Path, stated: dict[str, Any]) -> LoadedModel:
    """Load a run folder or a `.safetensors` file with its card.

    Args:
        stated: fields of `Preprocessing` that replace those of the card.
    """
    weights = path if path.suffix == ".safetensors" else path / WEIGHTS_FILE
    if not weights.is_file():
        raise UsageError(f"there is no file '{weights}'")
    encoder, classifier, card = load_exported(weights)
    name = path.stem if path.suffix == ".safetensors" else path.name
    preprocessing = card.preprocessing.model_copy(update=stated)
    loaded = from_encoder(
        name,
        encoder,
        classifier,
        preprocessing,
        classes=card.classes,
        spaces=card.spaces,
        maps=encoder.feature_maps,
    )
    return replace(loaded, multilabel=card.multilabel)
