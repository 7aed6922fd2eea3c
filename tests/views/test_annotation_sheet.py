"""Sheets of annotated images: what is drawn where, in which color, under which name."""

from typing import Any

import numpy as np
import pytest
from PIL import Image as PillowImage
from PIL import ImageDraw

from unshortcut.cli.main import main
from unshortcut.data.regions import IGNORED, MultiLabels, Regions
from unshortcut.data.source import ArrayImage, BadImageError, ImageSource
from unshortcut.errors import RunError
from unshortcut.training.contact_sheet import show_data
from unshortcut.views.annotation_sheet import data_sheet, region_sheet, sample_images
from unshortcut.views.region_drawing import ClassNames, class_color, draw_regions, ink

GRAY = np.full((40, 60, 3), 100, np.uint8)
NAMES = ClassNames(boxes=("cat", "dog"), masks=("background", "dog", "cat"))


class Made(ImageSource):
    """Gray images, each with the regions given for it; None is an image that cannot be read."""

    def __init__(self, *regions: Regions | None) -> None:
        self.given = regions
        self.box_classes, self.mask_classes = ("cat", "dog"), ("background", "dog", "cat")

    def __len__(self) -> int:
        return len(self.given)

    def image(self, index: int) -> ArrayImage:
        if self.given[index] is None:
            raise BadImageError("cut off")
        return ArrayImage(GRAY)

    def regions(self, index: int) -> Regions:
        return self.given[index] or Regions()

    def identity(self, index: int) -> str:
        return f"image-{index}.png"

    def fingerprint(self) -> str:
        return "made"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[float, ...]]]:
    """The texts that are drawn, with the rectangles that they cover."""
    texts: list[tuple[str, tuple[float, ...]]] = []
    draw = ImageDraw.ImageDraw.text

    def record(self: Any, xy: Any, text: str, *args: Any, **options: Any) -> None:
        box = self.textbbox(xy, text, font=options["font"], anchor=options.get("anchor"))
        texts.append((text, box))
        draw(self, xy, text, *args, **options)

    monkeypatch.setattr(ImageDraw.ImageDraw, "text", record)
    return texts


def boxes(*rows: tuple[float, float, float, float], label: int = 0) -> Regions:
    return Regions.of_boxes(np.array(rows, np.float32), np.full(len(rows), label))


def pixel(picture: PillowImage.Image, x: int, y: int) -> list[int]:
    return list(np.asarray(picture)[y, x])


def test_a_box_is_drawn_at_its_place_in_the_color_of_its_class() -> None:
    picture = draw_regions(GRAY, boxes((10, 20, 30, 35)), NAMES, side=120)  # twice the size
    assert picture.size == (120, 80)
    cat = list(NAMES.colors()["cat"])
    drawn = (np.asarray(picture) == cat).all(axis=2)
    around = drawn[40:72, 18:62]  # without the name above it
    assert pixel(picture, 20, 69) == pixel(picture, 59, 50) == pixel(picture, 20, 40) == cat
    assert around.sum() == drawn[40:70, 20:60].sum() == 40 * 30 - 36 * 26
    assert pixel(picture, 40, 55) == [100, 100, 100]


def test_a_mask_is_tinted_except_for_the_background() -> None:
    mask = np.zeros((40, 60), np.uint8)
    mask[:, 20:40], mask[:, 40:] = 2, IGNORED
    picture = draw_regions(GRAY, Regions(mask=mask), NAMES, side=60)
    cat = np.array(NAMES.colors()["cat"])
    assert pixel(picture, 10, 20) == [100, 100, 100]
    np.testing.assert_allclose(pixel(picture, 30, 20), 100 + 0.45 * (cat - 100), atol=1)
    assert pixel(picture, 20, 5) == cat.tolist()  # the line around it
    ignored = np.asarray(picture)[:, 42:]
    assert (ignored == ignored[..., :1]).all() and len(np.unique(ignored)) == 2  # gray stripes


def test_ignored_boxes_are_gray() -> None:
    regions = Regions.of_boxes(np.array([[10, 20, 30, 35]]), np.array([1]), np.array([True]))
    picture = np.asarray(draw_regions(GRAY, regions, NAMES, side=60))
    assert (picture == picture[..., :1]).all() and len(np.unique(picture)) > 2


def test_names_do_not_overlap_and_stay_inside(written: list[Any]) -> None:
    rng = np.random.default_rng(0)
    corners = rng.uniform((0, 0), (45, 30), (12, 2))
    many = boxes(*np.concatenate([corners, corners + rng.uniform(3, 15, (12, 2))], 1).tolist())
    draw_regions(GRAY, many, NAMES, side=200, scores=rng.random(12).astype(np.float32))
    assert len(written) >= 4
    for number, (_, (x0, y0, x1, y1)) in enumerate(written):
        assert x0 >= 0 and y0 >= 0 and x1 <= 200 and y1 <= 134
        for _, (a0, b0, a1, b1) in written[:number]:
            assert x1 <= a0 or a1 <= x0 or y1 <= b0 or b1 <= y0


def test_a_name_goes_where_it_hides_no_small_box(written: list[Any]) -> None:
    lower, upper = (20, 24, 44, 38), (22, 17, 28, 23)  # the upper lies where the name would
    draw_regions(GRAY, boxes(lower, upper), NAMES, side=120)
    (_, spot) = next((text, box) for text, box in written if box[1] > 2 * 23)
    assert spot[1] >= 2 * 24
    assert len(written) == 2


def test_colors_belong_to_names_and_text_on_them_is_legible() -> None:
    colors = NAMES.colors()
    assert list(colors) == ["cat", "dog"]
    assert len({class_color(number) for number in range(80)}) == 80

    def luminance(color: tuple[int, ...]) -> float:
        parts = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    for number in range(80):
        light, dark = sorted(
            (luminance(class_color(number)), luminance(ink(class_color(number)))), reverse=True
        )
        assert (light + 0.05) / (dark + 0.05) > 4.4


def test_predictions_stand_beside_annotations_with_scores(written: list[Any]) -> None:
    page = region_sheet(
        [GRAY],
        [boxes((10, 20, 30, 35))],
        NAMES,
        predictions=[boxes((30, 20, 50, 35), label=1)],
        scores=[np.array([0.874], np.float32)],
        captions=["one.png"],
        side=120,
    )
    at = dict(written)
    assert set(at) == {"cat", "dog 87", "dog", "annotated", "predicted", "one.png"}
    assert at["annotated"][0] < 120 < at["predicted"][0]
    assert page.height > at["one.png"][3] + 20  # room for the legend
    drawn = np.asarray(page)
    for name, left in (("cat", 6), ("dog", 6 + 126)):
        columns = np.nonzero((drawn[60:100] == NAMES.colors()[name]).all(axis=2))[1]
        assert left <= columns.min() and columns.max() < left + 120


def test_the_legend_has_the_classes_that_are_seen(written: list[Any]) -> None:
    mask = np.zeros((40, 60), np.uint8)
    region_sheet([GRAY], [Regions(mask=mask)], NAMES)
    assert written == []
    mask[3:9] = 1
    mask[0] = IGNORED
    region_sheet([GRAY], [Regions(mask=mask)], NAMES)
    assert [text for text, _ in written] == ["dog", "ignored"]


def test_images_that_cannot_be_used_are_skipped(written: list[Any]) -> None:
    small = Regions(mask=np.zeros((3, 3), np.uint8))  # not the size of the image
    source = Made(None, small, boxes((1, 2, 30, 30)), Regions(), None)
    assert sorted(one.index for one in sample_images(source, 0, 5)) == [2, 3]
    first = data_sheet(source, 1)
    assert first.tobytes() == data_sheet(source, 1).tobytes()
    with pytest.raises(RunError, match="no image can be drawn; the last one failed: cut off"):
        data_sheet(Made(None, None))


def test_captions_are_classes_where_images_have_them(written: list[Any]) -> None:
    source = Made(Regions())
    source.box_classes = source.mask_classes = None
    source.multilabels = MultiLabels(("a", "b", "c"), np.array([[1, 0, 1]], np.int8))
    data_sheet(source)
    source.multilabels, source.classes, source.labels = None, ("kite",), np.array([0])
    data_sheet(source)
    source.labels = np.array([-1])
    data_sheet(source)
    assert [text for text, _ in written] == ["a, c", "kite", "image-0.png"]


def test_the_command_draws_data_without_a_recipe(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        (tmp_path / "photos" / "cat").mkdir(parents=True, exist_ok=True)
        PillowImage.fromarray(GRAY).save(tmp_path / "photos" / "cat" / f"{number}.png")
    out = tmp_path / "sheet.png"
    photos = str(tmp_path / "photos")
    with pytest.raises(SystemExit, match="0"):
        main(["show", "--data", photos, "--out", str(out), "--num-images", "2"])
    expected = show_data(photos, num_images=2)
    assert PillowImage.open(out).tobytes() == expected.tobytes()
    with pytest.raises(SystemExit, match="2"):
        main(["show", "--data", photos, "--samples", "2"])
    assert "--samples needs a recipe" in capsys.readouterr().err
