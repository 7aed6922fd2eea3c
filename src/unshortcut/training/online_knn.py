"""kNN accuracy of the encoder while it trains, if the data have labels."""

from dataclasses import dataclass

import numpy as np
from lightning.pytorch import Callback, LightningModule, Trainer

from unshortcut.data.open import open_data, splits
from unshortcut.data.source import ImageSource, Subset
from unshortcut.inference.features import compute_features
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.method import method_of
from unshortcut.models.load import from_module
from unshortcut.probes.knn import knn_accuracy
from unshortcut.randomness import generator
from unshortcut.training.logs import LogWriter
from unshortcut.training.progress import TrainingProgress

_BANK, _QUERIES, _K = 4000, 1000, 20


@dataclass(frozen=True)
class KnnData:
    """Labeled images that serve as neighbors, and labeled images to be classified by them."""

    bank: ImageSource
    queries: ImageSource


def knn_data(spec: str | ImageSource, train: ImageSource, seed: int) -> KnnData | None:
    """Choose images of the `train` and `val` splits, never of the test split.

    Without a labeled `val` split, part of `train` is kept out of the bank and classified; the
    encoder still trains on it, without its labels. None if there are no labels.
    """
    if train.labels is None:
        return None
    order = generator(seed, "knn").permutation(len(train))
    if "val" in splits(spec):
        validation = open_data(spec, split="val")
        if validation.labels is not None:
            chosen = generator(seed, "knn-val").permutation(len(validation))[:_QUERIES]
            return KnnData(Subset(train, order[:_BANK]), Subset(validation, np.sort(chosen)))
    held_out = min(_QUERIES, len(train) // 5)
    if held_out == 0:
        return None
    bank = order[held_out : held_out + _BANK]
    return KnnData(Subset(train, bank), Subset(train, np.sort(order[:held_out])))


class OnlineKnn(Callback):
    """Logs the kNN accuracy every few epochs and after the last one, on rank 0."""

    def __init__(
        self,
        data: KnnData,
        preprocessing: Preprocessing,
        every: int,
        log_writer: LogWriter,
        progress: TrainingProgress,
    ) -> None:
        self.data = data
        self.preprocessing = preprocessing
        self.every = every
        self.log_writer = log_writer
        self.progress = progress
        self.accuracy: float | None = None

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        epoch = trainer.current_epoch + 1
        if not trainer.is_global_zero or (epoch % self.every and epoch != trainer.max_epochs):
            return
        self.accuracy = self.measure(pl_module)
        self.progress.note = f"kNN {self.accuracy:.1f} %"
        if log := self.log_writer.run_log:
            log.write(trainer.global_step, {"epoch": epoch, "knn": self.accuracy})

    def measure(self, method: LightningModule) -> float:
        """The current kNN accuracy of the encoder, in percent."""
        encoder = method_of(method).encoder
        was_training = encoder.training
        model = from_module("encoder", encoder, self.preprocessing)
        bank = compute_features(model, self.data.bank, cache=False)
        queries = compute_features(model, self.data.queries, cache=False)
        encoder.train(was_training)
        labels = bank.required_labels(), queries.required_labels()
        return 100 * knn_accuracy(bank.values, labels[0], queries.values, labels[1], k=(_K,))[_K]
