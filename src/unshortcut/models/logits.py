"""The logits of a classifier for all images of a source."""

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features, compute_features
from unshortcut.models.loaded import LoadedModel
from unshortcut.progress import OnProgress


def compute_logits(
    model: LoadedModel, source: ImageSource, on_progress: OnProgress | None = None
) -> Features:
    """Logits (N, K) as `Features`; `UsageError` unless the model has the classes of the source."""
    if model.logits is None:
        raise UsageError(f"'{model.name}' has no classifier of its own")
    if model.multilabel:
        raise UsageError(f"the classifier of '{model.name}' is for several classes per image")
    if source.classes is None or model.classes != tuple(source.classes):
        raise UsageError(f"the classifier of '{model.name}' has other classes than the data")
    return compute_features(_Logits(model), source, cache=False, on_progress=on_progress)


class _Logits:
    """A classifier as a model whose features are its logits."""

    def __init__(self, model: LoadedModel) -> None:
        assert model.logits is not None
        self.name, self.preprocessing, self.device = model.name, model.preprocessing, model.device
        self.features = model.logits
        self.fingerprint = None
