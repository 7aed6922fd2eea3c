"""Parts of an image that can be cut out: of one size, over all of it, at places with a name."""

import numpy as np
import pytest

from unshortcut.measurements.transplant.regions import CELLS, Region, paste, regions, touched


def _at(found: tuple[Region, ...], position: str) -> Region:
    return next(one for one in found if one.position == position)


@pytest.mark.parametrize("side", [64, 128, 224])
def test_regions_have_a_sixteenth_of_the_area_each_and_cover_all_of_it(side: int) -> None:
    found = regions(side)
    assert len(found) == 7 * 7 + 4 + 1
    areas = [one.mask.mean() for one in found]
    np.testing.assert_allclose(areas, 1 / 16, rtol=0.2)
    assert np.logical_or.reduce([one.mask for one in found[:49]]).all()
    assert all(one.mask.shape == (side, side) for one in found)


def test_with_whole_steps_squares_lie_side_by_side() -> None:
    found = regions(64, steps=1)
    assert len(found) == 16 + 5
    squares = np.sum([one.mask for one in found[:16]], axis=0)
    assert (squares == 1).all()
    fine = {one.box for one in regions(64)}
    assert {one.box for one in found} <= fine


def test_small_and_odd_sizes_have_all_regions() -> None:
    for side in (8, 9, 31):
        found = regions(side)
        assert len(found) == 54
        assert all(one.mask.any() and not one.mask.all() for one in found)


def test_places_are_named_after_where_they_are() -> None:
    found = regions(64)
    assert found[0].box == (0, 0, 16, 16) and found[0].position == "top left"
    assert found[6].box == (48, 0, 64, 16) and found[6].position == "top right"
    assert found[24].box == (24, 24, 40, 40) and found[24].position == "center"
    assert found[42].box == (0, 48, 16, 64) and found[42].position == "bottom left"
    assert _at(found, "along the left edge").mask[:, :4].all()
    frame = _at(found, "all around the edge")
    assert frame.mask[0].all() and frame.mask[:, -1].all() and not frame.mask[1:-1, 1:-1].any()


def test_paste_takes_the_region_of_the_donor_and_the_rest_of_the_host() -> None:
    host, donor = np.zeros((16, 16, 3), np.uint8), np.full((16, 16, 3), 200, np.uint8)
    made = paste(host, donor, regions(16)[0])
    assert (made[:4, :4] == 200).all() and made.sum() == 4 * 4 * 3 * 200
    assert made.dtype == np.uint8 and host.sum() == 0


def test_touched_are_the_cells_of_the_grid_that_a_region_has_a_pixel_of() -> None:
    found = regions(64)
    assert touched(found[1]).sum() == 4 and touched(found[1])[:2, 1:3].all()
    frame = touched(_at(found, "all around the edge"))
    assert frame.sum() == 4 * (CELLS - 1) and not frame[1:-1, 1:-1].any()
