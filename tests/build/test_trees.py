"""Trees of images: the same bytes for any number of workers, and unchanged sources."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.build.sets import digests, encoded, pixels, plain_tree, write_tree
from tests.data.bad_folder import make_bad_folder
from tests.data.images import write_tar
from unshortcut.build.api import filter_data, texturize
from unshortcut.build.operation import make_operation
from unshortcut.data.copies import MANIFEST, open_copy
from unshortcut.data.decode import EncodedImage
from unshortcut.data.open import open_data
from unshortcut.data.shapes import Shapes
from unshortcut.errors import RunError
from unshortcut.randomness import generator

NAMES = ["train/a/1.jpg", "train/b/x.y.JPEG", "val/a/2.png", "val/b/deep/3.webp", "4.bmp", "val/5"]


def manifest(folder: Path) -> dict:
    return json.loads((folder / MANIFEST).read_text())


def test_the_tree_is_mirrored_and_each_copy_is_the_filtered_image(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "in", NAMES)
    (source / "notes.txt").write_text("no image")
    made = filter_data(source, tmp_path / "out", "anisotropic", iterations=5, format="png")
    expected = {"train/a/1.jpg.png", "train/b/x.y.JPEG.png", "val/a/2.png"}
    expected |= {"val/b/deep/3.webp.png", "4.bmp.png", "val/5.png", MANIFEST}
    assert {name for name in digests(tmp_path / "out") if not name.endswith("/")} == expected
    assert (made.made, made.kept, made.failures) == (6, 0, ())
    operation = make_operation("anisotropic", {"iterations": 5})
    for name in NAMES:
        image = EncodedImage((source / name).read_bytes()).pixels()
        copy = name if name.endswith(".png") else f"{name}.png"
        assert np.array_equal(
            pixels(tmp_path / "out" / copy), operation.apply(image, generator(0))
        ), name


def test_random_methods_have_the_key_of_seed_and_path(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "in", ["a/1.png", "b/1.png"])
    shutil.copy(source / "a/1.png", source / "b/1.png")
    filter_data(source, tmp_path / "0", "stylized")
    filter_data(source, tmp_path / "1", "stylized", seed=1)
    image = EncodedImage((source / "a/1.png").read_bytes()).pixels()
    operation = make_operation("stylized", {})
    for seed in (0, 1):
        for name in ("a/1.png", "b/1.png"):
            expected = operation.apply(image, generator(seed, "stylized", name))
            assert np.array_equal(pixels(tmp_path / str(seed) / name), expected)


def test_any_number_of_workers_gives_the_same_bytes(tmp_path: Path) -> None:
    source = plain_tree(tmp_path / "in", 20)
    for workers in (1, 2, 3):
        filter_data(source, tmp_path / f"f{workers}", "gaussian", workers=workers)
        texturize(source, tmp_path / f"t{workers}", size=24, workers=workers)
    for kind in "ft":
        first = digests(tmp_path / f"{kind}1")
        assert len(first) == 20 + 1 + 8
        assert first == digests(tmp_path / f"{kind}2") == digests(tmp_path / f"{kind}3")


def test_jpeg_stays_jpeg_at_its_quality(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "in", NAMES)
    for quality in (95, 30):
        filter_data(source, tmp_path / str(quality), "gaussian", quality=quality)
    good, poor = (tmp_path / folder / "train/a/1.jpg" for folder in ("95", "30"))
    assert good.read_bytes()[:3] == b"\xff\xd8\xff"
    assert poor.stat().st_size < 0.7 * good.stat().st_size
    assert (tmp_path / "95/val/5.png").read_bytes()[:4] == b"\x89PNG", "no extension says JPEG"


def test_sources_are_only_read(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "in", NAMES)
    before = {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in source.rglob("*")}
    content = digests(source)
    filter_data(source, tmp_path / "out", "gaussian", keep_originals=True)
    assert digests(source) == content
    assert {p: (p.stat().st_mtime_ns, p.stat().st_ino) for p in source.rglob("*")} == before


def test_kept_originals_are_next_to_their_copies(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "in", NAMES)
    filter_data(source, tmp_path / "out", "gaussian", keep_originals=True)
    for name in NAMES:
        assert (tmp_path / "out" / name).read_bytes() == (source / name).read_bytes()
    copies = {"train/a/1-gaussian.jpg", "train/b/x.y-gaussian.JPEG", "val/a/2-gaussian.png"}
    copies |= {"val/b/deep/3-gaussian.webp.png", "4-gaussian.bmp.png", "val/5-gaussian.png"}
    files = {name for name in digests(tmp_path / "out") if not name.endswith("/")}
    assert files == {*NAMES, *copies, MANIFEST}
    read = open_data(tmp_path / "out", split="train")
    assert read.classes == ("a", "b") and len(read) == 4


def test_the_copy_is_found_by_the_identity_of_its_original(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "in", NAMES)
    filter_data(source, tmp_path / "out", "gaussian")
    copy = open_copy(str(tmp_path / "out"))
    for name in NAMES:
        assert copy.image(name).pixels().shape == (40, 48, 3)


def test_a_tar_file_of_a_tree_becomes_the_same_folder(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "data", NAMES)
    write_tar(tmp_path / "data.tar", {name: (source / name).read_bytes() for name in NAMES})
    filter_data(source, tmp_path / "a", "stylized")
    filter_data(tmp_path / "data.tar", tmp_path / "b", "stylized")
    first, second = digests(tmp_path / "a"), digests(tmp_path / "b")
    first.pop(MANIFEST), second.pop(MANIFEST)
    assert first == second and len(first) > 6


def test_a_split_is_copied_alone(tmp_path: Path) -> None:
    source = plain_tree(tmp_path / "in", 6)
    filter_data(f"{source}@val", tmp_path / "out", "gaussian")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"val", MANIFEST}
    assert manifest(tmp_path / "out")["source"] == "in@val"


def test_a_rendered_set_becomes_a_tree_of_png(tmp_path: Path) -> None:
    shapes = Shapes("test", size=32, count=5)
    filter_data(shapes, tmp_path / "out", "gaussian", keep_originals=True)
    for index in range(5):
        name = shapes.identity(index)
        assert np.array_equal(
            pixels(tmp_path / "out" / f"{name}.png"), shapes.image(index).pixels()
        )
        assert (tmp_path / "out" / f"{name}-gaussian.png").is_file()
    assert len(list((tmp_path / "out").rglob("*.png"))) == 10


def test_unreadable_images_are_listed_and_the_rest_is_made(tmp_path: Path) -> None:
    bad = make_bad_folder(tmp_path / "in", good=3, side=24)
    made = filter_data(bad.root, tmp_path / "out", "gaussian")
    listed = manifest(tmp_path / "out")
    assert {failure["path"] for failure in listed["failures"]} == bad.bad
    assert all(failure["reason"] for failure in listed["failures"])
    assert listed["counts"] == {
        "images": len(bad.sizes) + len(bad.bad), "made": len(bad.sizes), "failed": len(bad.bad)
    }  # fmt: skip
    assert made.made == len(bad.sizes) and {f.identity for f in made.failures} == bad.bad
    for name, (height, width) in bad.sizes.items():
        copy = tmp_path / "out" / name
        copy = copy if copy.is_file() else copy.with_name(f"{copy.name}.png")
        assert pixels(copy).shape == (height, width, 3), name


def test_a_run_that_can_read_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jpg").write_bytes(b"nothing")
    with pytest.raises(RunError, match=r"none of the 1 images could be read; a.jpg: "):
        filter_data(tmp_path / "in", tmp_path / "out", "gaussian")


def test_a_name_that_is_no_text_is_mirrored(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    name = b"caf\xe9.jpg"
    try:
        Path(str(tmp_path / "in").encode().decode() + "/" + name.decode("utf-8", "surrogateescape")
             ).write_bytes(encoded(0))  # fmt: skip
    except OSError:
        pytest.skip("this file system takes text only")
    filter_data(tmp_path / "in", tmp_path / "out", "gaussian", keep_originals=True)
    names = sorted(path.name for path in (tmp_path / "out").glob("*.jpg"))
    assert names == ["caf\udce9-gaussian.jpg", "caf\udce9.jpg"]


def test_the_manifest_tells_how_and_not_where(tmp_path: Path) -> None:
    source = plain_tree(tmp_path / "in", 3)
    styles = write_tree(tmp_path / "paintings", ["1.png", "2.png"])
    filter_data(source, tmp_path / "out", "stylized", styles=str(styles), seed=7, quality=80)
    text = (tmp_path / "out" / MANIFEST).read_text()
    content = json.loads(text)
    assert str(tmp_path) not in text
    assert (
        content["command"] == "filter" and content["source"] == "in" and content["finished"] is True
    )
    assert content["operation"] == {
        "name": "stylized", "strength": 1.0, "styles": "paintings", "adain": None
    }  # fmt: skip
    assert (content["seed"], content["quality"], content["format"], content["keep_originals"]) == (
        7,
        80,
        "keep",
        False,
    )
    assert {"numpy", "simplejpeg", "numba", "unshortcut"} <= set(content["versions"])
