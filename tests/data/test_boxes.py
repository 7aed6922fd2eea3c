"""Boxes as they are read: what is kept, clipped, left out and listed."""

import numpy as np
import pytest

from unshortcut.data.boxes import BoxReader
from unshortcut.data.regions import presence
from unshortcut.errors import UsageError


def no_size(index: int) -> tuple[int, int]:
    raise AssertionError("boxes in pixels need no size")


def test_bad_boxes_are_listed_and_the_rest_goes_on() -> None:
    reader = BoxReader(("cat", "dog"))
    size = (6, 8)
    reader.add(1, "b", "dog", ("1", "2", "3.5", "4"), size)
    reader.add(0, "a", "cat", (-3, -1, 4, 9), size)  # partly outside: clipped
    reader.add(0, "a", "cat", (3, 1, 3, 4), size)
    reader.add(0, "a", "dog", (8, 0, 12, 4), size)
    reader.add(0, "a", "cow", (0, 0, 4, 4), size)
    reader.add(2, "c", "cat", ("0", "x", "4", "4"), size)
    reader.add(2, "c", "cat", (0, 0, 4, float("nan")), size)
    reader.add(2, "c", "cat", (0, 0, 4), size)
    table = reader.table(4, "boxes.csv")
    assert [(one.identity, one.reason.split(":")[0]) for one in reader.left_out] == [
        ("a", "a box of 'cat' has no area"),
        ("a", "a box of 'dog' is outside the image"),
        ("a", "a box of the unknown class 'cow'"),
        ("c", "a box of 'cat' is not four numbers"),
        ("c", "a box of 'cat' is not four numbers"),
        ("c", "a box of 'cat' is not four numbers"),
    ]
    found = [table.regions(index, no_size) for index in range(4)]
    assert [one.boxes.tolist() for one in found if one.boxes is not None] == [
        [[0, 0, 4, 6]],
        [[1, 2, 3.5, 4]],
        [],
        [],
    ]
    assert found[1].box_labels is not None and found[1].box_labels.tolist() == [1]
    assert found[3].boxes is not None and found[3].boxes.shape == (0, 4)


def test_relative_boxes_are_clipped_at_1_and_scaled_by_the_size_of_the_image() -> None:
    reader = BoxReader(("cat",), relative=True)
    reader.add(0, "a", "cat", (0.5, 0.25, 1.2, 1.0))
    reader.add(0, "a", "cat", (1.0, 0.0, 1.2, 1.0))
    table = reader.table(1, "labels")
    boxes = table.regions(0, lambda index: (8, 10)).boxes
    assert boxes is not None and boxes.tolist() == [[5, 2, 10, 8]]
    assert [one.identity for one in reader.left_out] == ["a"]


def test_only_wrong_boxes_are_an_error() -> None:
    reader = BoxReader(("cat",))
    reader.add(0, "a", "dog", (0, 0, 4, 4))
    with pytest.raises(UsageError, match=r"none of the boxes in boxes\.csv .* class 'dog'"):
        reader.table(1, "boxes.csv")
    assert len(BoxReader(("cat",)).table(3, "x").ends) == 3


def test_taking_images_takes_their_boxes_and_labels() -> None:
    rng = np.random.default_rng(0)
    counts, classes = [2, 0, 3, 1, 0, 4], ("a", "b", "c")
    reader = BoxReader(classes)
    for image, count in enumerate(counts):
        for _ in range(count):
            x, y, w, h = rng.integers(1, 9, size=4).tolist()
            name, ignored = classes[rng.integers(3)], bool(rng.integers(2))
            reader.add(image, str(image), name, (x, y, x + w, y + h), ignored=ignored)
    table = reader.table(len(counts), "x")
    order = np.array([5, 1, 2, 2, 0])
    taken = table.take(order)
    for row, image in enumerate(order):
        ours, theirs = taken.regions(row, no_size), table.regions(int(image), no_size)
        for name in ("boxes", "box_labels", "ignored"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    regions = [table.regions(image, no_size) for image in range(len(counts))]
    labels = [one.box_labels for one in regions if one.box_labels is not None]
    ignored_boxes = [one.ignored for one in regions if one.ignored is not None]
    expected = presence(labels, ignored_boxes, classes)
    np.testing.assert_array_equal(table.presence(classes).values, expected.values)
