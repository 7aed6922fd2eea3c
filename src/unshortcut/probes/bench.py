"""Model and data made ready for a probe: opened, checked, features on demand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from unshortcut.data.naming import Data, by_short_name
from unshortcut.data.open import DataSpec, open_data, splits
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features, compute_features
from unshortcut.models.load import LoadedModel, ModelLike, as_model
from unshortcut.probes.probe import Extract
from unshortcut.progress import bar


@dataclass(frozen=True)
class Bench:
    """What a probe is given."""

    extract: Extract
    train: ImageSource
    tests: Mapping[str, ImageSource]
    unlabeled: str | None
    """Why no classifier can be fitted and tested here, in words; None where one can."""

    def remembering(self) -> "Bench":
        """The same, with features that are kept in memory from the first question on."""
        known: dict[str, Features] = {}

        def extract(source: ImageSource, name: str) -> Features:
            key = source.fingerprint()  # a probe may make its sources anew, turned ones say
            if key not in known:
                known[key] = self.extract(source, name)
            return known[key]

        return replace(self, extract=extract)


def bench(
    model: ModelLike,
    data: Data,
    *,
    tests: Sequence[Data] | Mapping[str, Data] = (),
    needs_labels: bool = True,
    console: Console | None = None,
    workers: int | None = None,
) -> Bench:
    """Open and check model, data and tests; features come on demand. Arguments as in `probe`."""
    loaded = as_model(model)
    train = open_data(data)
    if not isinstance(tests, Mapping):
        tests = by_short_name(list(tests) or _default_tests(data))
    test_sources = {name: open_data(spec) for name, spec in tests.items()}
    unlabeled = _unlabeled(str(data), train, test_sources)
    if needs_labels and unlabeled is not None:
        raise UsageError(unlabeled)
    shown = console or Console(stderr=True)
    return Bench(
        lambda source, name: features_of(loaded, source, name, shown, workers),
        train,
        test_sources,
        unlabeled,
    )


def features_of(
    model: LoadedModel, source: ImageSource, name: str, console: Console, workers: int | None = None
) -> Features:
    """Features of a source, with a progress bar."""
    with bar(console, f"features of {name}", unit="images") as on_progress:
        return compute_features(model, source, workers=workers, on_progress=on_progress)


def _unlabeled(data: str, train: ImageSource, tests: Mapping[str, ImageSource]) -> str | None:
    """What lacks labels, or has others than the training data."""
    for name, source in [(data, train), *tests.items()]:
        if source.labels is None:
            return f"'{name}' has no labels: a classifier needs class folders"
        if source.classes != train.classes:
            odd = sorted(set(source.classes or ()) ^ set(train.classes or ()))
            return f"'{name}' has other classes than the training data: {', '.join(odd[:5])}"
    return None


def _default_tests(data: Data) -> list[Data]:
    if isinstance(data, ImageSource):
        raise UsageError("say on which data to test")
    known = splits(data)
    for split in ("test", "val"):
        if split in known:
            return [f"{DataSpec.parse(data).where}@{split}"]
    raise UsageError(f"'{data}' has no 'test' or 'val' split; say on which data to test with --on")
