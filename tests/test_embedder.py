"""`embed` with a map: which images it shows, where, with which neighbors, and what it refuses."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from rich.console import Console

import unshortcut
from unshortcut.data.regions import MultiLabels
from unshortcut.data.source import ArrayImage, ImageSource
from unshortcut.embedder import embedding_map
from unshortcut.errors import UsageError
from unshortcut.models.load import LoadedModel, from_object

EACH = 12
TINTS = {"blue": (20, 30, 220), "green": (20, 220, 30), "red": (220, 30, 20)}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSHORTCUT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def model() -> LoadedModel:
    """Its features are the mean colors of an image."""
    return from_object(lambda images: images.mean((2, 3)), "colors", size=40)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Images of three tints with some noise, and one that cannot be read."""
    random = np.random.default_rng(0)
    for name, tint in TINTS.items():
        (tmp_path / "images" / name).mkdir(parents=True)
        for number in range(EACH):
            shade = np.array(tint) + random.integers(-20, 20, 3)
            pixels = np.broadcast_to(shade.clip(0, 255).astype(np.uint8), (40, 40, 3))
            Image.fromarray(np.ascontiguousarray(pixels)).save(
                tmp_path / "images" / name / f"{number:02}.png"
            )
    (tmp_path / "images" / "red" / "05.png").write_bytes(b"no image")
    return tmp_path / "images"


@pytest.mark.filterwarnings("ignore:1 of 36 images")
def test_a_map_shows_all_readable_images_with_their_nearest_neighbors(
    model: LoadedModel, folder: Path
) -> None:
    drawn = embedding_map(model, folder)
    features = model.embed(folder)
    assert drawn.identities == features.identities and len(drawn.identities) == 3 * EACH - 1
    assert drawn.total == 3 * EACH - 1 and drawn.chosen is None
    assert drawn.classes == tuple(TINTS)
    assert [drawn.classes[label] for (label,) in drawn.labels] == [
        name.partition("/")[0] for name in drawn.identities
    ]
    values = features.values.astype(np.float64)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    cosines = values @ values.T - 9 * np.eye(len(values))
    np.testing.assert_allclose(drawn.cosines, -np.sort(-cosines)[:, :8], atol=1e-6)
    found = np.take_along_axis(cosines, drawn.neighbors, axis=1)
    np.testing.assert_allclose(found, drawn.cosines, atol=1e-6)


@pytest.mark.filterwarnings("ignore:1 of 36 images")
def test_of_more_images_a_keyed_subset_is_shown_and_told(
    model: LoadedModel, folder: Path, tmp_path: Path
) -> None:
    told = Console(file=io.StringIO(), width=200)
    page, out = tmp_path / "deep" / "map.html", tmp_path / "features.npz"
    features = unshortcut.embed(model, folder, out, map=page, map_images=9, console=told)
    assert len(features.values) == 3 * EACH - 1 and len(np.load(out)["features"]) == 3 * EACH - 1
    sentence = "The map shows 9 of 35 images, chosen at random, in proportion to the classes"
    assert sentence in page.read_text(encoding="utf-8")
    assert isinstance(told.file, io.StringIO) and sentence in told.file.getvalue()
    chosen = [embedding_map(model, folder, num_images=9, seed=seed) for seed in (0, 0, 1)]
    assert chosen[0].html() == chosen[1].html() == page.read_text(encoding="utf-8")
    assert set(chosen[0].identities) != set(chosen[2].identities)
    for one in chosen:
        assert np.bincount([label for (label,) in one.labels]).tolist() == [3, 3, 3]


class Tables(ImageSource):
    """Six images, each of which shows several classes or none."""

    multilabels = MultiLabels(
        ("cup", "plate"), np.array([[1, 0], [0, 1], [1, 1], [0, 0], [-1, 1], [1, 0]], np.int8)
    )

    def __len__(self) -> int:
        return 6

    def image(self, index: int) -> ArrayImage:
        return ArrayImage(np.full((40, 40, 3), 40 * index, np.uint8))

    def identity(self, index: int) -> str:
        return f"table {index}"

    def fingerprint(self) -> str:
        return "tables"


def test_images_may_show_several_classes(model: LoadedModel) -> None:
    drawn = embedding_map(model, Tables())
    assert drawn.classes == ("cup", "plate")
    assert drawn.labels == ((0,), (1,), (0, 1), (), (1,), (0,))


def test_images_at_hand_and_a_single_one_have_a_map(model: LoadedModel) -> None:
    images = [Image.new("RGB", (50, 40), tint) for tint in TINTS.values()]
    drawn = embedding_map(model, images)
    assert drawn.neighbors.shape == (3, 2) and drawn.data == "images" and not drawn.classes
    alone = embedding_map(model, images[:1])
    assert alone.neighbors.shape == (1, 0) and "One image." in alone.html()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"map": "map.png"}, "written to an .html file, not to 'map.png'"),
        ({"map": "map.html", "map_images": 0}, "from 1 to 20000 images, not 0"),
        ({"map": "map.html"}, "batch of normalized floats"),
    ],
)
def test_what_cannot_be_a_map_is_told(
    model: LoadedModel, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        unshortcut.embed(model, torch.zeros(2, 3, 40, 40), **options)  # type: ignore[arg-type]
