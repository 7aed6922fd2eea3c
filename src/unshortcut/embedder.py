"""The functions `unshortcut.embed` and `unshortcut.embedding_map`."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from torch import Tensor

from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.features import Features
from unshortcut.inference.images import ImagesLike, as_source
from unshortcut.models.embedding import checked_path, write_features
from unshortcut.models.load import as_model
from unshortcut.models.loaded import ModelLike

if TYPE_CHECKING:
    from unshortcut.report.map_page import EmbeddingMap

MAP_IMAGES, MOST_MAP_IMAGES = 5_000, 20_000
"""Default and largest number of images on a map."""


def embed(
    model: ModelLike,
    data: ImagesLike,
    out: str | Path | None = None,
    *,
    map: str | Path | None = None,
    map_images: int = MAP_IMAGES,
    seed: int = 0,
    workers: int | None = None,
    max_unreadable: float | None = None,
    console: Console | None = None,
) -> Features:
    """Compute the features of a data set or of images, and write them to a file if one is given.

    Args:
        model: a spec as in `load_model`, or a loaded model.
        data: a data set or images, as in `LoadedModel.embed`.
        out: an `.npz` file with the arrays `features` (N, D), `identities` (N,) and, if there are
            labels, `labels` (N,) and `classes`; or a `.parquet` file with the columns `identity`,
            `label`, `class` and `features`, which needs pyarrow. Images that could not be read are
            listed with the reasons in a file of the same name that ends in `.unreadable.jsonl`.
        map: an `.html` file for an interactive map of the images, as in `embedding_map`.
        map_images, seed: as `num_images` and `seed` of `embedding_map`.
        workers, max_unreadable, console: as in `LoadedModel.embed`.
    """
    path = None if out is None else checked_path(Path(out))
    page = None if map is None else _checked_page(Path(map))
    _check_count(map_images)
    loaded = as_model(model)
    source = data if page is None else _images(data)
    shown = console or Console(stderr=True)
    features = loaded.embed(source, workers=workers, max_unreadable=max_unreadable, console=shown)
    if path is not None:
        write_features(features, path)
    if page is not None:
        assert isinstance(source, ImageSource)
        from unshortcut.report.map_drawing import draw_map  # features alone need none of it

        drawn = draw_map(
            loaded, source, features,
            data=_name(data), most=map_images, seed=seed, workers=workers, console=shown,
        )  # fmt: skip
        drawn.write(page)
        if drawn.chosen:
            shown.print(drawn.chosen, highlight=False)
    return features


def embedding_map(
    model: ModelLike,
    data: ImagesLike,
    out: str | Path | None = None,
    *,
    num_images: int = MAP_IMAGES,
    seed: int = 0,
    workers: int | None = None,
    console: Console | None = None,
) -> "EmbeddingMap":
    """Place images on a map by their features, so that similar ones are near each other.

    The page of the map is a single file that shows thumbnails and, for each image, its nearest
    neighbors by cosine similarity. A notebook shows the map where it is the value of a cell.

    Args:
        model: a spec as in `load_model`, or a loaded model.
        data: a data set or images, as in `LoadedModel.embed`, but no batch of floats.
        out: an `.html` file to write the page to.
        num_images: largest number of images on the map; of more images a random subset is shown,
            in proportion to the classes, which depends only on the labels and the seed.
        seed: random seed of the choice of images and of t-SNE.
        workers, console: as in `LoadedModel.embed`.
    """
    from unshortcut.report.map_drawing import draw_map

    page = None if out is None else _checked_page(Path(out))
    _check_count(num_images)
    loaded, source, shown = as_model(model), _images(data), console or Console(stderr=True)
    features = loaded.embed(source, workers=workers, console=shown)
    drawn = draw_map(
        loaded, source, features,
        data=_name(data), most=num_images, seed=seed, workers=workers, console=shown,
    )  # fmt: skip
    if page is not None:
        drawn.write(page)
    return drawn


def _images(data: ImagesLike) -> ImageSource:
    if isinstance(data, Tensor) and data.is_floating_point():
        raise UsageError("a map shows images, so it cannot be made of a batch of normalized floats")
    return as_source(data)


def _name(data: ImagesLike) -> str:
    """A data set as the user named it; other data are images at hand."""
    return str(data) if isinstance(data, str | Path) else "images"


def _checked_page(path: Path) -> Path:
    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"a map is written to an .html file, not to '{path}'")
    return path


def _check_count(count: int) -> None:
    if not 1 <= count <= MOST_MAP_IMAGES:
        raise UsageError(f"a map shows from 1 to {MOST_MAP_IMAGES} images, not {count}")
