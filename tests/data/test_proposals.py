from pathlib import Path

import pytest

from tests.data.boxed import Boxed
from unshortcut.data.proposals import COLUMNS, FILE, WithProposals, elsewhere_note
from unshortcut.errors import UsageError

SOURCE = Boxed([[], [], []], size=20)


def write(folder: Path, *rows: str) -> Path:
    path = folder / FILE
    path.write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    return path


def test_boxes_come_in_the_order_of_their_scores_and_only_the_best(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "1,20,20,0.5,0,0,5,5",
        "0,20,20,0.1,1,1,9,9",
        "1,20,20,0.9,2,2,8,8",
        "1,20,20,0.7,3,3,7,7",
        "2,20,20,,,,,",
    )
    for where in (path, tmp_path):
        found = WithProposals(SOURCE, where, most=2)
        assert found.box_classes == ("object",)
        assert found.regions(0).boxes.tolist() == [[1, 1, 9, 9]]  # type: ignore[union-attr]
        assert found.regions(1).boxes.tolist() == [[2, 2, 8, 8], [3, 3, 7, 7]]  # type: ignore[union-attr]
        assert found.regions(2).boxes.shape == (0, 4)  # type: ignore[union-attr]
        assert (found.without, found.left_out) == (0, ())


def test_bad_boxes_are_left_out_and_listed_and_the_others_are_used(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "0,20,20,0.9,nan,0,5,5",
        "0,20,20,0.8,5,5,5,9",
        "0,20,20,0.7,30,30,40,40",
        "0,20,20,nan,1,1,2,2",
        "0,20,20,0.6,-4,-4,6,6",
        "0,20,20,0.6",
        "elsewhere.jpg,20,20,0.6,1,1,6,6",
    )
    found = WithProposals(SOURCE, path)
    assert found.regions(0).boxes.tolist() == [[0, 0, 6, 6]]  # type: ignore[union-attr]
    reasons = [failure.reason for failure in found.left_out]
    words = ("not four numbers", "no area", "outside", "not a number", "cut off")
    assert [any(word in reason for reason in reasons) for word in words] == [True] * 5
    assert len(reasons) == 5
    assert (found.without, found.elsewhere) == (2, 1)
    note = elsewhere_note(found)
    assert note is not None and "1 images that are not in these data" in note
    assert elsewhere_note(WithProposals(SOURCE, write(tmp_path, "0,20,20,1,0,0,5,5"))) is None


def test_a_file_of_other_data_is_an_error_that_names_both(tmp_path: Path) -> None:
    path = write(tmp_path, "cats/1.jpg,20,20,0.9,0,0,5,5")
    with pytest.raises(UsageError, match=r"for other data.*cats/1.jpg, not 0"):
        WithProposals(SOURCE, path)
    path = write(tmp_path, "0,40,30,0.9,0,0,5,5")
    with pytest.raises(UsageError, match="0 is 40 × 30 pixels there, and 20 × 20 here"):
        WithProposals(SOURCE, path)


def test_what_is_no_file_of_proposals_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unshortcut propose"):
        WithProposals(SOURCE, tmp_path / "missing.csv")
    (tmp_path / "unshortcut.json").write_text("{}")
    with pytest.raises(UsageError, match="not finished"):
        WithProposals(SOURCE, tmp_path)
    (tmp_path / FILE).write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="no column 'image'"):
        WithProposals(SOURCE, tmp_path)


def test_its_fingerprint_changes_with_a_box(tmp_path: Path) -> None:
    first = WithProposals(SOURCE, write(tmp_path, "0,20,20,0.9,0,0,5,5")).fingerprint()
    second = WithProposals(SOURCE, write(tmp_path, "0,20,20,0.9,0,0,5,6")).fingerprint()
    assert first != second
