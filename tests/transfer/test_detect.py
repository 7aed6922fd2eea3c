"""The task `detect`: its loss, predictions in full images, score, and export."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from tests.small import TINY
from unshortcut.data.regions import Regions
from unshortcut.data.shapes.source import Shapes
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing, normalize
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch
from unshortcut.models.encoder import Encoder
from unshortcut.transfer.loading import load_detector
from unshortcut.transfer.metrics.average_precision import Detections
from unshortcut.transfer.parameters import TrainedParts
from unshortcut.transfer.schedule import TransferSchedule
from unshortcut.transfer.task import About, Example
from unshortcut.transfer.tasks.detect import Detect, DetectSettings

SIZE = 64
CLASSES = ("disk", "square")
LOSSES = {"loss_objectness", "loss_rpn_box_reg", "loss_classifier", "loss_box_reg"}


def detect(network: str = "fpn", **changes: float) -> Detect:
    torch.manual_seed(0)
    values = {"channels": 8, "hidden": 16, "region_samples": 32, "proposals": 50, **changes}
    settings = DetectSettings(network=network, **values)  # type: ignore[arg-type]
    return settings.build(Encoder(TINY), CLASSES, TrainingContext(size=SIZE))


def boxes(*corners: tuple[float, ...], ignored: bool = False) -> Regions:
    labels = np.arange(len(corners)) % len(CLASSES)
    return Regions.of_boxes(
        np.array(corners), labels, np.full(len(corners), ignored, dtype=np.bool_)
    )


def batch(count: int = 2, seed: int = 0) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    images = torch.randn(count, 3, SIZE, SIZE, generator=generator)
    regions = [boxes((4, 4, 30, 40), (34, 30, 60, 60)), boxes()][:count]
    return Batch({"image": images}, regions=regions)


def seeded_loss(task: Detect, given: Batch) -> Tensor:
    torch.manual_seed(1)
    return task.loss(given).loss


@pytest.mark.parametrize("network", ["c4", "fpn"])
def test_the_loss_is_the_sum_of_torchvisions_four(network: str) -> None:
    task = detect(network).train()
    given = batch()
    torch.manual_seed(1)
    output = task.loss(given)
    assert set(output.metrics) == LOSSES
    # The detector itself, which normalizes by its own transform; it does not resize in training.
    task.detector.transform.image_mean, task.detector.transform.image_std = [0.0] * 3, [1.0] * 3
    task.detector.transform._skip_resize = True
    targets = [
        {"boxes": torch.from_numpy(one.boxes), "labels": torch.from_numpy(one.box_labels + 1)}
        for one in given.regions or ()
    ]
    torch.manual_seed(1)
    expected = task.detector(list(given.views["image"]), targets)
    for name, value in expected.items():
        torch.testing.assert_close(output.metrics[name], value.detach())
    torch.testing.assert_close(output.loss, torch.stack(list(expected.values())).sum())


def test_all_randomness_is_torchs_global_generator() -> None:
    task = detect("c4", region_samples=8).train()
    first, second = seeded_loss(task, batch()), seeded_loss(task, batch())
    assert torch.equal(first, second)
    assert not torch.equal(task.loss(batch()).loss, task.loss(batch()).loss)


def test_ignored_boxes_and_slivers_are_not_trained_on() -> None:
    task = detect().train()
    given, without = batch(1), batch(1)
    assert given.regions is not None and without.regions is not None
    kept = boxes((4, 4, 30, 40))
    assert kept.boxes is not None and kept.box_labels is not None
    more = np.vstack([kept.boxes, [[5, 5, 5, 20]], [[34, 30, 60, 60]]])
    ignored = np.array([False, False, True])
    given.regions = [Regions.of_boxes(more, np.array([0, 0, 1]), ignored)]
    without.regions = [kept]
    assert torch.equal(seeded_loss(task, given), seeded_loss(task, without))


def test_padding_of_the_loader_is_replaced_by_zeros() -> None:
    task = detect().train()
    small = torch.randn(1, 3, 40, 50)
    regions = [boxes((4, 4, 30, 36))]
    padded = torch.full((1, 3, 48, 56), 9.0)
    padded[:, :, :40, :50] = small
    sizes = torch.tensor([[40, 50]])
    alone = seeded_loss(task, Batch({"image": small}, regions=regions))
    assert torch.equal(
        seeded_loss(task, Batch({"image": padded}, regions=regions, sizes=sizes)), alone
    )


def test_a_few_steps_on_scenes_lower_the_loss() -> None:
    torch.manual_seed(0)
    scenes = [Shapes("scene", size=SIZE, count=4).scene(index) for index in range(4)]
    task = DetectSettings(network="fpn", channels=8, hidden=16, region_samples=32).build(
        Encoder(TINY), [str(label) for label in range(10)], TrainingContext(size=SIZE)
    )
    pixels = torch.from_numpy(np.stack([one.image for one in scenes])).permute(0, 3, 1, 2)
    regions = [Regions.of_boxes(one.boxes, one.shape_labels) for one in scenes]
    given = Batch({"image": task.normalize(pixels)}, regions=regions)
    optimizer = torch.optim.AdamW(task.train().parameters(), lr=3e-3)
    losses = []
    for _ in range(20):
        loss = seeded_loss(task, given)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_boxes_are_predicted_in_pixels_of_the_full_images() -> None:
    task = detect(score_threshold=0.0).eval()
    images = torch.randn(3, 3, SIZE, 80)
    sizes = torch.tensor([[64, 80], [48, 64], [64, 80]])
    same = [Example(height=height, width=width) for height, width in sizes.tolist()]
    larger = [Example(height=2 * one.height, width=3 * one.width) for one in same]
    for one, other, size in zip(
        task.predict(images, sizes, same), task.predict(images, sizes, larger), sizes, strict=True
    ):
        assert len(one.boxes) > 10
        np.testing.assert_allclose(other.boxes, one.boxes * [3, 2, 3, 2], rtol=1e-5)
        assert one.boxes[:, [0, 2]].max() <= size[1] and one.boxes[:, [1, 3]].max() <= size[0]
        assert set(one.labels) <= {0, 1}


@pytest.mark.parametrize("network", ["c4", "fpn"])
def test_a_head_that_is_trained_first_leaves_the_encoder_alone(network: str) -> None:
    task = detect(network).train()
    task.plan(TrainedParts(), TransferSchedule(epochs=1))
    before = {name: one.clone() for name, one in task.encoder.state_dict().items()}
    task.hold_encoder(True)
    task.loss(batch()).loss.backward()
    assert all(one.grad is None for one in task.encoder.parameters())
    assert all(one.grad is not None for one in task.head.parameters())
    assert all(torch.equal(before[name], one) for name, one in task.encoder.state_dict().items())
    task.hold_encoder(False)
    task.loss(batch()).loss.backward()
    assert all(one.grad is not None for one in task.encoder.parameters())


def test_the_score_in_percent() -> None:
    truth = Example(regions=boxes((0, 0, 10, 10), (20, 20, 40, 40)), height=64, width=64)
    found = np.array([[0, 0, 10, 10], [50, 50, 60, 60]], np.float32)
    score = detect().score()
    score.add([Detections(found, np.array([0, 1]), np.array([0.9, 0.8], np.float32))], [truth])
    result = score.result()
    assert result == pytest.approx(
        {"ap": 50, "ap50": 50, "ap75": 50, "voc_ap50": 50, "voc_ap50_11pt": 50}
    )
    assert DetectSettings.metric in result
    nothing = detect().score()
    nothing.add(
        [Detections(found[:0], np.array([], np.int64), np.array([]))], [Example(regions=boxes())]
    )
    unknown = nothing.result()
    assert unknown.keys() == result.keys() and all(map(math.isnan, unknown.values()))


@pytest.mark.parametrize("network", ["c4", "fpn"])
def test_an_exported_detector_is_torchvisions_and_finds_the_same(
    network: str, tmp_path: Path
) -> None:
    task = detect(network, score_threshold=0.0).eval()
    preprocessing = Preprocessing(size=SIZE, mean=(0.4, 0.5, 0.6), std=(0.2, 0.3, 0.2))
    task.save(tmp_path / "detector.safetensors", About(CLASSES, preprocessing))
    detector = load_detector(tmp_path)
    assert detector.classes == ("background", *CLASSES)
    pixels = torch.randint(0, 256, (1, 3, SIZE, 80), dtype=torch.uint8)
    (found,) = detector([pixels[0] / 255])
    sizes = torch.tensor([[SIZE, 80]])
    example = Example(height=SIZE, width=80)
    (expected,) = task.predict(normalize(pixels, preprocessing), sizes, [example])
    np.testing.assert_allclose(found["boxes"].detach().numpy(), expected.boxes, atol=1e-3)
    assert (found["labels"].numpy() == expected.labels + 1).all()


def test_tensors_are_saved_once_and_loaded_into_all_their_places(tmp_path: Path) -> None:
    task, other = detect("c4"), detect("c4")
    state = task.state_dict()
    pointers = [one.data_ptr() for one in state.values() if one.numel()]
    assert len(pointers) == len(set(pointers))
    with torch.no_grad():
        task.detector.roi_heads.box_head.res5[0].conv1.weight.fill_(3)
    other.load_state_dict(task.state_dict())
    assert (other.encoder.model.layer4[0].conv1.weight == 3).all()  # type: ignore[index, union-attr]
    task.save(tmp_path / "detector.safetensors", About(CLASSES, Preprocessing(size=SIZE)))
    assert not any("res5" in name for name in load_file(tmp_path / "detector.safetensors"))


def test_bad_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no detector and no segmenter"):
        load_detector(tmp_path)
    task = detect()
    weights = tmp_path / "detector.safetensors"
    task.save(weights, About((*CLASSES, "another"), Preprocessing(size=SIZE)))
    with pytest.raises(UsageError, match="does not fit its card"):
        load_detector(weights)
