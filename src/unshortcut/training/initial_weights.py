"""`init` of a recipe and `--init`: start from the weights of another model."""

from collections.abc import Sequence
from pathlib import Path

from unshortcut.errors import RunError, UsageError
from unshortcut.methods.method import Method
from unshortcut.models.classifier import network_and_classifier
from unshortcut.models.encoder import Encoder
from unshortcut.models.load import load_model
from unshortcut.models.loaded import LoadedModel
from unshortcut.models.published.spec import LIBRARIES, RANDOM


def load_initial(spec: str | Path) -> LoadedModel:
    """Load a model to start from; weights that cannot be had are a `RunError` with a way out."""
    try:
        return load_model(spec)
    except RunError as error:
        raise RunError(
            f"init: {error}. Other weights to start from: --init MODEL; none: --set init=null"
        ) from error


def same_architecture(spec: str | Path) -> str | Path:
    """The spec of a model with the architecture of another, for which nothing is downloaded."""
    library, colon, name = str(spec).partition(":")
    published = colon and library in LIBRARIES and "@" not in name
    return f"{spec}@{RANDOM}" if published else spec


def load_into(encoder: Encoder, model: LoadedModel) -> None:
    """Load the weights of a model of the same architecture, without its classifier."""
    if model.module is None:
        raise UsageError(f"init: '{model.name}' has no weights to load")
    network, _ = network_and_classifier(model.module.cpu())
    given = network.state_dict()
    wanted = encoder.model.state_dict()
    unfit = [k for k in wanted if k not in given or given[k].shape != wanted[k].shape]
    if unfit and encoder.settings.branches > 1:
        raise UsageError(
            f"init: the recipe's encoder has {encoder.settings.branches} branches, but "
            f"'{model.name}' is another kind of encoder"
        )
    if unfit:
        raise UsageError(
            f"init: the weights of '{model.name}' do not fit the recipe's encoder: {len(unfit)} "
            f"of {len(wanted)} tensors are missing or have another shape; the first is '{unfit[0]}'"
        )
    encoder.model.load_state_dict({name: given[name] for name in wanted})


def take_up_classifier(
    method: Method, given: LoadedModel, classes: Sequence[str] | None
) -> str | None:
    """Load the classifier of a model for the same classes; returns a sentence about it, if any."""
    assert given.module is not None  # its encoder has been loaded
    _, classifier = network_and_classifier(given.module)
    own = method.linear_classifier
    if classifier is None:
        return None
    if own is None:
        return f"init: the classifier of '{given.name}' is not used"
    if given.classes is None:
        return f"init: the classifier starts anew, as '{given.name}' does not name its classes"
    if classes is None or list(given.classes) != list(classes):
        return f"init: the classifier starts anew, as that of '{given.name}' has other classes"
    own.load_state_dict(classifier.state_dict())
    return f"init: the classifier of '{given.name}' is taken up: it has the same classes"
