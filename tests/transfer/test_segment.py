"""The task `segment`: its loss and predictions against formulas, its score, its settings."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from tests.small import TINY
from unshortcut.data.regions import IGNORED, Regions
from unshortcut.data.source import ArrayImage, ImageSource
from unshortcut.errors import UsageError
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.parts import build
from unshortcut.transfer.parameters import TrainedParts
from unshortcut.transfer.schedule import TransferSchedule
from unshortcut.transfer.task import AnyTask, Example, TaskSettings
from unshortcut.transfer.tasks.segment import Segment, SegmentationScore, SegmentSettings

CLASSES = ("background", "cat", "dog")


def segment(encoder: EncoderSettings = TINY, **values: Any) -> Segment:
    torch.manual_seed(0)
    values = {"channels": 8, "dropout": 0.0, **values}
    made = create_encoder(encoder, seed=0)
    return SegmentSettings(**values).build(made, CLASSES, TrainingContext())


def masks(*sizes: tuple[int, int], ignored: float = 0.2) -> list[NDArray[np.uint8]]:
    rng = np.random.default_rng(0)
    drawn = []
    for size in sizes:
        mask = rng.integers(len(CLASSES), size=size).astype(np.uint8)
        mask[rng.random(size) < ignored] = IGNORED
        drawn.append(mask)
    return drawn


def batch(true: list[NDArray[np.uint8]], height: int = 16, width: int = 24) -> Batch:
    images = torch.randn(
        len(true), 3, height, width, generator=torch.Generator().manual_seed(0)
    ).double()
    return Batch({"image": images}, regions=[Regions(mask=mask) for mask in true])


def mean_cross_entropy(logits: Tensor, true: list[NDArray[np.uint8]]) -> float:
    """By the formula, pixel by pixel."""
    losses = []
    for own, mask in zip(logits.detach().numpy(), true, strict=True):
        for row, column in zip(*np.nonzero(mask != IGNORED), strict=True):
            values = own[:, row, column]
            losses.append(np.log(np.exp(values).sum()) - values[mask[row, column]])
    return float(np.mean(losses))


@pytest.mark.parametrize("aux_weight", [0.0, 0.4])
def test_the_loss_is_the_mean_cross_entropy_of_pixels_that_count(aux_weight: float) -> None:
    task = segment(aux_weight=aux_weight).double().eval()
    true = masks((16, 24), (10, 20))  # the second view is padded
    given = batch(true)
    step = task.loss(given)
    logits = task.network(given.views["image"])
    expected = mean_cross_entropy(logits["out"], true)
    if aux_weight:
        aux = mean_cross_entropy(logits["aux"], true)
        assert float(step.metrics["aux_loss"]) == pytest.approx(aux)
        expected += aux_weight * aux
    assert step.loss.item() == pytest.approx(expected)
    known = [mask != IGNORED for mask in true]
    found = [
        (own.argmax(dim=0).numpy()[: mask.shape[0], : mask.shape[1]] == mask)[counts]
        for own, mask, counts in zip(logits["out"], true, known, strict=True)
    ]
    assert float(step.metrics["pixel_accuracy"]) == pytest.approx(np.concatenate(found).mean())


def test_a_batch_in_which_nothing_counts_has_no_loss_and_finite_gradients() -> None:
    task = segment().double()
    given = batch(masks((16, 24), ignored=1.0))
    given.regions = [*(given.regions or []), Regions()]  # an image without a mask
    given.views = {"image": given.views["image"].repeat(2, 1, 1, 1)}
    loss = task.loss(given).loss
    loss.backward()
    assert loss == 0
    gradients = [one.grad for one in task.parameters() if one.grad is not None]
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


def test_masks_are_predicted_in_pixels_of_the_full_images() -> None:
    task = segment().double().eval()
    images = batch(masks((16, 24), (16, 24))).views["image"]
    sizes = torch.tensor([[16, 24], [10, 20]])
    examples = [Example(height=40, width=60), Example(height=25, width=50)]
    found = task.predict(images, sizes, examples)
    for mask, image, (height, width), example in zip(
        found, images, sizes.tolist(), examples, strict=True
    ):
        # What only pads an image has no influence, as if it were alone.
        logits = task.network(image[None, :, :height, :width])["out"].detach()
        full = F.interpolate(logits, (example.height, example.width), mode="bilinear")
        assert mask.dtype == np.uint8
        np.testing.assert_array_equal(mask, full[0].argmax(dim=0).numpy())
    assert len(np.unique(np.concatenate([mask.ravel() for mask in found]))) > 1


def test_a_few_steps_learn_where_images_are_bright() -> None:
    task = segment(aux_weight=0.4)
    truth = np.zeros((32, 32), np.uint8)
    truth[:, 16:] = 1
    images = torch.from_numpy(truth).float().expand(4, 3, 32, 32)
    given = Batch({"image": images}, regions=[Regions(mask=truth)] * 4)
    optimizer = torch.optim.SGD(task.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(10):
        step = task.loss(given)
        optimizer.zero_grad()
        step.loss.backward()
        optimizer.step()
        losses.append(step.loss.item())
    assert losses[-1] < losses[0] / 2
    trained = {id(parameter) for parameter in task.parameters()}
    assert {id(parameter) for parameter in task.network.parameters()} == trained
    assert {id(parameter) for parameter in task.head.parameters()} < trained


def test_a_frozen_encoder_gets_no_gradient_and_keeps_its_statistics() -> None:
    task = segment().double()
    task.plan(TrainedParts(encoder="none"), TransferSchedule(steps=2))
    task.train()
    before = {key: value.clone() for key, value in task.encoder.state_dict().items()}
    task.loss(batch(masks((16, 24), (16, 24)))).loss.backward()
    assert all(parameter.grad is None for parameter in task.encoder.parameters())
    assert all(parameter.grad is not None for parameter in task.head.parameters())
    assert all(torch.equal(value, before[key]) for key, value in task.encoder.state_dict().items())
    assert task.head.training and not task.encoder.training


def test_the_encoder_can_be_held_while_the_head_is_trained_alone() -> None:
    task = segment().double()
    task.plan(TrainedParts(), TransferSchedule(steps=2))
    given = batch(masks((16, 24), (16, 24)))
    task.train()
    task.hold_encoder(True)
    task.loss(given).loss.backward()
    assert all(parameter.grad is None for parameter in task.encoder.parameters())
    assert not task.encoder.model.get_submodule("bn1").num_batches_tracked
    task.hold_encoder(False)
    task.loss(given).loss.backward()
    assert all(parameter.grad is not None for parameter in task.encoder.parameters())


def test_the_score_is_in_percent_and_ignores_images_without_a_mask() -> None:
    score = SegmentationScore(CLASSES)
    truth = np.array([[0, 0, 1, IGNORED]], np.uint8)
    examples = [Example(regions=Regions(mask=truth)), Example()]
    score.add([np.array([[0, 1, 1, 0]], np.uint8), np.zeros((2, 2), np.uint8)], examples)
    assert score.result() == pytest.approx(
        {"miou": 50.0, "pixel_accuracy": 100 * 2 / 3, "mean_accuracy": 75.0}
    )
    assert score.class_iou() == pytest.approx(
        {"background": 50.0, "cat": 50.0, "dog": float("nan")}, nan_ok=True
    )
    assert SegmentSettings.metric in score.result()


def test_other_encoders_and_heads_are_built_from_the_settings() -> None:
    vit = EncoderSettings(
        name="vit_tiny_patch16_224",
        options={"depth": 2, "embed_dim": 24, "num_heads": 2, "patch_size": 8, "img_size": 32},
    )
    task = segment(vit, head="torchvision", channels=None, aux_weight=0.0).double()
    assert task.stride == 8
    step = task.loss(batch(masks((16, 24))))
    assert step.metrics.keys() == {"pixel_accuracy"}
    deep_stem = TINY.model_copy(
        update={"options": {**TINY.options, "stem_type": "deep", "stem_width": 8}}
    )
    assert segment(deep_stem, output_stride=16).stride == 16


def test_it_is_found_by_name_and_validated() -> None:
    part = AnyTask.__metadata__[0]  # type: ignore[attr-defined]
    found = part.build({"name": "segment", "channels": 64, "output_stride": 16})
    assert isinstance(found, SegmentSettings) and isinstance(found, TaskSettings)
    assert (found.channels, found.output_stride) == (64, 16)
    for wrong in ({"output_stride": 5}, {"head": "unet"}, {"dropout": 1}, {"aux_weight": -1}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            build(SegmentSettings, wrong, "task 'segment'")
    with pytest.raises(UsageError, match="'channels' is for the head 'fcn'"):
        SegmentSettings(head="torchvision", channels=64)


class Masked(ImageSource):
    """A source with masks of some classes."""

    def __init__(self, classes: tuple[str, ...] | None) -> None:
        self.mask_classes = classes

    def __len__(self) -> int:
        return 0

    def image(self, index: int) -> ArrayImage:
        raise IndexError(index)

    def identity(self, index: int) -> str:
        return str(index)

    def fingerprint(self) -> str:
        return ""


def test_the_data_must_have_masks_of_at_most_255_classes() -> None:
    assert SegmentSettings().classes(Masked(CLASSES)) == CLASSES
    with pytest.raises(UsageError, match="needs masks"):
        SegmentSettings().classes(Masked(None))
    with pytest.raises(UsageError, match="at most 255 classes, and the data have 256"):
        SegmentSettings().classes(Masked(tuple(map(str, range(256)))))
    with pytest.raises(UsageError, match="needs masks"):
        segment().double().loss(Batch(batch(masks((16, 24))).views))
