"""Parts of tables."""

import numpy as np

from unshortcut.measuring.exhibits import Column, picture, picture_pixels, rows_each


def test_an_estimate_has_a_column_for_its_value_and_two_for_its_interval() -> None:
    value, low, high = Column.estimate("Bias", percent=True, tip="of shape", of="bias")
    assert value == Column("Bias", percent=True, tip="of shape")
    assert low == Column(
        "From", percent=True, tip="lower end of the 95 % interval of the bias", interval=True
    )
    assert high == Column(
        "To", percent=True, tip="upper end of the 95 % interval of the bias", interval=True
    )
    _, low, _ = Column.estimate("Cosine", digits=2)
    assert low == Column(
        "From", digits=2, tip="lower end of the 95 % interval of the value before", interval=True
    )


def test_pictures_are_shrunk_and_tiny_ones_keep_every_pixel() -> None:
    rng = np.random.default_rng(0)
    smooth = np.kron(
        rng.integers(0, 255, (4, 4, 3), dtype=np.uint8), np.ones((60, 60, 1), np.uint8)
    )
    shown = picture(smooth)
    assert shown.source.startswith("data:image/webp;")
    assert picture_pixels(shown).shape == (112, 112, 3)
    assert abs(int(picture_pixels(shown)[8, 8, 0]) - int(smooth[17, 17, 0])) < 12
    tiny = rng.integers(0, 255, (32, 32, 3), dtype=np.uint8)
    assert np.array_equal(picture_pixels(picture(tiny)), tiny)


def test_many_models_get_fewer_rows_each_and_one_gets_all() -> None:
    assert [rows_each(8, models) for models in (1, 2, 3, 5, 20)] == [8, 8, 4, 2, 2]
