import numpy as np

from unshortcut.imaging.box_ranking import color_histograms, contrast, covered, overlaps, suppress


def boxes(*rows: tuple[int, int, int, int]) -> np.ndarray:
    return np.array(rows, np.float32)


def test_overlap_is_intersection_over_union() -> None:
    found = overlaps(boxes((0, 0, 4, 4)), boxes((0, 0, 4, 4), (2, 0, 6, 4), (5, 5, 6, 6)))
    np.testing.assert_allclose(found, [[1, 1 / 3, 0]])


def test_a_box_is_covered_from_half_of_the_union_on() -> None:
    annotated = boxes((0, 0, 4, 4), (10, 0, 14, 4))
    assert covered(annotated, boxes((0, 0, 4, 2), (13, 0, 14, 4))).tolist() == [True, False]
    assert covered(annotated, annotated[:0]).tolist() == [False, False]


def test_the_best_boxes_are_kept_that_do_not_overlap() -> None:
    found = boxes((0, 0, 4, 4), (0, 0, 4, 5), (8, 8, 9, 9), (20, 20, 30, 30))
    scores = np.array([0.5, 0.9, 0.1, 0.2], np.float32)
    assert suppress(found, scores, most=10).tolist() == [1, 3, 2]
    assert suppress(found, scores, most=2).tolist() == [1, 3]


def test_the_contrast_is_that_of_the_box_and_the_ring_around_it() -> None:
    cells = np.zeros((12, 12, 2), np.float32)
    cells[4:8, 4:8, 0] = 3
    rows = np.array([[4, 4, 8, 8], [0, 0, 2, 2], [0, 0, 12, 12], [4, 4, 8, 6]])
    found = contrast(cells, rows)
    inside = cells[4:8, 3:9][:, :, 0]  # the ring of the last box is one cell wide
    ring = (cells[3:7, 3:9, 0].sum() - cells[4:6, 4:8, 0].sum()) / (24 - 8)
    assert inside.max() == 3
    np.testing.assert_allclose(found, [3, 0, 0, 3 - ring], atol=1e-6)


def test_disjoint_colors_have_the_contrast_1() -> None:
    image = np.zeros((20, 20, 3), np.uint8)
    image[5:15, 5:15] = (255, 0, 0)
    found = contrast(color_histograms(image), np.array([[5, 5, 15, 15]]), histograms=True)
    np.testing.assert_allclose(found, [1])
