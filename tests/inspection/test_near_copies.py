"""Copies are found within and between splits, however they were changed, and nothing else is."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from tests.inspection.planted import write_images
from unshortcut.data.open import open_data
from unshortcut.inspection.alignment import aligned_correlation
from unshortcut.inspection.collection import Collection
from unshortcut.inspection.copy_calibration import threshold
from unshortcut.inspection.hash_pairs import distance_counts, near_pairs
from unshortcut.inspection.near_copies import find_copies, groups_of
from unshortcut.properties.pixel_facts import pixel_facts
from unshortcut.properties.reading import inspect_source


def pattern(seed: int, side: int = 128) -> np.ndarray:
    """A smooth random image."""
    small = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(small, (side, side), interpolation=cv2.INTER_CUBIC))


def test_a_flip_is_known_without_computing_the_hash_again() -> None:
    image = pattern(0)
    flipped = np.ascontiguousarray(image[:, ::-1])
    assert pixel_facts(image).mirrored == pixel_facts(flipped).hash != pixel_facts(image).hash


def test_hashes_of_a_changed_image_are_near_and_those_of_others_far() -> None:
    own = pixel_facts(pattern(0)).hash
    lighter = cv2.convertScaleAbs(pattern(0), alpha=0.8, beta=30)
    blurred = cv2.GaussianBlur(pattern(0), (0, 0), 2)
    for copy in (lighter, blurred):
        assert (own ^ pixel_facts(np.asarray(copy)).hash).bit_count() <= 6
    assert min((own ^ pixel_facts(pattern(k)).hash).bit_count() for k in range(1, 20)) > 12


def test_pairs_are_those_of_a_plain_loop() -> None:
    random = np.random.default_rng(0)
    hashes = random.integers(0, 2**63, 80, dtype=np.uint64)
    hashes[40:60] = hashes[:20] ^ np.uint64(0b1011)
    expected = [
        (i, j, (int(hashes[i]) ^ int(hashes[j])).bit_count())
        for i in range(80)
        for j in range(i + 1, 80)
    ]
    counts = distance_counts(hashes, hashes)
    assert counts.tolist() == np.bincount([one[2] for one in expected], minlength=65).tolist()
    pairs, distances = near_pairs(hashes, hashes, 12)
    near = [one for one in expected if one[2] <= 12]
    assert len(near) >= 20
    assert sorted(zip(*pairs.T.tolist(), distances.tolist(), strict=True)) == near


def test_alignment_undoes_a_crop_but_makes_no_other_image_equal() -> None:
    image = pattern(1, 96)
    whole = np.asarray(cv2.resize(image, (64, 64), interpolation=cv2.INTER_AREA))
    cropped = np.asarray(cv2.resize(image[5:-3, 4:-4], (64, 64), interpolation=cv2.INTER_AREA))
    plain = np.corrcoef(whole.reshape(-1), cropped.reshape(-1))[0, 1]
    assert aligned_correlation(whole, cropped) > 0.99 > plain
    assert aligned_correlation(whole, np.asarray(cv2.resize(pattern(2), (64, 64)))) < 0.8
    gray = np.full((64, 64, 3), 100, np.uint8)
    assert aligned_correlation(gray, gray + np.uint8(1)) == 1
    assert aligned_correlation(gray, gray + np.uint8(90)) == aligned_correlation(gray, whole) == 0


def test_a_common_tint_makes_no_copies() -> None:
    """Mean colors do not count, but the colors of what is shown do."""
    tint = np.array([0, 20, 160])
    one, other = (np.asarray(cv2.resize(pattern(k), (64, 64))) // 4 + tint for k in (3, 4))
    assert aligned_correlation(one.astype(np.uint8), other.astype(np.uint8)) < 0.6
    square = np.zeros((64, 64, 3), np.uint8)
    square[16:48, 16:48, 0] = 200
    assert aligned_correlation(square, np.ascontiguousarray(square[:, :, ::-1])) < 0.1


def test_the_threshold_lies_above_what_mirrored_images_reach() -> None:
    own = np.full(20, 0.99)
    scores = np.array([0.5, 0.93, 0.97, 0.98])
    assert threshold(scores, np.array([0.94, 0.6]), own) == 0.97
    assert threshold(scores, np.array([0.4]), own) == 0.9, "never lower than this"
    assert threshold(scores, np.full(50, 1.0), own) == 0.99, "mirrored copies in the data"


def test_groups_join_pairs() -> None:
    pairs = np.array([[5, 6], [0, 1], [1, 2], [2, 7]])
    assert groups_of(pairs) == ((0, 1, 2, 7), (5, 6))


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images of which ten are in `val` as well: smaller, cropped, or in another class folder."""
    root = write_images(
        tmp_path_factory.mktemp("leaky"), splits=("train", "val"), count=90, size=48
    )
    paths = sorted((root / "train").rglob("*.jpg"))[::9]
    for number, path in enumerate(paths):
        image = Image.open(path)
        if number % 3 == 0:
            image = image.resize((36, 36))
        elif number % 3 == 1:
            image = image.crop((1, 2, 47, 46))
        label = "class0" if number == len(paths) - 1 else path.parent.name
        image.save(root / "val" / label / f"leak{number}.jpg", quality=70)
    return root


def test_copies_between_splits_are_found_and_nothing_else(leaky: Path) -> None:
    splits = {name: inspect_source(open_data(leaky, split=name)) for name in ("train", "val")}
    collection = Collection(splits)
    found = find_copies(collection)
    leaked = found.with_copy_in(collection, "val", "train")
    names = {collection.identity(int(number)) for number in leaked}
    planted = {str(path.relative_to(leaky)) for path in (leaky / "val").rglob("leak*.jpg")}
    assert len(planted) == 10 and names == planted
    assert len(found.pairs) == 10 and not len(found.in_split(collection, "train", "train"))
    (conflict,) = found.conflicting(collection)
    assert {collection.class_name(int(number)) for number in conflict} == {"class0", "class2"}
    assert found.calibration.recall > 0.8
