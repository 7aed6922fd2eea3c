"""The run folder of fine-tuning."""

from pathlib import Path

from unshortcut.training.folder import RunFolder

_README = """\
A run of `unshortcut finetune`. Files in this folder:
  protocol.yaml          the protocol with every setting, as it was run
  run.json               metadata: model, data, versions, commit, devices
  log.jsonl              one JSON object per logged step: loss, lr, images_per_second; entries with
                         `validation_…` are the metrics on the images held out to choose weights on
  tensorboard/           the same for TensorBoard
  views.png              some images as the network sees them in training
  checkpoint.ckpt        the state to resume from: repeat the command
  skipped.jsonl          images and annotations that could not be used, with the reason (if any)
  {weights:<22} {content} (when finished)
  last.safetensors       the same after the last step, if weights were chosen on held-out images
  predictions.png        predictions on images of the test set (boxes and masks)
  result.json            the metrics on the test sets (when finished)
"""
_BEST = "the network, with the best weights on held-out images, and its card"
_LAST = "the network after the last step, and its card"


class TransferFolder(RunFolder):
    """Paths inside the run folder of fine-tuning."""

    def __init__(self, path: Path, weights: str) -> None:
        super().__init__(path)
        self.recipe = path / "protocol.yaml"
        self.weights = path / weights
        self.last = path / "last.safetensors"
        self.best_state = path / "best-state.safetensors"
        """The best weights so far; removed when the run is finished."""
        self.predictions = path / "predictions.png"

    def readme(self, chooses: bool) -> str:
        """The list of files, for a run that chooses its weights on held-out images or does not."""
        return _README.format(weights=self.weights.name, content=_BEST if chooses else _LAST)
