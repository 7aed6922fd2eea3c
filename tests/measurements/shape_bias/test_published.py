"""Published decisions on conflict stimuli: the counts come out, bad files are refused."""

from pathlib import Path

import pytest

from tests.measurements.shape_bias.published import read_decisions
from tests.real_data import real_data
from unshortcut.errors import UsageError

HEADER = "subj,session,trial,rt,object_response,category,condition,imagename\n"


@pytest.mark.parametrize(
    ("network", "shape", "texture"),
    [("resnet50", 162, 572), ("alexnet", 182, 537), ("resnet50-stylized", 586, 141)],
)
def test_published_decisions_give_the_published_counts(
    network: str, shape: int, texture: int
) -> None:
    decisions = read_decisions(real_data("decisions") / f"{network}.csv")
    assert len(decisions.classes) == 16 and len(decisions.decided) == 1280
    found = decisions.shape_bias()
    assert (found.shape, found.texture, found.conflicts) == (shape, texture, 1200)


def test_trials_without_an_answer_and_with_agreeing_cues_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "humans.csv"
    path.write_text(
        HEADER
        + "s1,1,1,0.9,cat,cat,0,0001_cue_s1_cat_00_cat1-dog2.png\n"
        + "s1,1,2,NaN,na,cat,0,0002_cue_s1_cat_00_cat2-dog1.png\n"
        + "s2,1,1,0.5,t-shirt,car,0,0001_x_car_00_car3-t-shirt1.png\n"
        + "s2,1,2,0.5,cat,cat,0,cat2-cat1.png\n"
        + "s2,1,3,0.5,dog,car,0,car1-carpet.png\n"
    )
    decisions = read_decisions(path)
    assert decisions.classes == ("car", "carpet", "cat", "dog", "t-shirt")
    assert decisions.decided.tolist() == [2, -1, 4, 2, 3]
    assert decisions.shapes.tolist() == [2, 2, 0, 2, 0]
    assert decisions.textures.tolist() == [3, 3, 4, 2, 1]
    found = decisions.shape_bias()
    assert (found.shape, found.texture, found.conflicts) == (1, 1, 4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("subj,object_response,category\n", "lack the column 'imagename'"),
        ("", "lack the column 'object_response'"),
        (HEADER, "no line under their header"),
        (HEADER + "s,1,1,0,cat,cat,0,cat1.png\n", "line 2: the image 'cat1.png'"),
        (HEADER + "s,1,1,0,cat,dog,0,cat1-cow2.png\n", "of the category 'dog' does not end"),
        (HEADER + "s,1,1,0,cat\n", "line 2"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "decisions.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        read_decisions(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_decisions(tmp_path / "absent.csv")
