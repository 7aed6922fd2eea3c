"""Annotations through everything that is made of a source: subsets, copies, rotations, workers."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.data.images import write_mask, write_tree
from unshortcut.build.inputs import Tree, open_inputs
from unshortcut.data.copies import CopiedSource, open_copy, with_filtered_copy
from unshortcut.data.open import open_data
from unshortcut.data.relabeled import with_classes
from unshortcut.data.rotated import Rotated
from unshortcut.data.shapes import SCENES, SHAPE_NAMES, Shapes
from unshortcut.data.source import Annotated, BadImageError, ImageSource, Joined, Subset

BOXES = {"train/cat/a.png": (1, 1, 4, 3), "train/dog/b.png": (0, 2, 8, 6)}


def pets(root: Path) -> ImageSource:
    write_tree(root, [*BOXES, "val/cat/c.png"])
    rows = [f"{name},{name.split('/')[1]},{x},{y},{z},{w}" for name, (x, y, z, w) in BOXES.items()]
    (root / "heads.csv").write_text("image,species,x0,y0,x1,y1\n" + "\n".join(rows))
    for number, name in enumerate("abc"):
        ids = np.full((6, 8), 2)
        ids[: number + 1] = 1
        write_mask(root / "masks" / f"{name}.png", ids.tolist())
    return open_data(root)


def same(one: ImageSource, i: int, other: ImageSource, j: int) -> bool:
    a, b = one.regions(i), other.regions(j)
    pairs = [(getattr(a, name), getattr(b, name)) for name in ("boxes", "box_labels", "mask")]
    return all(x is not None and np.array_equal(x, y) for x, y in pairs)


def test_a_subset_and_a_choice_of_classes_keep_the_annotations_of_their_images(
    tmp_path: Path,
) -> None:
    source = pets(tmp_path)
    assert not same(source, 0, source, 1)
    subset = Subset(source, np.array([1, 0]))
    assert same(subset, 0, source, 1) and same(subset, 1, source, 0)
    dogs = with_classes(source, ["dog"], "pets")
    assert len(dogs) == 1 and dogs.classes == ("dog",) and same(dogs, 0, source, 1)
    assert dogs.identity(0) == "train/dog/b.png"
    assert dogs.box_classes == ("cat", "dog") and dogs.mask_classes == ("background", "animal")
    again = pickle.loads(pickle.dumps(source))
    assert same(again, 1, source, 1) and again.fingerprint() == source.fingerprint()


def test_a_joined_source_has_only_what_all_of_its_parts_have(tmp_path: Path) -> None:
    source = pets(tmp_path)
    twice = Joined(source, source)
    assert same(twice, 3, source, 1) and twice.mask_classes == source.mask_classes
    mixed = Joined(source, Shapes("scene", size=16, count=2))
    assert mixed.box_classes is None and mixed.mask_classes is None
    for index in (0, 2):
        regions = mixed.regions(index)
        assert regions.boxes is None and regions.mask is None


def test_a_copy_has_the_annotations_of_its_original(tmp_path: Path) -> None:
    source = pets(tmp_path / "pets")
    write_tree(tmp_path / "copy", BOXES)
    both = with_filtered_copy(source, str(tmp_path / "copy"))
    assert len(both) == 4 and all(same(both, i, source, i % 2) for i in range(4))
    assert Annotated(both).image(3).regions.mask is not None
    Image.new("RGB", (4, 3)).save(tmp_path / "copy" / "train/cat/a.png")
    smaller = CopiedSource(source, open_copy(str(tmp_path / "copy")))
    with pytest.raises(BadImageError, match="its copy is 4 × 3 pixels, it is 8 × 6"):
        smaller.regions(0)


def test_a_copy_is_made_of_images_and_not_of_masks(tmp_path: Path) -> None:
    pets(tmp_path)
    (tmp_path / "heads.csv").write_text(
        (tmp_path / "heads.csv").read_text() + "\nval/cat/c.png,cat,0,0,4,4"
    )
    for data in (tmp_path, f"oxford-pets:{tmp_path}"):
        inputs = open_inputs(data)
        assert isinstance(inputs, Tree)
        assert [inputs.path(i) for i in range(len(inputs))] == [*BOXES, "val/cat/c.png"]


def test_an_image_of_two_splits_is_copied_once(tmp_path: Path) -> None:
    for name in ("Annotations", "ImageSets/Main"):
        (tmp_path / name).mkdir(parents=True)
    write_tree(tmp_path / "JPEGImages", ["a.jpg", "b.jpg"])
    for name, ids in (("train", "a\n"), ("trainval", "a\nb\n")):
        (tmp_path / "ImageSets" / "Main" / f"{name}.txt").write_text(ids)
    for name in "ab":
        (tmp_path / "Annotations" / f"{name}.xml").write_text("<annotation/>")
    inputs = open_inputs(f"voc:{tmp_path}")
    assert isinstance(inputs, Tree)
    assert [inputs.path(i) for i in range(len(inputs))] == ["JPEGImages/a.jpg", "JPEGImages/b.jpg"]


def test_rotated_images_have_rotated_annotations(tmp_path: Path) -> None:
    source = pets(tmp_path)
    rotated = Rotated(Joined(source, source))
    assert sorted(rotated.labels) == [0, 1, 2, 3]
    for index, turns in enumerate(rotated.labels):
        image = Annotated(rotated).image(index)  # checks the size of the mask
        upright = source.regions(index % 2)
        assert upright.boxes is not None and upright.mask is not None
        (x0, y0, x1, y1) = upright.boxes[0].astype(int)
        inside = np.zeros(upright.mask.shape, dtype=bool)
        inside[y0:y1, x0:x1] = True
        rows, columns = np.nonzero(np.rot90(inside, turns))
        assert image.regions.boxes is not None
        assert image.regions.boxes.tolist() == [
            [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        ]
        np.testing.assert_array_equal(image.regions.mask, np.rot90(upright.mask, turns))


class TestScenes:
    @pytest.mark.parametrize("split", SCENES)
    def test_boxes_masks_and_labels_are_those_of_the_objects(self, split: str) -> None:
        source = Shapes(split, size=48, count=12)
        assert source.box_classes == SHAPE_NAMES
        assert source.mask_classes == ("background", *SHAPE_NAMES)
        shown = source.multilabels
        assert shown is not None and shown.classes == SHAPE_NAMES
        for index in range(12):
            scene, regions = source.scene(index), source.regions(index)
            np.testing.assert_array_equal(regions.boxes, scene.boxes)
            np.testing.assert_array_equal(regions.box_labels, scene.shape_labels)
            expected = (scene.masks * (scene.shape_labels + 1)[:, None, None]).sum(axis=0)
            np.testing.assert_array_equal(regions.mask, expected)
            assert set(np.flatnonzero(shown.values[index])) == set(scene.shape_labels)
            assert Annotated(source).image(index).regions.mask is not None

    def test_what_a_caller_changes_is_not_kept(self) -> None:
        source = Shapes("scene-val", size=32, count=2)
        for name in ("mask", "boxes"):
            getattr(source.regions(0), name)[:] = 7
        fresh = Shapes("scene-val", size=32, count=2)
        assert same(source, 0, fresh, 0)
        assert same(pickle.loads(pickle.dumps(source)), 0, fresh, 0)

    def test_the_smallest_scenes_leave_out_objects_without_a_pixel(self) -> None:
        source = Shapes("scene-train", size=16, count=400)
        found = [source.regions(index) for index in range(400)]
        sizes = np.concatenate(
            [one.boxes[:, 2:] - one.boxes[:, :2] for one in found if one.boxes is not None]
        )
        assert sizes.min() >= 1

    def test_splits_of_one_object_have_no_regions(self) -> None:
        source = Shapes("test", size=16, count=1)
        assert source.box_classes is None and source.multilabels is None
        assert source.regions(0).boxes is None and source.regions(0).mask is None
