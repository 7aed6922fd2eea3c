"""Published data sets in small copies of their folders."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from tests.data.images import write_tree
from unshortcut.build.inputs import Tree, open_inputs
from unshortcut.data.class_lists import imagenet_100, imagenet_r
from unshortcut.data.layouts.inaturalist import moved_to_validation
from unshortcut.data.layouts.sun09 import SceneObject, Sun09Source
from unshortcut.data.layouts.synthetic_dtd import SyntheticDTDSource
from unshortcut.data.open import open_data, splits
from unshortcut.errors import UsageError

SHARED = sorted({*imagenet_100()} & {*imagenet_r()})
ONLY_R = sorted({*imagenet_r()} - {*imagenet_100()})


def cub(root: Path) -> Path:
    paths = ["001.Albatross/b.png", "001.Albatross/a.png", "002.Ani/a.png"]
    write_tree(root / "images", paths)
    lines = {
        "images": paths,
        "image_class_labels": [1, 1, 2],
        "train_test_split": [1, 0, 1],
        "classes": ["001.Albatross", "002.Ani"],
    }
    for name, column in lines.items():
        rows = [f"{number} {value}" for number, value in enumerate(column, start=1)]
        (root / f"{name}.txt").write_text("\n".join(rows) + "\n")
    return root


def inaturalist(root: Path, per_species: int = 20) -> Path:
    counts = {"train": per_species, "val": 3}
    for part, count in counts.items():
        names = [f"train_val2019/Birds/{s}/{part}{i}.png" for s in (7, 9) for i in range(count)]
        write_tree(root, names)
        content = {
            "images": [{"id": i, "file_name": name} for i, name in enumerate(names)],
            "annotations": [
                {"image_id": i, "category_id": int(name.split("/")[2])}
                for i, name in enumerate(names)
            ],
            "categories": [{"id": 7, "name": "Sula sula"}, {"id": 9, "name": "Pica pica"}],
        }
        (root / f"{part}2019.json").write_text(json.dumps(content))
    return root


def test_cub_has_the_published_split_and_classes(tmp_path: Path) -> None:
    root = cub(tmp_path / "CUB_200_2011")
    assert splits(root) == ("train", "test")
    train, test = open_data(root), open_data(root, split="test")
    assert [train.identity(i) for i in range(2)] == ["001.Albatross/b.png", "002.Ani/a.png"]
    assert train.classes == test.classes == ("001.Albatross", "002.Ani")
    assert train.labels is not None and train.labels.tolist() == [0, 1]
    assert [test.identity(i) for i in range(len(test))] == ["001.Albatross/a.png"]
    assert test.image(0).pixels()[0, 0, 0] == 11


def test_a_broken_cub_says_what_is_wrong(tmp_path: Path) -> None:
    root = cub(tmp_path / "birds")
    (root / "classes.txt").write_text("1 001.Albatross\n")
    with pytest.raises(UsageError, match=r"classes\.txt lacks the class 2"):
        open_data(root)
    (root / "classes.txt").unlink()
    with pytest.raises(UsageError, match=r"there is no file classes\.txt"):
        open_data(f"cub:{root}")


def test_inaturalist_moves_a_tenth_of_each_species_to_validation(tmp_path: Path) -> None:
    root = inaturalist(tmp_path / "inat")
    found = {split: open_data(root, split=split) for split in splits(root)}
    names = {
        split: {source.identity(i) for i in range(len(source))} for split, source in found.items()
    }
    assert {split: len(one) for split, one in names.items()} == {
        "train": 36,
        "val": 10,
        "train-published": 40,
        "val-published": 6,
    }
    moved = names["train-published"] - names["train"]
    assert names["val"] == names["val-published"] | moved
    assert sorted(name.split("/")[2] for name in moved) == ["7", "7", "9", "9"]
    train = found["train"]
    assert train.classes == ("Sula sula", "Pica pica")
    for index in range(len(train)):
        assert train.labels is not None
        assert ("/9/" in train.identity(index)) == bool(train.labels[index])
    again = open_data(f"inaturalist:{root}@train")
    assert again.fingerprint() == train.fingerprint()


def test_the_moved_images_are_random_and_their_number_is_rounded() -> None:
    labels = np.repeat([0, 1, 2], [100, 14, 4])
    moved = moved_to_validation(labels)
    assert np.bincount(labels[moved], minlength=3).tolist() == [10, 1, 0]
    assert moved.tolist() == sorted(moved.tolist())
    assert set(moved.tolist()) != set(range(10)) | {100}


def test_annotations_without_a_year_are_read_by_name_only(tmp_path: Path) -> None:
    root = inaturalist(tmp_path)
    for part in ("train", "val"):
        (root / f"{part}2019.json").rename(root / f"{part}.json")
    assert splits(root) == ()  # files of that name may belong to any data set
    assert len(open_data(f"inaturalist:{root}")) == 36


def test_a_broken_inaturalist_says_what_is_wrong(tmp_path: Path) -> None:
    root = inaturalist(tmp_path / "inat")
    (root / "train2019.json").write_text("{")
    with pytest.raises(UsageError, match=r"train2019\.json is not valid JSON"):
        open_data(root)
    (root / "train2019.json").write_text('{"images": [{"id": 1}], "annotations": []}')
    with pytest.raises(UsageError, match="has no 'file_name'"):
        open_data(root)
    (root / "train2019.json").unlink()
    with pytest.raises(UsageError, match=r"no annotation file such as train2019\.json"):
        open_data(f"inaturalist:{root}")


def test_objectnet_names_its_classes_by_imagenet_and_loses_its_frame(tmp_path: Path) -> None:
    root = tmp_path / "objectnet-1.0"
    write_tree(root / "images", ["tie/1.png", "air_freshener/1.png", "bench/1.png", "bench/2.png"])
    framed = np.zeros((10, 12, 3), np.uint8)
    framed[..., 0] = 255
    framed[2:-2, 2:-2] = 7
    Image.fromarray(framed).save(root / "images" / "bench" / "1.png")
    (root / "mappings").mkdir()
    (root / "mappings" / "objectnet_to_imagenet_1k.json").write_text("{}")
    source = open_data(root)  # recognized
    assert source.classes == ("bench (n03891251)", "tie (n02883205 n04591157)")
    assert source.labels is not None and source.labels.tolist() == [0, 0, 1]
    image = source.image(0)
    assert (image.height, image.width) == (6, 8)
    assert (image.pixels() == 7).all()
    everything = open_data(root, split="all")
    assert everything.classes == ("air_freshener", "bench", "tie")
    assert len(everything) == 4
    of_100 = open_data(f"imagenet100:{root}")
    assert of_100.classes == ("bench (n03891251)",)
    assert pickle.loads(pickle.dumps(of_100)).fingerprint() == of_100.fingerprint()


def test_class_folders_of_objectnet_alone_are_opened_by_name(tmp_path: Path) -> None:
    write_tree(tmp_path, ["bench/1.png", "wok/1.png"])
    assert open_data(tmp_path).classes == ("bench", "wok")  # could be any data set
    assert open_data(f"objectnet:{tmp_path}").classes == ("bench (n03891251)", "wok (n04596742)")


@pytest.mark.parametrize(
    ("names", "message"),
    [(["1.png", "2.png"], "no class folders"), (["a/1.png", "b/1.png"], "none of the 113")],
)
def test_a_folder_that_is_not_objectnet_says_so(
    tmp_path: Path, names: list[str], message: str
) -> None:
    write_tree(tmp_path, names)
    with pytest.raises(UsageError, match=message):
        open_data(f"objectnet:{tmp_path}")


SCENE = """<annotation><filename>b.jpg</filename>
<object><name> car </name><deleted>0</deleted><polygon>
<pt><x>3</x><y>4</y></pt><pt><x>9</x><y>2</y></pt><pt><x>5</x><y>8</y></pt></polygon></object>
<object><name>tree</name><deleted>1</deleted><polygon><pt><x>1</x><y>1</y></pt></polygon></object>
</annotation>"""


def test_sun09_has_scenes_with_objects_and_the_split_of_the_mat_file(tmp_path: Path) -> None:
    folder = "static_sun09_database"
    names = [f"{folder}/{one}.png" for one in "abc"] + ["out_of_context/x.png"]
    write_tree(tmp_path / "Images", names)
    (tmp_path / "Annotations" / folder).mkdir(parents=True)
    (tmp_path / "Annotations" / folder / "b.xml").write_text(SCENE)
    assert splits(tmp_path) == ("all", "out_of_context")
    assert len(open_data(tmp_path)) == 3
    (tmp_path / "dataset").mkdir()
    entries = [{"annotation": {"filename": f"{one}.png", "folder": folder}} for one in "bac"]
    structure = np.array([(one["annotation"],) for one in entries], dtype=[("annotation", "O")])
    content = {"Dtraining": structure[:2], "Dtest": structure[1:]}
    savemat(tmp_path / "dataset" / "sun09_groundTruth.mat", content)
    assert splits(tmp_path) == ("train", "test", "all", "out_of_context")
    train = open_data(tmp_path)
    assert isinstance(train, Sun09Source)
    assert [train.identity(i) for i in range(2)] == [f"{folder}/b.png", f"{folder}/a.png"]
    assert train.labels is None
    assert train.objects(0) == (SceneObject("car", (3, 2, 9, 8)),)
    with pytest.raises(UsageError, match=r"a\.xml cannot be read"):
        train.objects(1)
    assert len(open_data(tmp_path, split="out_of_context")) == 1


def polygon(x0: int, y0: int, x1: int, y1: int) -> str:
    points = [f"<pt><x>{x}</x><y>{y}</y></pt>" for x, y in ((x0, y0), (x1, y0), (x1, y1))]
    return f"<polygon>{''.join(points)}</polygon>"


def out_of_context(root: Path, scenes: dict[str, list[str]]) -> None:
    names = [f"out_of_context/{name}.png" for name in (*scenes, "unannotated")]
    write_tree(root / "Images", ["static_sun09_database/a.png", *names])
    (root / "Annotations" / "out_of_context").mkdir(parents=True)
    for name, objects in scenes.items():
        inside = "".join(f"<object>{one}</object>" for one in objects)
        file = root / "Annotations" / "out_of_context" / f"{name}.xml"
        file.write_text(f"<annotation>{inside}</annotation>")


CAR = f"<name>car</name>{polygon(0, 0, 4, 4)}"
SOFA = f"<name>sofa (out of context)</name>{polygon(2, 1, 6, 5)}"
BED = f"<name>bed</name><attributes>old, out-of-context</attributes>{polygon(1, 1, 3, 3)}"


def test_sun09_marks_objects_whose_annotation_says_out_of_context(tmp_path: Path) -> None:
    out_of_context(
        tmp_path, {"x": [CAR, SOFA], "y": [CAR, BED, f"<name>a</name>{polygon(1, 1, 1, 1)}"]}
    )
    source = open_data(tmp_path, split="out_of_context")
    assert source.box_classes == ("a", "bed", "car", "sofa")
    # The files are in the order of their names: unannotated, x, y.
    found = [source.regions(index) for index in range(3)]
    assert [one.odd.tolist() for one in found if one.odd is not None] == [
        [],
        [False, True],
        [False, True],
    ]
    assert found[1].boxes is not None and found[1].boxes.tolist() == [[0, 0, 4, 4], [2, 1, 6, 5]]
    reasons = [failure.reason for failure in source.left_out]
    assert "unannotated.xml cannot be read" in reasons[0] and "has no area" in reasons[1]
    again = pickle.loads(pickle.dumps(source))
    assert again.fingerprint() == source.fingerprint() and again.regions(2).odd is not None


def test_sun09_takes_the_odd_objects_of_a_file(tmp_path: Path) -> None:
    out_of_context(tmp_path, {"x": [CAR, f"<name>boat</name>{polygon(2, 1, 6, 5)}"]})
    plain = open_data(tmp_path, split="out_of_context")
    assert plain.regions(1).odd is None, "nothing says which objects are odd"
    (tmp_path / "out_of_context.csv").write_text("image,object\nx.jpg,boat\n")
    source = open_data(tmp_path, split="out_of_context")
    odd = source.regions(1).odd
    assert odd is not None and odd.tolist() == [False, True]
    assert source.fingerprint() != plain.fingerprint()
    (tmp_path / "out_of_context.csv").write_text("image,object\nz.jpg,boat\n")
    with pytest.raises(UsageError, match=r"line 2 of out_of_context\.csv names no image"):
        open_data(tmp_path, split="out_of_context")


def test_a_broken_sun09_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder Images/static_sun09_database"):
        open_data(f"sun09:{tmp_path}")
    write_tree(tmp_path, ["Images/static_sun09_database/a.png"])
    (tmp_path / "sun09_groundTruth.mat").write_bytes(b"not MATLAB")
    with pytest.raises(UsageError, match="does not list Dtraining"):
        open_data(tmp_path)


def test_synthetic_dtd_labels_objects_and_knows_textures(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        ["train/car/banded/1.png", "train/cup/dotted/1.png", "test/car/woven/1.png"],
    )
    train = open_data(f"synthetic-dtd:{tmp_path}")
    assert isinstance(train, SyntheticDTDSource)
    assert train.classes == ("car", "cup")
    assert train.labels is not None and train.labels.tolist() == [0, 1]
    assert [train.textures[i] for i in train.texture_labels] == ["banded", "dotted"]
    test = open_data(f"synthetic-dtd:{tmp_path}@test")
    assert test.classes == train.classes
    assert test.identity(0) == "test/car/woven/1.png"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["train/car/banded/1.png", "test/cup/banded/1.png"], "both have banded"),
        (["train/car/1.png", "test/car/a/1.png"], "train/car/1.png is not train/OBJECT/TEXTURE"),
        (["train/car/banded/1.png"], "no folder test/"),
    ],
)
def test_a_broken_synthetic_dtd_says_what_is_wrong(
    tmp_path: Path, names: list[str], message: str
) -> None:
    write_tree(tmp_path, names)
    with pytest.raises(UsageError, match=message):
        open_data(f"synthetic-dtd:{tmp_path}")


def test_a_list_of_classes_chooses_folders_in_any_tree(tmp_path: Path) -> None:
    names = [
        f"{split}/{one}/1.png" for split in ("train", "val") for one in SHARED[:2] + ONLY_R[:1]
    ]
    values = write_tree(tmp_path, names)
    train = open_data(f"imagenet100:{tmp_path}")
    val = open_data(f"imagenet100:{tmp_path}@val")
    assert splits(f"imagenet100:{tmp_path}") == ("train", "val")
    assert train.classes == val.classes == tuple(SHARED[:2])
    assert val.labels is not None and val.labels.tolist() == [0, 1]
    assert val.image(1).pixels()[0, 0, 0] == values[f"val/{SHARED[1]}/1.png"]
    assert open_data(f"imagenet-r:{tmp_path}").classes == tuple(sorted(SHARED[:2] + ONLY_R[:1]))


def test_a_copy_is_made_of_the_classes_of_a_list_in_all_splits(tmp_path: Path) -> None:
    names = [f"{split}/{one}/1.png" for split in ("train", "val") for one in (SHARED[0], ONLY_R[0])]
    write_tree(tmp_path, names)
    inputs = open_inputs(f"imagenet100:{tmp_path}")
    assert isinstance(inputs, Tree)
    assert [inputs.path(i) for i in range(len(inputs))] == [
        f"train/{SHARED[0]}/1.png",
        f"val/{SHARED[0]}/1.png",
    ]
    assert str(tmp_path.parent) not in inputs.name


def test_a_wrong_prefix_or_a_tree_of_other_classes_is_an_error(tmp_path: Path) -> None:
    write_tree(tmp_path, ["cat/1.png", "dog/1.png"])
    with pytest.raises(UsageError, match="did you mean 'imagenet100'"):
        open_data(f"imagenet10:{tmp_path}")
    with pytest.raises(UsageError, match="none of the 2 classes"):
        open_data(f"imagenet100:{tmp_path}")
    with pytest.raises(UsageError, match="no such folder"):
        open_data("cub:/nowhere")
    with pytest.raises(UsageError, match="unknown split"):
        open_data(f"{cub(tmp_path / 'birds')}@val")
