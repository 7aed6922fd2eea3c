"""Objects out of context: a model that sees mean colors finds the color that differs."""

import math

import numpy as np
import pytest

from tests.measurements.painted_scenes import Painted, painted_subject
from unshortcut.measurements.out_of_context import OutOfContext, OutOfContextResult
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.odd_objects import SceneObjects
from unshortcut.measuring.subjects.subject import Subject

SCENES = [
    ("red", "red", "GREEN"),
    ("BLUE", "green", "green", "green"),
    ("red", "RED", "blue", "blue"),  # its odd object is as far as another one
    ("red", "red", "red"),  # nothing is odd
]


def measured(subject: Subject) -> OutOfContextResult:
    return OutOfContext().measure(subject, lambda done, total: None)


def test_the_odd_color_is_farthest_from_its_scene() -> None:
    result = measured(painted_subject(Painted(SCENES[:2])))
    assert (result.num_scenes, result.num_objects) == (2, 7)
    assert result.chance == pytest.approx((1 / 3 + 1 / 4) / 2)
    for found in result.detections.values():
        assert (found.auroc.value, found.found.value) == (1.0, 1.0)
    metrics = OutOfContext().metrics(result, None)
    assert set(metrics) == set(OutOfContext.gives)
    assert metrics["out_of_context_gain"].value == 0


def test_without_a_ball_there_is_the_cosine_alone() -> None:
    result = measured(painted_subject(Painted(SCENES[:2]), curvature=None))
    assert list(result.detections) == ["cosine"] and result.gain is None
    metrics = OutOfContext().metrics(result, None)
    assert set(metrics) == {"out_of_context_cosine_auroc", "out_of_context_cosine_found"}
    assert metrics["out_of_context_cosine_auroc"].headline


def test_scenes_show_their_objects_from_the_farthest_to_the_nearest() -> None:
    (scene, *objects) = measured(painted_subject(Painted(SCENES[:2]))).shown[1].pictures
    assert scene.caption == "scene"
    assert [one.mark for one in objects] == ["good", "", "", ""]
    assert float(objects[0].caption) > float(objects[1].caption)


def test_scenes_without_an_odd_object_do_not_count() -> None:
    assert measured(painted_subject(Painted(SCENES))).num_scenes == 3


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (Painted(SCENES, marked=False), "the data do not say which objects are out of context"),
        (Painted([("red", "green"), ("RED",)]), "no image has an object that is out of context"),
        (Painted([()]), "the data have no boxes of objects"),
    ],
)
def test_data_without_odd_objects_get_a_reason(source: Painted, reason: str) -> None:
    with pytest.raises(NotApplicable, match=reason):
        measured(painted_subject(source))


def test_the_hyperbolic_distance_is_that_of_the_formula() -> None:
    subject = painted_subject(Painted(SCENES[:1]), curvature=0.5)
    ball = subject.model.ball
    assert ball is not None
    one, other = np.float32([[0.3, -1.0], [0, 0]]), np.float32([[0.5, 0.2], [3.0, 4.0]])
    c = 0.5
    for number, found in enumerate(ball.distances(one, other)):
        points = []
        for vector in (one[number].astype(float), other[number].astype(float)):
            length = math.hypot(*vector) or 1.0
            points.append(math.tanh(math.sqrt(c) * length) * vector / (math.sqrt(c) * length))
        x, y = points
        inner = (1 - c * x @ x) * (1 - c * y @ y)
        exact = math.acosh(1 + 2 * c * (x - y) @ (x - y) / inner) / math.sqrt(c)
        assert found == pytest.approx(exact, rel=1e-4)
    assert ball.norms(other)[1] == pytest.approx(5.0)


def test_a_gain_is_the_difference_of_two_rankings_of_the_same_objects() -> None:
    odd = np.array([True, False, False, True, False, False])
    scenes = np.array([0, 0, 0, 5, 5, 5])
    objects = SceneObjects(np.arange(6), scenes, odd)
    right, wrong = odd.astype(float), 1 - odd.astype(float)
    assert objects.gain(right, wrong).value == 1
    assert objects.detection(wrong).found.value == 0 and objects.detection(wrong).auroc.value == 0
    # Two of the four others are farther than the odd one of the first scene.
    mixed = np.array([2.0, 3.0, 1.0, 9.0, 4.0, 0.0])
    found = objects.detection(mixed)
    assert found.auroc.value == pytest.approx(6 / 8) and found.found.value == 0.5
