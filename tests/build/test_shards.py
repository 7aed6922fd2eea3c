"""Shards become shards, and samples keep their other members."""

import itertools
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from tests.build.sets import digests, encoded, write_shards
from tests.data.images import write_tar
from unshortcut.build.api import filter_data, texturize
from unshortcut.build.operation import make_operation
from unshortcut.data.copies import MANIFEST, open_copy
from unshortcut.data.decode import EncodedImage
from unshortcut.data.open import open_data
from unshortcut.errors import UsageError
from unshortcut.randomness import generator


def members(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        read = ((member.name, archive.extractfile(member)) for member in archive)
        return {name: file.read() for name, file in read if file is not None}


@pytest.fixture
def pattern(tmp_path: Path) -> str:
    return write_shards(tmp_path / "in", 3, 4)


def out_pattern(folder: Path) -> str:
    return f"{folder}/s-{{00..02}}.tar"


def test_each_sample_keeps_its_members_and_gets_another_image(pattern: str, tmp_path: Path) -> None:
    made = filter_data(pattern, tmp_path / "out", "stylized", format="png")
    assert made.made == 12
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"s-00.tar", "s-01.tar", "s-02.tar", MANIFEST}
    operation = make_operation("stylized", {})
    for shard in ("s-00.tar", "s-02.tar"):
        before, after = members(tmp_path / "in" / shard), members(tmp_path / "out" / shard)
        assert [name.replace(".jpg", ".png") for name in before] == list(after)
        for name, content in before.items():
            if name.endswith(".jpg"):
                image = EncodedImage(content).pixels()
                rng = generator(0, "stylized", f"{shard}/{name}")
                copy = EncodedImage(after[name.replace(".jpg", ".png")]).pixels()
                assert np.array_equal(copy, operation.apply(image, rng))
            else:
                assert after[name] == content


def test_they_are_read_as_the_originals_are(pattern: str, tmp_path: Path) -> None:
    filter_data(pattern, tmp_path / "out", "gaussian")
    before, after = open_data(pattern), open_data(out_pattern(tmp_path / "out"))
    assert after.classes == before.classes and after.labels is not None
    assert np.array_equal(after.labels, before.labels)
    copy = open_copy(out_pattern(tmp_path / "out"))
    for index in range(len(before)):
        found = copy.image(before.identity(index)).pixels()
        assert np.array_equal(found, after.image(index).pixels())


def test_any_number_of_workers_gives_the_same_bytes(pattern: str, tmp_path: Path) -> None:
    for workers in (1, 2, 3):
        texturize(pattern, tmp_path / str(workers), size=16, workers=workers)
    first = digests(tmp_path / "1")
    assert len(first) == 4 and first == digests(tmp_path / "2") == digests(tmp_path / "3")


def test_a_shard_with_originals_has_both_samples_labeled(pattern: str, tmp_path: Path) -> None:
    filter_data(pattern, tmp_path / "out", "gaussian", keep_originals=True)
    before, after = members(tmp_path / "in/s-01.tar"), members(tmp_path / "out/s-01.tar")
    assert len(after) == 2 * len(before)
    assert before.items() <= after.items()
    for name, content in before.items():
        key, _, ending = name.partition(".")
        copied = after[f"{key}-gaussian.{ending}"]
        assert (copied == content) == (ending != "jpg")
    # The members of a sample lie side by side, as readers of shards want it.
    keys = [name.partition(".")[0] for name in after]
    assert len(set(keys)) == 1 + sum(a != b for a, b in itertools.pairwise(keys))
    both = open_data(out_pattern(tmp_path / "out"))
    assert len(both) == 24 and both.labels is not None
    assert both.labels.tolist() == [label for label in open_data(pattern).labels for _ in "ab"]


def test_a_single_shard_and_odd_members(tmp_path: Path) -> None:
    write_tar(
        tmp_path / "one.tar",
        {
            "a.webp": encoded(1, "WEBP"),
            "meta.json": b"{}",
            "a.cls": b"1",
            "b.seg.png": b"a mask",
            "b.JPG": encoded(2),
            "b.cls": b"0",
            "README": b"hello",
        },
    )
    filter_data(tmp_path / "one.tar", tmp_path / "out", "gaussian")
    after = members(tmp_path / "out/one.tar")
    assert set(after) == {"a.png", "a.cls", "meta.json", "b.seg.png", "b.JPG", "b.cls", "README"}
    assert after["b.seg.png"] == b"a mask" and after["README"] == b"hello"
    assert EncodedImage(after["a.png"]).pixels().shape == (40, 48, 3)


def test_unreadable_samples_are_left_out_and_listed_once(pattern: str, tmp_path: Path) -> None:
    broken = members(tmp_path / "in/s-01.tar") | {"d/0005.jpg": b"broken"}
    write_tar(tmp_path / "in/s-01.tar", broken)
    (tmp_path / "in/s-02.tar").write_bytes((tmp_path / "in/s-02.tar").read_bytes()[:4000])
    made = filter_data(pattern, tmp_path / "out", "gaussian")
    assert [f.identity for f in made.failures] == ["s-01.tar/d/0005.jpg", "s-02.tar"]
    assert "not a whole tar file" in made.failures[1].reason
    assert not any("0005" in name for name in members(tmp_path / "out/s-01.tar"))
    whole = digests(tmp_path / "out")
    told = json.loads((tmp_path / "out" / MANIFEST).read_text())
    (tmp_path / "out" / MANIFEST).write_text(json.dumps({**told, "finished": False}))
    again = filter_data(pattern, tmp_path / "out", "gaussian")
    assert (again.made, again.kept) == (0, 7) and again.failures == made.failures
    assert digests(tmp_path / "out") == whole
    # Mended, it is made with the rest of its shard.
    write_tar(tmp_path / "in/s-01.tar", broken | {"d/0005.jpg": encoded(5)})
    assert filter_data(pattern, tmp_path / "out", "gaussian").made == 4
    assert "d/0005.jpg" in members(tmp_path / "out/s-01.tar")


def test_what_cannot_be(pattern: str, tmp_path: Path) -> None:
    refused = [
        (pattern, tmp_path / "in", "lies inside"),
        (f"{tmp_path}/in/s-{{00..07}}.tar", tmp_path / "out", "no such shard: .*s-03.tar"),
        (f"{pattern}@train", tmp_path / "out", "shards have no splits"),
    ]
    for folder in ("x0", "x1"):
        write_shards(tmp_path / folder, 1, 1)
    twins = f"{tmp_path}/x{{0..1}}/s-00.tar"
    refused.append((twins, tmp_path / "out", "would both become s-00.tar"))
    for source, destination, message in refused:
        with pytest.raises(UsageError, match=message):
            filter_data(source, destination, "gaussian")
    assert not (tmp_path / "out").exists()
    assert len(members(tmp_path / "in/s-00.tar")) == 12


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    content = {"a.webp": encoded(1, "WEBP"), "a.cls": b"0", "a.png": b"a mask"}
    write_tar(tmp_path / "one.tar", content)
    with pytest.raises(UsageError, match=r"two members of one.tar would be called a.png"):
        filter_data(tmp_path / "one.tar", tmp_path / "out", "gaussian")
