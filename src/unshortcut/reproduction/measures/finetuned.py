"""Accuracy after fine-tuning on other data (dissertation, tables 2.1 and 2.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from unshortcut.reproduction.measure import Measure

if TYPE_CHECKING:
    from unshortcut.data.shapes import Shapes
    from unshortcut.data.source import ImageSource
    from unshortcut.reproduction.evaluation import Evaluation

SKETCHES = 16
"""Labeled sketches to fine-tune on, two of each class. In trials of 150 steps with one encoder of
MoCo-v2 without changes, on drawings of another seed, the accuracy was 71 % with two of each class
and 95 % with five, which leaves little to gain."""
SCENES = 400
"""Labeled scenes to fine-tune on."""
LABELED = 80
"""Labeled drawings of the kind that an encoder was trained on, ten of each class."""
FRACTION = 0.1
"""Share of the labels of other data."""


@dataclass(frozen=True)
class Finetuning:
    """A data set to fine-tune on, several times, and one to test on."""

    metric: str
    protocol: str
    trains: "tuple[ImageSource, ...]"
    """The labeled images for seed 0, 1, … of the fine-tuning."""
    test: "ImageSource"
    sets: tuple[str, ...] = ()
    """Changes to the protocol."""

    def dependencies(self) -> dict[str, Any]:
        """Everything besides the encoder that the metric depends on, as plain values.

        Raises `UsageError` if the data have no labels for the task.
        """
        from unshortcut.reproduction.identity import stated_settings
        from unshortcut.transfer.protocol import load_protocol

        protocol = load_protocol(self.protocol, self.sets)
        for source in (*self.trains, self.test):
            protocol.task.classes(source)
        return {
            "protocol": stated_settings(protocol),
            "trains": [train.fingerprint() for train in self.trains],
            "test": self.test.fingerprint(),
        }


@dataclass(frozen=True)
class FinetunedDrawingsMeasure(Measure):
    """The encoder is fine-tuned on drawings of other kinds, of which few are labeled.

    All of its weights are trained. Each fine-tuning has drawings and a seed of its own, which are
    the same for every encoder; the metric is the mean.

    Metrics, in percent: `finetuned_sketch`, the accuracy on sketches after training on two sketches
    of each class, and `finetuned_scenes`, the mean average precision of the objects in scenes. Only
    for `shapes`.
    """

    name: ClassVar[str] = "finetuned_drawings"

    seeds: int = 5

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        return _dependencies(drawn_finetunings(evaluation, self.seeds))

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        return finetuned(run, drawn_finetunings(evaluation, self.seeds), evaluation)


@dataclass(frozen=True)
class FinetunedTransfersMeasure(Measure):
    """The encoder is fine-tuned for the classes of data sets that were given, such as pets.

    Metrics, in percent: `finetuned_NAME`, the accuracy on the second data set of a transfer after
    fine-tuning on the first.
    """

    name: ClassVar[str] = "finetuned_transfers"
    uses: ClassVar[tuple[str, ...]] = ("transfers",)

    transfers: tuple[str, ...] | None = None
    """Names of the transfers to fine-tune for; None means all that were given."""
    seeds: int = 1
    protocol: str = "classify-pets"
    paper_protocol: str = "fine-grained"
    """The protocol at the scale of the paper."""

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        return _dependencies(self._finetunings(evaluation))

    def notes(self, evaluation: "Evaluation") -> tuple[str, ...]:
        named = self.transfers or ()
        missing = [name for name in named if name not in evaluation.transfer_data]
        return tuple(
            f"Fine-tuning on {name} is not measured: name the data with "
            f"--transfer {name}=TRAIN:TEST."
            for name in missing
        )

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        return finetuned(run, self._finetunings(evaluation), evaluation)

    def _finetunings(self, evaluation: "Evaluation") -> list[Finetuning]:
        protocol = self.protocol if evaluation.protocol is None else self.paper_protocol
        return [
            Finetuning(f"finetuned_{name}", protocol, (train,) * self.seeds, test)
            for name, (train, test) in evaluation.transfers.items()
            if self.transfers is None or name in self.transfers
        ]


@dataclass(frozen=True)
class FinetunedLabelsMeasure(Measure):
    """The encoder is fine-tuned for the classes of its own data, of which few images are labeled.

    Metric, in percent: `finetuned`, the accuracy on `test`, the mean of several fine-tunings. Of
    `shapes`, ten drawings of each class that the encoder has not seen are labeled; of other data, a
    tenth of the training images.
    """

    name: ClassVar[str] = "finetuned_labels"

    seeds: int = 2

    def dependencies(self, evaluation: "Evaluation") -> dict[str, Any]:
        return _dependencies(self._finetunings(evaluation))

    def compute(self, run: Path, evaluation: "Evaluation") -> dict[str, float]:
        return finetuned(run, self._finetunings(evaluation), evaluation)

    def _finetunings(self, evaluation: "Evaluation") -> list[Finetuning]:
        from unshortcut.data.shapes import Shapes

        source, test = evaluation.train, evaluation.test
        if isinstance(source, Shapes):
            trains = _drawn(source, "train", LABELED, self.seeds)
            return [Finetuning("finetuned", "classify-shapes", trains, test)]
        few = (f"data.fraction={FRACTION}", "data.validation=0")
        return [Finetuning("finetuned", "classify", (source,) * self.seeds, test, few)]


def _drawn(source: "Shapes", split: str, count: int, seeds: int) -> "tuple[Shapes, ...]":
    """Drawings like those of a source, but of other seeds, one source for each fine-tuning."""
    from unshortcut.data.shapes import Shapes

    size, palette, seed = source.size, source.palette, source.seed
    return tuple(
        Shapes(split, size=size, count=count, seed=seed + 1 + one, palette=palette)
        for one in range(seeds)
    )


def drawn_finetunings(evaluation: "Evaluation", seeds: int) -> list[Finetuning]:
    """Sketches and scenes; none for data that are not drawn.

    The labeled drawings have other seeds than the drawings that they are tested on.
    """
    from unshortcut.data.shapes import Shapes

    pretrained_on = evaluation.train
    if not isinstance(pretrained_on, Shapes):
        return []
    size, palette, seed = pretrained_on.size, pretrained_on.palette, pretrained_on.seed
    count = len(evaluation.test)
    sketches, scenes = (
        Shapes(split, size=size, count=count, seed=seed, palette=palette)
        for split in ("sketch", "scene-test")
    )
    return [
        Finetuning(
            "finetuned_sketch",
            "classify-shapes",
            _drawn(pretrained_on, "sketch", SKETCHES, seeds),
            sketches,
        ),
        Finetuning(
            "finetuned_scenes",
            "multilabel-shapes",
            _drawn(pretrained_on, "scene-train", SCENES, seeds),
            scenes,
        ),
    ]


def finetuned(
    run: Path, finetunings: Sequence[Finetuning], evaluation: "Evaluation"
) -> dict[str, float]:
    """The metrics of a run after each fine-tuning: means over the seeds.

    The run folders of the fine-tuning are beside the run until all are finished, so that one that
    was interrupted is continued.
    """
    from contextlib import suppress
    from shutil import rmtree
    from statistics import fmean

    from unshortcut.reproduction.measure import digest
    from unshortcut.transfer.finetuning import finetune
    from unshortcut.transfer.protocol import load_protocol

    folder = run.parent / "finetuned" / digest(_dependencies(finetunings))
    metrics: dict[str, float] = {}
    for one in finetunings:
        task = load_protocol(one.protocol).task
        values = []
        for seed, train in enumerate(one.trains):
            done = finetune(
                run,
                train,
                task.name,
                folder / f"{one.metric}-{seed}",
                protocol=one.protocol,
                tests={"test": one.test},
                sets=[*one.sets, f"seed={seed}", f"data.fraction_seed={seed}"],
                console=evaluation.console,
                command="repeat the same command",
            )
            values.append(done.metrics[f"test {task.metric}"])
        metrics[one.metric] = fmean(values)
    rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()  # unless another measure has something to continue there
    return metrics


def _dependencies(finetunings: Sequence[Finetuning]) -> dict[str, Any]:
    found: Mapping[str, Any] = {one.metric: one.dependencies() for one in finetunings}
    return {"finetunings": found}
