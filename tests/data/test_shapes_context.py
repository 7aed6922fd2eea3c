"""Scenes of `shapes` with context: which shapes occur together, and which object is odd."""

import pickle

import numpy as np
import pytest

from unshortcut.augmentations import CenterCrop, Pipeline
from unshortcut.data.shapes import GROUPS, SHAPE_NAMES, Shapes
from unshortcut.data.source import Joined, Subset

COUNT = 240
GROUP_OF = {SHAPE_NAMES.index(shape): group for group, names in GROUPS.items() for shape in names}
FINGERPRINTS = {
    "scene": "92fd0906b6258cad",
    "scene-train": "e27f4358e05be55f",
    "scene-val": "87fd82b89354d28d",
    "scene-test": "cf5eadb9616caa65",
}
"""Beginnings of the fingerprints before scenes with context were added."""


def groups(labels: np.ndarray) -> np.ndarray:
    return np.array([GROUP_OF[int(label)] for label in labels])


@pytest.mark.parametrize(("split", "known"), FINGERPRINTS.items())
def test_scenes_without_context_are_what_they_were(split: str, known: str) -> None:
    assert Shapes(split).fingerprint().startswith(known)
    assert Shapes(split, count=1).regions(0).odd is None


def test_the_groups_share_the_shapes_evenly() -> None:
    assert sorted(GROUP_OF) == list(range(8))
    assert {len(names) for names in GROUPS.values()} == {4}


@pytest.mark.parametrize("split", ["context-train", "context-val", "context-test"])
def test_all_shapes_of_a_scene_are_of_one_group(split: str) -> None:
    source = Shapes(split, count=COUNT, size=48)
    labels = [source.scene(index).shape_labels for index in range(COUNT)]
    assert all(len(set(groups(one))) == 1 for one in labels)
    counts = np.bincount([len(one) for one in labels], minlength=6)
    assert counts[0] == 0 and counts[1:].min() > COUNT / 5 * 0.6
    frequency = np.bincount(np.concatenate(labels), minlength=8)
    assert frequency.min() > 0.6 * frequency.max(), "every shape occurs about equally often"
    assert all(not source.scene(index).odd.any() for index in range(COUNT))


def test_one_object_of_each_odd_scene_is_of_the_other_group() -> None:
    source = Shapes("context-odd", count=COUNT, size=48)
    places, areas, odd_labels = [], [], []
    for index in range(COUNT):
        regions, scene = source.regions(index), source.scene(index)
        assert regions.odd is not None and regions.boxes is not None
        np.testing.assert_array_equal(regions.odd, scene.odd)
        assert 3 <= len(scene.odd) <= 5 and scene.odd.sum() == 1
        names = groups(scene.shape_labels)
        assert len(set(names[~scene.odd])) == 1
        assert set(names[scene.odd]).isdisjoint(names[~scene.odd])
        places.append(scene.odd.argmax() / (len(scene.odd) - 1))
        sizes = (regions.boxes[:, 2:] - regions.boxes[:, :2]).prod(axis=1)
        areas.append(sizes[scene.odd].mean() / sizes[~scene.odd].mean())
        odd_labels += scene.shape_labels[scene.odd].tolist()
    # The odd one is as often the first as the last, and as large as the others.
    assert abs(np.mean(places) - 0.5) < 0.08
    assert abs(np.median(areas) - 1) < 0.15
    assert np.bincount(odd_labels, minlength=8).min() > COUNT / 8 * 0.4


def test_the_mark_of_the_odd_object_goes_with_its_box() -> None:
    source = Shapes("context-odd", count=3, size=96)
    regions = source.regions(1)
    assert regions.odd is not None and regions.boxes is not None
    for other in (
        Subset(source, np.array([1])).regions(0),
        Joined(source, source).regions(4),
        pickle.loads(pickle.dumps(source)).regions(1),
        regions.trained_on(),
    ):
        np.testing.assert_array_equal(other.odd, regions.odd)
    regions.odd[:] = True
    assert source.regions(1).odd is not None and source.regions(1).odd.sum() == 1  # type: ignore[union-attr]
    assert Joined(source, Shapes("test", count=1)).regions(1).odd is None


def test_a_crop_drops_the_mark_with_the_box() -> None:
    source = Shapes("context-odd", count=20, size=96)
    pipeline = Pipeline([CenterCrop(40)])
    sampled = pipeline.sample(np.random.default_rng(0), 96, 96)
    dropped = 0
    for index in range(20):
        before = source.regions(index)
        after = pipeline.apply_regions(before, sampled, 96, 96, min_visible=0.5)
        assert after.boxes is not None and after.odd is not None
        assert len(after.odd) == len(after.boxes)
        dropped += int(before.odd.sum() - after.odd.sum())  # type: ignore[union-attr]
    assert 0 < dropped < 20
