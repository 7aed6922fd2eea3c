import signal
import time
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest
import torch
from PIL import Image

from tests.build.killing import start, wait_for
from tests.build.sets import digests
from unshortcut.build.proposer import Proposals, Proposer, make_proposer
from unshortcut.build.proposers.features import model_side
from unshortcut.build.proposing import propose
from unshortcut.data.open import open_data
from unshortcut.data.proposals import WithProposals
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.imaging.box_ranking import covered
from unshortcut.models.fine_maps import fine_map
from unshortcut.models.load import load_model
from unshortcut.parts import settings

needs_contrib = pytest.mark.skipif(
    not hasattr(cv2, "ximgproc"), reason="OpenCV's contrib build is not installed"
)


def photos(folder: Path, count: int = 20) -> Path:
    scenes = Shapes("scene", size=64, count=count)
    folder.mkdir()
    for index in range(count):
        Image.fromarray(scenes.image(index).pixels()).save(folder / f"{index:03d}.png")
    return folder


def share_covered(proposer: Proposer, count: int = 40) -> float:
    scenes = Shapes("scene-val", size=128, count=count)
    found: list[np.ndarray] = []
    for index in range(count):
        boxes = scenes.regions(index).boxes
        assert boxes is not None
        proposed = proposer.propose(scenes.image(index).pixels(), 10)
        assert len(proposed.boxes) <= 10
        assert (np.diff(proposed.scores) <= 0).all()
        found.append(covered(boxes, proposed.boxes))
    return float(np.concatenate(found).mean())


@needs_contrib
def test_selective_search_covers_most_objects_of_a_scene() -> None:
    assert share_covered(make_proposer("selective_search", {})) > 0.6


@pytest.mark.parametrize("model", ["timm:resnet18@random", "timm:vit_tiny_patch16_224@random"])
def test_features_of_any_model_give_boxes(model: str) -> None:
    proposer = make_proposer("features", {"model": model, "side": 224})
    scene = cv2.resize(Shapes("scene", count=1).image(0).pixels(), (224, 224))
    boxes, scores = proposer.propose(scene, 10)
    assert 1 <= len(boxes) == len(scores) <= 10
    assert (boxes >= 0).all()
    assert (boxes <= 224).all()


def test_a_vit_is_given_images_of_its_own_size_and_its_patches_are_the_map() -> None:
    spec = "timm:vit_tiny_patch16_224@random"
    assert model_side(spec) == 224 and model_side("timm:resnet18@random") is None
    images = torch.zeros(1, 3, 224, 224, dtype=torch.uint8)
    assert fine_map(load_model(spec), images, cells=14).shape == (1, 192, 14, 14)
    scene = Shapes("scene", count=1).image(0).pixels()
    boxes, _ = make_proposer("features", {"model": spec}).propose(scene, 10)
    assert len(boxes) > 0 and (boxes <= max(scene.shape)).all()


def test_features_of_an_untrained_convnet_cover_more_than_random_boxes() -> None:
    assert share_covered(make_proposer("features", {"model": "timm:resnet18@random"})) > 0.3


def test_features_find_a_bright_square() -> None:
    image = np.full((128, 128, 3), 40, np.uint8)
    image[40:80, 24:72] = 230
    boxes, _ = make_proposer("features", {"model": "timm:resnet18@random"}).propose(image, 10)
    assert covered(np.array([[24, 40, 72, 80]], np.float32), boxes).all()


@settings
class Slow(Proposer):
    """The middle of the image, after some time."""

    name = "slow"
    seconds: float = 0.02

    def propose(self, image: np.ndarray, most: int) -> Proposals:
        time.sleep(self.seconds)
        height, width = image.shape[:2]
        middle = np.array([[width / 4, height / 4, width / 2, height / 2]], np.float32)
        return Proposals(middle, np.ones(1, np.float32))


def test_a_killed_run_goes_on_to_the_same_file(tmp_path: Path) -> None:
    source = photos(tmp_path / "in", 64)
    make = partial(propose, source, method=Slow(), workers=2)
    make(tmp_path / "whole")
    kills = 0
    for goal in (0, 2, 5):
        process = start(make, tmp_path / "killed")
        wait_for(tmp_path / "killed", goal, process.is_alive)
        process.kill()
        process.join()
        kills += process.exitcode == -signal.SIGKILL
    assert kills >= 2, "it was too fast to be killed"
    made = make(tmp_path / "killed")
    assert made.made + made.kept == 64
    assert made.kept > 0
    assert digests(tmp_path / "killed") == digests(tmp_path / "whole")
    again = make(tmp_path / "killed")
    assert (again.made, again.kept) == (0, 64)
    assert sorted(path.name for path in (tmp_path / "whole").iterdir()) == [
        "proposals.csv",
        "sheet.png",
        "unshortcut.json",
    ]


def test_bad_images_are_listed_and_the_others_have_boxes(tmp_path: Path) -> None:
    source = photos(tmp_path / "in")
    (source / "003.png").write_bytes(b"no image")
    made = propose(source, tmp_path / "out", Slow(seconds=0), workers=1)
    assert [failure.identity for failure in made.failures] == ["003.png"]
    boxes = WithProposals(open_data(source), tmp_path / "out")
    assert boxes.without == 1
    for index in (0, 3, 19):
        found = boxes.regions(index).boxes
        expected = [] if index == 3 else [[16, 16, 32, 32]]
        assert found is not None
        assert found.tolist() == expected


def test_ray_writes_the_same_file(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    make = partial(propose, "shapes@scene", method="features", model="timm:resnet18@random")
    from unshortcut.build import inputs

    with pytest.MonkeyPatch.context() as patch:
        small = [Shapes("scene", count=12)]
        patch.setattr(inputs, "_named", lambda spec: small)
        make(tmp_path / "local", workers=1)
        make(tmp_path / "ray", workers=1, engine="ray")
    assert digests(tmp_path / "ray") == digests(tmp_path / "local")


def test_wrong_requests_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    source = photos(tmp_path / "in", 2)
    with pytest.raises(UsageError, match="needs a model"):
        propose(source, tmp_path / "out", "features")
    with pytest.raises(UsageError, match="inside the source"):
        propose(source, source / "out", Slow())
    assert not (tmp_path / "out").exists()
    propose(source, tmp_path / "out", Slow(seconds=0), workers=1)
    with pytest.raises(UsageError, match="other parameters"):
        propose(source, tmp_path / "out", Slow(seconds=0), most=5)
