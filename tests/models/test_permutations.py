"""Permutation files: kept in the cache, read from a user's own, refused with a reason."""

from pathlib import Path

import numpy as np
import pytest

from unshortcut.errors import UsageError
from unshortcut.files import cache_folder
from unshortcut.imaging.permutations import choose_permutations
from unshortcut.models.permutations import cached_permutations, read_permutations


def test_a_set_is_chosen_once_and_kept_as_a_small_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path))
    chosen = cached_permutations(4, 10, by="minimum", seed=5)
    assert np.array_equal(chosen, choose_permutations(4, 10, by="minimum", seed=5))
    (file,) = (cache_folder() / "permutations").iterdir()
    assert file.stat().st_size < 500
    np.save(file, chosen[::-1])  # what is read is the file
    assert np.array_equal(cached_permutations(4, 10, by="minimum", seed=5), chosen[::-1])
    file.write_bytes(b"cut off")
    assert np.array_equal(cached_permutations(4, 10, by="minimum", seed=5), chosen)
    assert not np.array_equal(cached_permutations(4, 10, by="minimum", seed=6), chosen)


def test_a_file_may_count_from_0_or_from_1(tmp_path: Path) -> None:
    chosen = choose_permutations(4, 7)
    np.save(tmp_path / "0.npy", chosen)
    np.save(tmp_path / "1.npy", chosen.astype(np.int64) + 1)
    for name in ("0.npy", "1.npy"):
        assert np.array_equal(read_permutations(tmp_path / name, 2), chosen)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (choose_permutations(9, 5), "permutations of 9 tiles, but a puzzle of 2 × 2 has 4"),
        ([[0, 1, 2, 3], [0, 1, 2, 2]], "every row must have each number from 0 to 3 once"),
        ([[0, 1, 2, 3], [0, 1, 2, 3]], "has a permutation twice"),
        ([[0, 1, 2, 3]], "one permutation of integers per row"),
        ([[0.0, 1.0, 2.0, 3.0]] * 2, "one permutation of integers per row"),
    ],
)
def test_another_file_is_one_sentence(rows: object, message: str, tmp_path: Path) -> None:
    np.save(tmp_path / "set.npy", np.asarray(rows))
    with pytest.raises(UsageError, match=message):
        read_permutations(tmp_path / "set.npy", 2)


def test_no_file_and_no_array_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        read_permutations(tmp_path / "none.npy", 2)
    (tmp_path / "text.npy").write_text("0 1 2 3")
    with pytest.raises(UsageError, match=r"must be a \.npy file"):
        read_permutations(tmp_path / "text.npy", 2)
    np.save(tmp_path / "pickle.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    with pytest.raises(UsageError, match=r"must be a \.npy file"):
        read_permutations(tmp_path / "pickle.npy", 2)
