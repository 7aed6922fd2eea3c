"""Average precision: by hand, beside COCO's evaluator, and with ignored objects."""

import numpy as np
import pytest

from unshortcut.data.regions import Regions
from unshortcut.transfer.metrics.average_precision import (
    Detections,
    area_under,
    coco_precision,
    eleven_point_mean,
    iou,
    precision_recall,
    voc_precision,
)


def at(*corners: tuple[float, float]) -> np.ndarray:
    """Boxes of 10 × 10 pixels."""
    return np.array([[x, y, x + 10, y + 10] for x, y in corners], dtype=np.float32).reshape(-1, 4)


def found(*entries: tuple[tuple[float, float], int, float]) -> Detections:
    corners, labels, scores = zip(*entries, strict=True) if entries else ((), (), ())
    return Detections(at(*corners), np.array(labels, np.int64), np.array(scores, np.float32))


def test_iou_of_shifted_boxes() -> None:
    boxes = at((0, 0), (5, 0), (5, 5), (20, 20))
    np.testing.assert_allclose(iou(boxes[0], boxes), [1, 50 / 150, 25 / 175, 0])


def test_a_case_by_hand() -> None:
    # Two images with three objects of class 0. In order of scores: right, a second detection of the
    # same object (wrong), right, beside every object (wrong); one object is missed.
    annotations = [
        Regions.of_boxes(at((0, 0), (50, 50)), np.array([0, 0])),
        Regions.of_boxes(at((0, 0)), np.array([0])),
    ]
    detections = [
        found(((0, 0), 0, 0.9), ((1, 0), 0, 0.8)),
        found(((1, 1), 0, 0.7), ((50, 50), 0, 0.6)),
    ]
    curves = precision_recall(detections, annotations, 0)
    assert curves is not None
    np.testing.assert_allclose(curves[0], [1, 1 / 2, 2 / 3, 2 / 4])
    np.testing.assert_allclose(curves[1], [1 / 3, 1 / 3, 2 / 3, 2 / 3])
    result = voc_precision(detections, annotations, num_classes=2)
    # Recalls 0 to .3 have precision 1, recalls .4 to .6 have 2 / 3, the others 0.
    np.testing.assert_allclose(result.area, [1 / 3 + 1 / 3 * 2 / 3, np.nan])
    np.testing.assert_allclose(result.eleven_points, [(4 + 3 * 2 / 3) / 11, np.nan])


def test_the_eleven_points_include_a_recall_that_is_met_exactly() -> None:
    recall = np.arange(1, 11) / 10
    assert eleven_point_mean(np.ones(10), recall) == 1
    assert eleven_point_mean(np.ones(3), recall[:3]) == pytest.approx(4 / 11)
    assert eleven_point_mean(np.ones(0), np.ones(0)) == area_under(np.ones(0), np.ones(0)) == 0


def test_ignored_objects_count_neither_way() -> None:
    boxes, labels = at((0, 0), (50, 50)), np.array([0, 0])
    ignored = Regions.of_boxes(boxes, labels, ignored=np.array([False, True]))
    detections = [found(((50, 50), 0, 0.9), ((51, 50), 0, 0.8), ((0, 0), 0, 0.7))]
    assert voc_precision(detections, [ignored], 1).area[0] == 1
    assert coco_precision(detections, [ignored])["ap50"] == pytest.approx(1)
    assert voc_precision(detections, [Regions.of_boxes(boxes, labels)], 1).area[0] < 1
    nothing_counts = Regions.of_boxes(boxes, labels, ignored=np.array([True, True]))
    assert np.isnan(voc_precision(detections, [nothing_counts], 1).area[0])
    assert np.isnan(coco_precision(detections, [nothing_counts])["ap50"])


def test_each_iou_threshold_has_its_own_result() -> None:
    annotation = [Regions.of_boxes(np.array([[0, 0, 100, 100]], np.float32), np.array([0]))]
    box = np.array([[0, 0, 100, 77]], np.float32)  # an IoU of .77: right at .50, …, .75
    detection = [Detections(box, np.array([0]), np.array([0.5], np.float32))]
    result = coco_precision(detection, annotation)
    assert result == pytest.approx({"ap": 0.6, "ap50": 1, "ap75": 1})
    assert voc_precision(detection, annotation, 1, iou_threshold=0.8).area[0] == 0


def test_the_area_is_cocos_up_to_its_interpolation() -> None:
    """COCO samples 101 recalls where VOC integrates; the precision falls with the recall."""
    rng = np.random.default_rng(0)
    annotations, detections = [], []
    for _ in range(60):
        count = rng.integers(0, 6)
        corners = rng.uniform(0, 90, (count, 2))
        boxes = np.hstack([corners, corners + rng.uniform(10, 40, (count, 2))])
        labels = rng.integers(0, 3, count)
        moved = boxes + rng.normal(0, 3, boxes.shape)
        others = rng.uniform(0, 60, (4, 2))
        guessed = np.hstack([others, others + rng.uniform(10, 40, (4, 2))])
        annotations.append(Regions.of_boxes(boxes.astype(np.float32), labels))
        detections.append(
            Detections(
                np.vstack([moved, guessed]).astype(np.float32),
                np.concatenate([labels, rng.integers(0, 3, 4)]),
                rng.permutation(np.linspace(0.01, 0.99, count + 4)).astype(np.float32),
            )
        )
    ours = voc_precision(detections, annotations, 3)
    theirs = coco_precision(detections, annotations)["ap50"]
    assert 0.2 < theirs < 0.8
    assert np.mean(ours.area) == pytest.approx(theirs, abs=0.01)


def test_images_without_detections_or_objects() -> None:
    nothing = Regions.of_boxes(at(), np.array([]))
    one = Regions.of_boxes(at((0, 0)), np.array([0]))
    assert voc_precision([found(), found()], [nothing, one], 1).area[0] == 0
    assert coco_precision([found(), found()], [nothing, one])["ap"] == 0
    wrong_in_empty = [found(((0, 0), 0, 0.9)), found(((0, 0), 0, 0.8))]
    assert voc_precision(wrong_in_empty, [nothing, one], 1).area[0] == 0.5
    assert coco_precision(wrong_in_empty, [nothing, one])["ap50"] == pytest.approx(0.5)


def test_a_rank_evaluates_without_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def exchange(*given: object, **options: object) -> None:
        raise AssertionError("waits for the other ranks")

    monkeypatch.setattr("torchmetrics.metric.Metric._sync_dist", exchange)
    monkeypatch.setattr("torch.distributed.is_initialized", lambda: True)
    annotations = [Regions.of_boxes(at((0, 0)), np.array([0]))]
    assert coco_precision([found(((0, 0), 0, 0.9))], annotations)["ap"] == pytest.approx(1)
