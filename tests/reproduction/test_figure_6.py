"""Figure 6 d of the paper on non-semantic negatives: breeds of dogs against dogs."""

import pytest

from tests.reproduction.test_claims import effects_of_the_paper


@pytest.mark.parametrize(
    ("measure", "change"), [("dogs_fine", 67.6 - 72.9), ("dogs_gap", 30.1 - 24.9)]
)
def test_in_the_paper_breeds_of_dogs_lose_more_than_dogs(measure: str, change: float) -> None:
    found = effects_of_the_paper("negatives-alpha")[f"{measure}: alpha=3 - alpha=0"]
    assert found.mean == found.paper == pytest.approx(change)
    assert found.verdict == "appears"
