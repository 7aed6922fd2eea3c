import numpy as np
import pytest

from tests.data.boxed import Boxed
from unshortcut.data.objects import EachObject, WithObjects
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError


def test_images_come_with_the_boxes_of_their_source() -> None:
    scenes = Shapes("scene", count=4)
    found = WithObjects(scenes)
    for index in range(4):
        image = found.image(index)
        np.testing.assert_array_equal(image.boxes, scenes.regions(index).boxes)
        np.testing.assert_array_equal(image.pixels(), scenes.image(index).pixels())


def test_ignored_and_small_boxes_are_no_objects() -> None:
    source = Boxed([[(0, 0, 10, 10), (0, 0, 3, 4), (5, 5, 9, 9)]], ignored=[[True, False, False]])
    assert WithObjects(source).boxes(0).tolist() == [[0, 0, 3, 4], [5, 5, 9, 9]]
    assert WithObjects(source, smallest=4).boxes(0).tolist() == [[5, 5, 9, 9]]


def test_an_epoch_over_objects_has_an_item_for_each_and_one_for_an_image_without() -> None:
    source = Boxed([[(0, 0, 5, 5), (1, 1, 9, 9)], [], [(2, 2, 4, 4)]])
    objects = WithObjects(source)
    assert objects.counts().tolist() == [2, 0, 1]
    each = EachObject(objects, objects.counts())
    assert [each.identity(index) for index in range(len(each))] == ["0", "0", "1", "2"]
    assert [each.image(index).chosen for index in range(len(each))] == [0, 1, None, 0]
    assert each.labels is not None
    assert each.labels.tolist() == [0, 0, 1, 2]
    assert len(each.image(0).boxes) == 2  # a group needs the other boxes too


def test_data_without_boxes_are_refused() -> None:
    with pytest.raises(UsageError, match="unshortcut propose"):
        WithObjects(Shapes("test", count=2))
