"""The page with the tables of the papers is the one that the files give."""

from tests.docs.papers_page import PAGE, page


def test_the_page_is_up_to_date() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "run: python -m tests.docs.papers_page --write"


def test_it_shows_rows_of_every_kind_with_their_numbers() -> None:
    lines = page().splitlines()
    assert "| MoCo V2 | `moco-v2-imagenet` | 82.4 | 57 | 63.6 | 67.5 |" in lines
    assert any(
        "`unshortcut similarity timm:resnet50@moco_v2" in line
        and "--space embedding`" in line
        and "0.94257" in line
        for line in lines
    )
    assert any("not yet: object-aware" in line and "8.8" in line for line in lines)
