"""Which outputs speak for which classes: ImageNet's, ImageNet-100's, a mapping file's, the same."""

import json
from pathlib import Path

import numpy as np
import pytest
import timm.data
import torchvision

from tests.real_data import real_data
from unshortcut.data.class_files import read_mapping
from unshortcut.errors import UsageError
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.subjects.class_names import (
    CATEGORIES,
    Aggregate,
    categories,
    outputs_for,
    placeholder_names,
)

INFO = timm.data.ImageNetInfo("imagenet-1k")
IDS = tuple(INFO.label_names())
DESCRIPTIONS = tuple(INFO.label_descriptions())
TORCHVISION = tuple(torchvision.models.ResNet50_Weights.DEFAULT.meta["categories"])
NUMBERS = placeholder_names(1000)
LISTED = """
    02869837 01749939 02488291 02107142 13037406 02091831 04517823 04589890 03062245
    01773797 01735189 07831146 07753275 03085013 04485082 02105505 01983481 02788148
    03530642 04435653 02086910 02859443 13040303 03594734 02085620 02099849 01558993
    04493381 02109047 04111531 02877765 04429376 02009229 01978455 02106550 01820546
    01692333 07714571 02974003 02114855 03785016 03764736 03775546 02087046 07836838
    04099969 04592741 03891251 02701002 03379051 02259212 07715103 03947888 04026417
    02326432 03637318 01980166 02113799 02086240 03903868 02483362 04127249 02089973
    03017168 02093428 02804414 02396427 04418357 02172182 01729322 02113978 03787032
    02089867 02119022 03777754 04238763 02231487 03032252 02138441 02104029 03837869
    03494278 04136333 03794056 03492542 02018207 04067472 03930630 03584829 02123045
    04229816 02100583 03642806 04336792 03259280 02116738 02108089 03424325 01855672
    02090622
"""
"""WordNet ids of ImageNet-100 without their n, as CMC lists them (imagenet100.txt)."""
IMAGENET_100 = LISTED.split()


def members(
    names: list[str], native: tuple[str, ...], mapping: dict[str, tuple[str, ...]] | None = None
) -> dict[str, tuple[int, ...]]:
    found = outputs_for(names, native, mapping, "mean")
    return dict(zip(found.names, found.members, strict=True))


def test_the_categories_are_the_published_ones() -> None:
    published = json.loads(real_data("imagenet-16-classes.json").read_text())
    assert {name: list(numbers) for name, numbers in categories().items()} == published


@pytest.mark.parametrize("native", [IDS, DESCRIPTIONS, TORCHVISION, NUMBERS])
def test_an_imagenet_head_speaks_for_the_categories_whatever_it_calls_its_classes(
    native: tuple[str, ...],
) -> None:
    assert members(list(CATEGORIES), native) == categories()


def test_an_imagenet_head_speaks_for_classes_by_id_and_by_name() -> None:
    data = ["n01440764", "tabby cat", "Golf_Ball", "crane"]
    assert members(data, IDS) == {"n01440764": (0,), "tabby cat": (281,), "Golf_Ball": (574,)}
    assert members(data, TORCHVISION)["crane"] == (517,)  # the other one is 'crane bird' there


def test_another_thousand_classes_are_not_taken_for_imagenet() -> None:
    native = (*(f"thing {index}" for index in range(998)), "cat", "dog")
    found = outputs_for(["cat", "dog", "airplane"], native, None, "mean")
    assert (found.names, found.members) == (("cat", "dog"), ((998,), (999,)))
    assert found.missing == ("airplane",)


def test_a_part_of_imagenet_speaks_for_the_categories_it_has_classes_of() -> None:
    native = ("n02869837", "n02123045", "n02107142", "n04067472", "n02086240", "n04111531")
    # bonnet, tabby, Doberman, reel, Shih-Tzu, rotisserie
    assert members(list(CATEGORIES), native) == {"cat": (1,), "dog": (2, 4), "oven": (5,)}
    by_name = ("bonnet", "tabby", "Doberman", "reel", "Shih-Tzu", "rotisserie")
    assert members(list(CATEGORIES), by_name) == {"cat": (1,), "dog": (2, 4), "oven": (5,)}


def test_imagenet_100_has_classes_of_7_categories() -> None:
    found = members(list(CATEGORIES), tuple(f"n{one}" for one in IMAGENET_100))
    counts = {name: len(places) for name, places in found.items()}
    assert set(counts) == {"keyboard", "oven", "chair", "cat", "truck", "bird", "dog"}
    assert counts["cat"] == 1 and IMAGENET_100[found["cat"][0]] == "02123045"  # the tabby


def test_a_class_of_the_same_name_comes_before_the_category() -> None:
    native = ("beagle", "dog", "cat")
    assert members(["dog", "cat"], native) == {"dog": (1,), "cat": (2,)}


def test_names_match_without_case_and_punctuation_only_where_that_is_clear() -> None:
    native = ("T-Shirt", "Dog", "odd thing", "Odd-Thing", "!")
    assert members(["t_shirt", "dog", "odd_thing", "?"], native) == {"t_shirt": (0,), "dog": (1,)}


def test_fewer_than_two_classes_in_common_do_not_apply() -> None:
    with pytest.raises(NotApplicable, match=r"\(a, b, c, …\).*\(c, z\).*fewer than two"):
        outputs_for(["c", "z"], ("a", "b", "c", "d"), None, "mean")


@pytest.mark.parametrize(("aggregate", "dog"), [("mean", 0.2), ("sum", 0.4)])
def test_a_class_of_several_outputs_has_their_mean_or_sum(aggregate: Aggregate, dog: float) -> None:
    found = outputs_for(
        ["cat", "dog"], ("cat", "poodle", "beagle", "x"), {"dog": ("1", "2")}, aggregate
    )
    native = np.array([[0.3, 0.1, 0.3, 0.3], [0.0, 0.0, 0.0, 1.0]])
    expected = [[0.3 / (0.3 + dog), dog / (0.3 + dog)], [0.5, 0.5]]
    np.testing.assert_allclose(found.probabilities(native), expected)
    assert found.decisions(native).tolist() == [int(dog > 0.3), -1]
    assert found.grouped


def test_a_mapping_comes_first_and_takes_names_numbers_and_repetitions(tmp_path: Path) -> None:
    native = ("cat", "poodle", "beagle", "7")
    path = tmp_path / "mapping.csv"
    path.write_text('# data, model\ndog,beagle\n\ndog,1\ndog,poodle\n"cat, wild",0\ncat,7\n')
    mapping = read_mapping(path)
    assert mapping == {"dog": ("beagle", "1", "poodle"), "cat, wild": ("0",), "cat": ("7",)}
    assert members(["dog", "cat", "cat, wild"], native, mapping) == {
        "dog": (2, 1),
        "cat": (3,),
        "cat, wild": (0,),
    }


def test_a_mapping_is_read_from_tabs_and_from_json(tmp_path: Path) -> None:
    tabs, content = tmp_path / "mapping.tsv", tmp_path / "mapping.json"
    tabs.write_text("dog\tbeagle, small\n", encoding="utf-8-sig")
    content.write_text('{"dog": ["beagle", 152], "cat": 3}')
    assert read_mapping(tabs) == {"dog": ("beagle, small",)}
    assert read_mapping(content) == {"dog": ("beagle", "152"), "cat": ("3",)}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("m.csv", "dog,beagle,poodle\n", "line 1: expected two columns"),
        ("m.csv", "dog\n", "line 1: expected two columns"),
        ("m.csv", "# nothing\n", "no line with two columns"),
        ("m.json", "[1]", "must be an object of lists"),
        ("m.json", '{"dog": [true]}', r"'dog' has \[True\]"),
        ("m.json", '{"dog": []}', "'dog' has"),
        ("m.json", "{", "is not valid JSON"),
        ("absent.csv", None, "cannot be read"),
    ],
)
def test_a_bad_mapping_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str | None, said: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=said):
        read_mapping(tmp_path / name)


@pytest.mark.parametrize("entry", ["hound", "4", "-1", "²"])
def test_a_mapping_to_a_class_that_the_model_does_not_have_is_refused(entry: str) -> None:
    with pytest.raises(
        UsageError, match=f"gives '{entry}' for 'dog'.*none of the model's 4 classes: a, b, c, …"
    ):
        outputs_for(["dog", "a"], ("a", "b", "c", "d"), {"dog": (entry,)}, "mean")


def test_folders_that_are_numbers_are_no_outputs_without_a_name() -> None:
    with pytest.raises(NotApplicable):
        outputs_for(("1", "2", "3"), placeholder_names(1000), None, "mean")
    chosen = outputs_for(
        ("cat", "dog"), placeholder_names(5), {"cat": ("0", "1"), "dog": ("4",)}, "mean"
    )
    assert chosen.members == ((0, 1), (4,))


def test_a_linear_probe_keeps_its_own_names_whatever_a_mapping_says_of_a_head() -> None:
    native = ("cat", "dog", "owl")
    mapping = {"cat": ("tabby",), "dog": ("0",), "feline": ("cat",), "canine": ("beagle",)}
    own = outputs_for(native, native, mapping, "mean", by_name_first=True)
    assert own.members == ((0,), (1,), (2,))
    others = outputs_for(("feline", "owl", "canine"), native, mapping, "mean", by_name_first=True)
    assert (others.names, others.members, others.missing) == (
        ("feline", "owl"), ((0,), (2,)), ("canine",),
    )  # fmt: skip


def test_a_mapping_may_name_classes_of_imagenet_in_other_words() -> None:
    chosen = outputs_for(
        ("hound", "acoustic guitar"), IDS, {"hound": ("beagle", "n02088466")}, "mean"
    )
    assert chosen.members[0] == (162, 163)


def test_a_mapping_that_names_what_a_model_lacks_is_told_where_its_own_class_is_taken() -> None:
    with pytest.warns(UserWarning, match="gives 'nothere' for 'cat'"):
        chosen = outputs_for(("cat", "dog"), ("cat", "dog"), {"cat": ("nothere",)}, "mean")
    assert chosen.members == ((0,), (1,))
