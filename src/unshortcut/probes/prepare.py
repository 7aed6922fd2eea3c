"""Prepare a probe: load the model, open the data, check the labels; features come on demand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from unshortcut.data.naming import Data, by_short_name
from unshortcut.data.open import DataSpec, open_data, splits
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features, compute_features
from unshortcut.models.load import LoadedModel, ModelLike, as_model
from unshortcut.probes.base import Crops, Extract
from unshortcut.probes.class_subset import matched_tests
from unshortcut.progress import OnProgress, bar


@dataclass(frozen=True)
class ProbeData:
    """Training and test images of a probe, and the function that computes their features."""

    extract: Extract
    train: ImageSource
    tests: Mapping[str, ImageSource]
    label_problem: str | None
    """Why no classifier can be fitted and tested on these data; None if one can."""

    def cached(self) -> "ProbeData":
        """A copy that keeps all computed features, except those of crops, in memory."""
        known: dict[str, Features] = {}

        def extract(
            source: ImageSource,
            name: str,
            crops: Crops | None = None,
            on_progress: OnProgress | None = None,
        ) -> Features:
            if crops is not None:
                return self.extract(source, name, crops, on_progress)
            key = source.fingerprint()  # a probe may build equal sources again, e.g. rotated ones
            if key not in known:
                known[key] = self.extract(source, name)
            return known[key]

        return replace(self, extract=extract)


def prepare_probe(
    model: ModelLike,
    data: Data,
    *,
    tests: Sequence[Data] | Mapping[str, Data] = (),
    needs_labels: bool = True,
    console: Console | None = None,
    workers: int | None = None,
) -> ProbeData:
    """Load the model, and open and check the data. The arguments are those of `probe`."""
    loaded = as_model(model)
    train = open_data(data)
    if not isinstance(tests, Mapping):
        tests = by_short_name(list(tests) or _default_tests(data))
    test_sources = {name: open_data(spec) for name, spec in tests.items()}
    test_sources, problem = matched_tests(str(data), train, test_sources)
    if needs_labels and problem is not None:
        raise UsageError(problem)
    shown = console or Console(stderr=True)

    def extract(
        source: ImageSource,
        name: str,
        crops: Crops | None = None,
        on_progress: OnProgress | None = None,
    ) -> Features:
        if crops is None:
            return features_of(loaded, source, name, shown, workers)
        return compute_features(
            loaded,
            source,
            workers=workers,
            crops_of=crops.epoch,
            cache=crops.keep,
            on_progress=on_progress,
        )

    return ProbeData(extract, train, test_sources, problem)


def features_of(
    model: LoadedModel, source: ImageSource, name: str, console: Console, workers: int | None
) -> Features:
    """Compute the features of a source, with a progress bar."""
    with bar(console, f"features of {name}", unit="images") as on_progress:
        return compute_features(model, source, workers=workers, on_progress=on_progress)


def _default_tests(data: Data) -> list[Data]:
    if isinstance(data, ImageSource):
        raise UsageError("pass the test data as 'tests': an image source has no splits")
    spec = DataSpec.parse(data)
    own, known = spec.split or "", splits(spec.where)
    kind = own.removesuffix("train") if own.endswith("-train") else ""  # scene-train: scene-test
    for split in (f"{kind}test", f"{kind}val", "test", "val"):
        if split in known and split not in own:  # "val" is in "trainval", "test" in "train+test"
            return [f"{spec.where}@{split}"]
    raise UsageError(f"'{data}' has no 'test' or 'val' split; name the test data with --on")
