"""The lists of classes: complete, consistent with each other, and as the papers count them."""

import pytest

from unshortcut.data.class_lists import (
    class_list,
    imagenet_1k,
    imagenet_100,
    imagenet_a,
    imagenet_r,
    objectnet,
    wordnet_ids,
)
from unshortcut.data.wordnet import coarse_classes, hypernyms
from unshortcut.errors import UsageError
from unshortcut.measuring.subjects.class_names import categories


@pytest.mark.parametrize(
    ("classes", "count"), [(imagenet_100(), 100), (imagenet_r(), 200), (imagenet_a(), 200)]
)
def test_a_list_has_distinct_classes_of_imagenet(classes: tuple[str, ...], count: int) -> None:
    assert len(classes) == len(set(classes)) == count
    assert set(classes) <= set(imagenet_1k())


def test_imagenet_r_shares_19_classes_with_imagenet_100_as_the_negatives_paper_says() -> None:
    assert len({*imagenet_r()} & {*imagenet_100()}) == 19


def test_objectnet_has_113_classes_in_imagenet_and_13_in_imagenet_100_as_looc_says() -> None:
    ids = [one for members in objectnet().values() for one in members]
    assert len(objectnet()) == 113
    assert len(ids) == len(set(ids))  # a class of ImageNet belongs to one folder
    assert set(ids) <= set(imagenet_1k())
    overlap = {folder for folder, members in objectnet().items() if {*members} & {*imagenet_100()}}
    assert len(overlap) == 13
    assert {"bench", "chair", "keyboard", "wheel"} <= overlap


def test_imagenet_100_has_seven_of_the_16_categories_of_the_conflict_stimuli() -> None:
    """As counted independently for the shape bias of ImageNet-100."""
    index = {one: number for number, one in enumerate(imagenet_1k())}
    own = {index[one] for one in imagenet_100()}
    found = {name for name, members in categories().items() if own & {*members}}
    assert found == {"keyboard", "oven", "chair", "cat", "truck", "bird", "dog"}


def test_the_wordnet_ids_of_a_class_are_those_in_its_name() -> None:
    assert wordnet_ids("n01440764") == ("n01440764",)
    assert wordnet_ids("n01440764_tench") == ("n01440764",)
    assert wordnet_ids("tie (n02883205 n04591157)") == ("n02883205", "n04591157")
    assert wordnet_ids("n014407641") == wordnet_ids("an01440764") == ()


def test_every_class_of_imagenet_leads_up_to_entity() -> None:
    assert all(
        hypernyms(one)[-1] == "n00001740" or "n00001740" in hypernyms(one) for one in imagenet_1k()
    )


def test_the_dogs_of_wordnet_are_the_118_breeds_of_imagenet() -> None:
    """The class indices of dogs are 151 to 268, a fact about ImageNet's order."""
    dogs = coarse_classes(["dog"])
    assert set(dogs.values()) == {"dog"}
    assert set(dogs) == set(imagenet_1k()[151:269])


def test_named_coarse_classes_may_be_nested_and_the_smaller_one_counts() -> None:
    found = coarse_classes(["animal", "dog"])
    assert found[imagenet_1k()[151]] == "dog"
    assert found[imagenet_1k()[0]] == "animal"  # the tench
    assert imagenet_1k()[404] not in found  # the airliner


def test_without_names_every_class_has_a_coarse_class_of_at_most_120() -> None:
    found = coarse_classes()
    assert set(found) == set(imagenet_1k())
    counts = {name: list(found.values()).count(name) for name in set(found.values())}
    assert counts["dog"] == 118
    assert counts["bird"] == 59
    assert max(counts.values()) <= 120


@pytest.mark.parametrize("name", ["dgo", "n99999999"])
def test_an_unknown_coarse_class_is_named(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        coarse_classes([name])


def test_an_unknown_list_is_named() -> None:
    with pytest.raises(UsageError, match="imagenet100"):
        class_list("imagenet10")
