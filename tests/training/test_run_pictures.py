"""Pictures of what a run predicts: from its last checkpoint, and what cannot be drawn."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.cli.test_cli import call
from tests.methods.small_runs import SMALL as QUICK
from tests.methods.small_runs import small_run
from tests.methods.test_mae import SMALL
from unshortcut.data.open import open_data
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.training.pretraining import pretrain
from unshortcut.training.run_pictures import show_run

DATA = Shapes("val", size=32, count=5)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("can-shapes", tmp_path_factory.mktemp("runs") / "can", SMALL).folder


def test_a_run_is_drawn_with_its_own_views_and_weights(run: Path, tmp_path: Path) -> None:
    page = show_run(run, DATA, tmp_path / "sheet.png", num_images=3)
    assert (tmp_path / "sheet.png").is_file()
    # five columns and three rows of 128 pixels
    assert 5 * 128 < page.width < 6 * 128 and 3 * 128 < page.height < 4 * 128
    assert np.array_equal(np.asarray(page), np.asarray(show_run(run, DATA, num_images=3)))
    masked = show_run(run, DATA, num_images=3, sets=["method.mask_ratio=0.8"])
    assert not np.array_equal(np.asarray(page), np.asarray(masked))


@pytest.mark.parametrize("recipe", ["mae-shapes", "can-shapes"])
def test_a_run_with_views_of_objects_is_drawn_with_them(recipe: str, tmp_path: Path) -> None:
    scenes = Shapes("scene", size=48, count=32)
    sets = [*SMALL, "views.objects={window: 8}"]
    run = small_run(recipe, tmp_path / "run", sets, source=scenes).folder
    objects = show_run(run, scenes, num_images=2)
    whole = show_run(run, scenes, num_images=2, sets=["views.objects=null"])
    assert not np.array_equal(np.asarray(objects), np.asarray(whole))
    with pytest.raises(UsageError, match="these data do not have"):
        show_run(run, DATA)


def test_the_command_takes_a_recipe_or_that_of_the_run(run: Path, tmp_path: Path) -> None:
    pages = [tmp_path / "one.png", tmp_path / "two.png"]
    call("show", "--run", str(run), "--data", "shapes@val", "--out", str(pages[0]))
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text((run / "recipe.yaml").read_text().replace("name: shapes", "name: shapes@val"))
    call("show", str(recipe), "--run", str(run), "--out", str(pages[1]))
    assert pages[0].read_bytes() == pages[1].read_bytes()


def write_photos(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for index in range(40):
        Image.fromarray(Shapes("test", size=32, count=40).image(index).pixels()).save(
            folder / f"{index}.png"
        )
    return folder


def test_without_data_those_of_the_run_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    photos = write_photos(tmp_path / "photos")
    # The recipe names `shapes`, but the run has other images.
    small_run("can-shapes", tmp_path / "run", SMALL, source=open_data("photos"))
    own = np.asarray(show_run("run", num_images=2))
    assert np.array_equal(own, np.asarray(show_run("run", "photos", num_images=2)))
    assert not np.array_equal(own, np.asarray(show_run("run", "shapes", num_images=2)))
    other = np.asarray(show_run("run", num_images=2, sets=["data.name=shapes@val"]))
    assert np.array_equal(other, np.asarray(show_run("run", "shapes@val", num_images=2)))
    # A name that is set counts, also if it is that of the run's recipe.
    stated = np.asarray(show_run("run", num_images=2, sets=["data.name=shapes"]))
    assert np.array_equal(stated, np.asarray(show_run("run", "shapes", num_images=2)))
    (photos / "0.png").unlink()
    with pytest.raises(UsageError, match="'photos' is not, or no longer, what the run was trained"):
        show_run("run")
    photos.rename(tmp_path / "moved")
    with pytest.raises(UsageError, match=r"--data is needed .*: there is no folder 'photos' here"):
        show_run("run")


def test_a_run_whose_recipe_names_a_private_folder_finds_it_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    photos = write_photos(tmp_path / "somewhere" / "photos")
    pretrain("can-shapes", None, tmp_path / "run", sets=[*QUICK, *SMALL, f"data.name={photos}"])
    monkeypatch.chdir(tmp_path)
    own = np.asarray(show_run("run", num_images=2))
    assert np.array_equal(own, np.asarray(show_run("run", photos, num_images=2)))


def test_what_cannot_be_drawn_is_one_sentence(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run folder"):
        show_run(tmp_path, DATA)
    begun = tmp_path / "begun"
    begun.mkdir()
    (begun / "recipe.yaml").write_text((run / "recipe.yaml").read_text())
    with pytest.raises(UsageError, match="has no checkpoint yet"):
        show_run(begun, DATA)
    with pytest.raises(UsageError, match=r"method\.decoder\.depth is 2, not 1$"):
        show_run(run, DATA, sets=["method.decoder.depth=2"])
    moco = small_run("moco-v2-shapes", tmp_path / "moco", ["method.negatives.queue.size=32"])
    with pytest.raises(UsageError, match="'moco', with the settings of this run, predicts nothing"):
        show_run(moco.folder, DATA)
