"""What properties tell of the class: planted cues are found, clean data raise hardly an alarm."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tests.inspection import planted
from tests.inspection.planted import Save, write_images
from unshortcut.data.open import open_data
from unshortcut.data.shapes import Shapes
from unshortcut.inspection.association import Associations, associate, class_aucs
from unshortcut.properties.columns import PROPERTIES, Column
from unshortcut.properties.reading import inspect_source


def associations(folder: Path) -> Associations:
    inspected = inspect_source(open_data(folder))
    assert inspected.labels is not None and inspected.source.classes is not None
    found = associate(inspected.columns, inspected.labels, inspected.source.classes)
    assert isinstance(found, Associations)
    return found


@pytest.mark.parametrize(
    ("save", "alarms"),
    [
        (planted.quality_by_class, {"jpeg_quality"}),
        (planted.size_by_class, {"width", "aspect"}),
    ],
)
def test_a_property_of_files_that_tells_the_class_is_an_alarm(
    save: Save, alarms: set[str], tmp_path: Path
) -> None:
    found = associations(write_images(tmp_path, save))
    assert {one.about.name for one in found.alarms} == alarms
    assert found.alarms[0].strength > 0.4 and found.alarms[0].p_value == 0.001


def test_a_tint_tells_the_class_and_is_listed_apart(tmp_path: Path) -> None:
    found = associations(write_images(tmp_path, planted.tinted))
    assert not found.alarms
    telling = {one.about.name: one for one in found.of("content") if one.significant}
    assert telling["green"].strongest == 0 and telling["green"].aucs[0] < 0.2
    assert {one.about.name for one in found.constant} >= {"width", "jpeg_quality", "exif"}


def test_ten_clean_data_sets_raise_at_most_one_alarm(tmp_path: Path) -> None:
    alarms = 0
    for seed in range(10):
        folder = write_images(tmp_path / str(seed), planted.clean, seed=seed, size=24, count=90)
        found = associations(folder)
        varying = {one.about.name for one in found.of("file")}
        assert {"width", "height", "aspect", "jpeg_quality"} <= varying
        alarms += len(found.alarms)
    assert alarms <= 1


def test_formats_and_exif_data_are_alarms(tmp_path: Path) -> None:
    write_images(tmp_path / "a", count=60, classes=2)
    for path in (tmp_path / "a" / "class1").iterdir():
        path.rename(path.with_suffix(".jpg"))
    write_images(tmp_path / "b", count=60, classes=2, extension="png")
    for path in (tmp_path / "a" / "class0").iterdir():
        path.unlink()
    (tmp_path / "b" / "class0").rename(tmp_path / "a" / "class0" / "png")
    found = associations(tmp_path / "a")
    alarms = {one.about.name: one for one in found.alarms}
    assert {"format", "jpeg_quality", "subsampling"} <= set(alarms)
    assert alarms["format"].accuracy == 1 and alarms["format"].typical == ("PNG", "JPEG")
    assert alarms["jpeg_quality"].typical == ("no JPEG", "90")


def test_images_without_files_have_sizes_and_pixels_only() -> None:
    inspected = inspect_source(Shapes("test", size=24, count=24))
    assert not inspected.has_files
    assert set(inspected.columns) == {"width", "height", "aspect"} | {
        name for name, one in PROPERTIES.items() if one.kind == "content"
    } - {"bytes_per_pixel"}


def test_aucs_equal_those_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, 200)
    values = np.round(random.normal(size=200) + labels, 1)  # with ties
    aucs = class_aucs(Column(PROPERTIES["red"], values), labels, 4)
    expected = [roc_auc_score(labels == k, values) for k in range(3)]
    np.testing.assert_allclose(aucs[:3], expected)
    assert np.isnan(aucs[3]), "a class without images has none"


def test_the_auc_of_categories_is_that_of_the_most_telling_one() -> None:
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    categories = np.array([2.0, 2, 2, 1, 0, 1, 0, 1])
    aucs = class_aucs(Column(PROPERTIES["camera"], categories), labels, 2)
    assert aucs[0] == (1 + 3 / 4) / 2


def test_the_null_is_the_maximum_over_all_properties() -> None:
    """A dozen properties of noise: the best of them is significant in about 1 % of the sets."""
    significant = 0
    labels = np.arange(60) % 2
    for seed in range(20):
        random = np.random.default_rng(seed)
        columns = {
            str(number): Column(PROPERTIES["red"], random.normal(size=60)) for number in range(12)
        }
        found = associate(columns, labels, ("a", "b"), seed=seed, permutations=199)
        assert isinstance(found, Associations)
        significant += any(one.significant for one in found.found)
    assert significant <= 2


def test_too_few_images_are_a_reason() -> None:
    columns = {"red": Column(PROPERTIES["red"], np.arange(6.0))}
    found = associate(columns, np.arange(6) % 2, ("a", "b"))
    assert isinstance(found, str) and "at least 10 images" in found
