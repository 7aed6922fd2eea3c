"""Published weights: the encoder and the head of every layout, and what does not fit."""

import argparse
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import timm
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

from tests.models.published import layouts
from tests.models.published.layouts import LAYOUTS, PREFIXES
from tests.small import TINY_RECIPE
from unshortcut.errors import UsageError
from unshortcut.models.load import load_model
from unshortcut.recipes.load import load_recipe
from unshortcut.result import public_name
from unshortcut.training.pretraining import build_method
from unshortcut.training.projection import load_projection

IMAGES = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))


def save(content: Any, path: Path, **options: Any) -> Path:
    torch.save(content, path, **options)
    return path


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LAYOUTS)
def test_encoder_and_head_of_every_layout(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.manual_seed(0)
    layout = LAYOUTS[name]()
    path = save(layout.content, tmp_path / "weights.pth")
    transformer = name in ("dino", "moco_v3")
    spec = f"timm:{'test_vit' if transformer else 'test_resnet'}@{path}"
    images = torch.randn(2, 3, 160, 160) if transformer else IMAGES
    loaded = load_model(spec)
    close(loaded.features(images), layout.features(images))
    close(load_projection(spec).features(images), layout.embeddings(images))
    said = capsys.readouterr().err
    assert f"from '{PREFIXES[name]}'" in said
    assert (loaded.logits is not None) == (name == "solo_learn")


def test_mocos_file_alone_names_its_architecture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.manual_seed(0)
    encoder, other = torchvision.models.resnet18(), torchvision.models.resnet18()
    encoder.fc = other.fc = nn.Identity()
    layers = [nn.Linear(512, 16), nn.ReLU(), nn.Linear(16, 12)]
    head = nn.Sequential(*layers)
    path = save(layouts.moco(encoder, head, other), tmp_path / "moco_v2.pth.tar")
    loaded, projection = load_model(path), load_projection(path)
    with torch.no_grad():
        features = encoder.eval()(IMAGES)
        close(loaded.features(IMAGES), features)
        close(projection.features(IMAGES), F.normalize(head(features), dim=1))
    assert loaded.name == "moco_v2.pth.tar" and loaded.preprocessing.crop_share == 0.875
    said = capsys.readouterr().err.splitlines()[0]
    assert said == (
        "'moco_v2.pth.tar': timm:resnet18 from 'state_dict.module.encoder_q', head 512-16-12 from "
        "'state_dict.module.encoder_q.fc'; not used: 'encoder_k' (124), 'queue' (1), 'queue_ptr' "
        "(1); to use 'state_dict.module.encoder_k' instead, append it to the file after a colon."
    )
    keys = load_model(f"{path}:encoder_k", size=64)
    assert keys.preprocessing.size == 64
    with torch.no_grad():
        close(keys.features(IMAGES), other.eval()(IMAGES))
    assert len({keys.fingerprint, loaded.fingerprint, projection.fingerprint}) == 3
    assert load_model(path).fingerprint == loaded.fingerprint
    with pytest.raises(UsageError, match="has no encoder 'encoder_x'; there is one under 'state_d"):
        load_model(f"{path}:encoder_x")


def test_lightlys_backbone_is_a_sequence_without_names(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = torchvision.models.resnet18()
    backbone = nn.Sequential(*list(network.children())[:-1]).eval()
    projection = nn.Sequential(nn.Linear(512, 16), nn.ReLU(), nn.Linear(16, 12))
    state = {
        **layouts.named("backbone", backbone), **layouts.named("backbone_momentum", backbone),
        **layouts.named("projection_head.layers", projection),
        **layouts.named("projection_head_momentum.layers", nn.Linear(512, 12)),
    }  # fmt: skip
    path = save({"state_dict": state, "epoch": 1}, tmp_path / "lightly.ckpt")
    with torch.no_grad():
        features = backbone(IMAGES).flatten(1)
        close(load_model(path).features(IMAGES), features)
        close(load_model(f"torchvision:resnet18@{path}").features(IMAGES), features)
        close(load_projection(path).features(IMAGES), F.normalize(projection(features), dim=1))


def test_a_supervised_file_gives_logits_and_the_classes_of_imagenet(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = timm.create_model("test_resnet").eval()
    path = save({"arch": "test_resnet", "state_dict": model.state_dict()}, tmp_path / "a.pth")
    loaded = load_model(path)
    assert loaded.logits is not None and loaded.classes is not None
    with torch.no_grad():
        close(loaded.logits(IMAGES), model(IMAGES))
    assert loaded.classes[0] == "n01440764" and len(loaded.classes) == 1000
    with pytest.raises(UsageError, match=r"'a.pth' has no projection head that is recognized"):
        load_projection(path)
    for name in ("test_convnext", "test_byobnet"):  # whose classifiers are in a head
        few = timm.create_model(name, num_classes=5).eval()
        loaded = load_model(f"timm:{name}@{save(few.state_dict(), tmp_path / 'b.bin')}")
        assert loaded.classes is None and loaded.logits is not None
        with torch.no_grad():
            close(loaded.logits(IMAGES), few(IMAGES))
            close(loaded.features(IMAGES), few.forward_head(few.forward_features(IMAGES), True))


def test_torchvisions_names_are_found_too(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = torchvision.models.squeezenet1_0()
    with pytest.raises(UsageError, match="squeezenet1_0 has no linear classifier"):
        load_model(f"torchvision:squeezenet1_0@{save(model.state_dict(), tmp_path / 'a.pth')}")
    model = torchvision.models.shufflenet_v2_x0_5().eval()
    state = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    loaded = load_model(f"torchvision:shufflenet_v2_x0_5@{save(state, tmp_path / 'b.pth')}")
    assert loaded.logits is not None and loaded.classes is not None
    with torch.no_grad():
        close(loaded.logits(IMAGES), model(IMAGES))
    assert loaded.classes[0] == "tench" and loaded.features(IMAGES).shape == (2, 1024)


def test_safetensors_need_an_architecture(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    model = timm.create_model("test_resnet", num_classes=0).eval()
    path = tmp_path / "theirs.safetensors"
    save_file(model.state_dict(), path)
    with torch.no_grad():
        close(load_model(f"timm:test_resnet@{path}").features(IMAGES), model(IMAGES))
    with pytest.raises(UsageError, match=r"has no card: .* write timm:NAME@theirs.safetensors"):
        load_model(path)


def test_what_does_not_fit_is_listed(tmp_path: Path) -> None:
    state = timm.create_model("test_resnet").state_dict()
    fewer = {k: v for k, v in state.items() if not k.startswith("layer4.0.conv1")}
    fewer["layer1.0.bn1.weight"] = torch.ones(3)
    fewer["layer2.1.conv1.weight"] = torch.ones(3)
    path = save({"model": fewer}, tmp_path / "a.pth")
    message = (
        r"'a.pth' does not fit timm:test_resnet: of \d+ tensors under 'model', "
        r"1 is missing \(layer4.0.conv1.weight\); 1 has another shape \(layer1.0.bn1.weight: "
        r"\(3,\) instead of \(32,\)\); 1 is left over \(layer2.1.conv1.weight\)"
    )
    with pytest.raises(UsageError, match=message):
        load_model(f"timm:test_resnet@{path}")
    with pytest.raises(UsageError, match=r"^no tensor in 'b.pth' fits timm:test_resnet; its tens"):
        load_model(f"timm:test_resnet@{save({'x': torch.ones(2)}, tmp_path / 'b.pth')}")


def test_the_wrong_depth_is_said_with_the_right_one(tmp_path: Path) -> None:
    # Every tensor of a ResNet-18 has its name and shape in a ResNet-34, too.
    state = torchvision.models.resnet34().state_dict()
    path = save(state, tmp_path / "deeper.pth")
    with pytest.raises(UsageError, match=r"\d+ are left over .*; it contains a resnet34"):
        load_model(f"timm:resnet18@{path}")
    state["conv1.weight"] = torch.ones(64, 3, 3, 3)
    with pytest.raises(UsageError, match=r"conv1.weight: .*a stem for small images, whose padding"):
        load_model(save(state, path))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("timm:resnet18@missing.pth", "there is no file 'missing.pth'"),
        ("missing.pth.tar", "there is no file 'missing.pth.tar'"),
        ("vit.pth", r"does not say which architecture .* write timm:NAME@vit.pth"),
        ("timm:resnet_18@vit.pth", "unknown timm model 'resnet_18'"),
        ("torchvision:resnet19@vit.pth", "unknown torchvision model 'resnet19'"),
        ("text.pth", "'text.pth' is not a file of weights that is safe to load"),
        ("nothing.pth", "'nothing.pth' contains no tensors with names"),
    ],
)
def test_a_wrong_file_is_one_sentence(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(layouts.vit().state_dict(), Path("vit.pth"))
    save([torch.ones(2)], Path("nothing.pth"))
    Path("text.pth").write_text("weights")
    with pytest.raises(UsageError, match=message) as raised:
        load_model(spec)
    assert "\n" not in str(raised.value)


class Hostile:
    """Executes a function when it is unpickled."""

    def __init__(self, function: Any, *values: Any) -> None:
        self.call = (function, values)

    def __reduce__(self) -> Any:
        return self.call


def test_nothing_in_a_file_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    state = timm.create_model("test_resnet", num_classes=0).state_dict()
    system = Hostile(os.system, "touch executed")
    with pytest.raises(UsageError, match=r"not a file of weights that is safe to load: .*system"):
        load_model(f"timm:test_resnet@{save({'state_dict': state, 'x': system}, Path('a.pth'))}")
    # Other names stand for nothing: the weights beside them can be read.
    harmless = {"state_dict": state, "x": Hostile(exec, "open('executed', 'w')")}
    load_model(f"timm:test_resnet@{save(harmless, Path('b.pth'))}")
    only = save(Hostile(exec, "open('executed', 'w')"), Path("c.pth"))
    with pytest.raises(UsageError, match="contains no tensors"):
        load_model(f"timm:test_resnet@{only}")
    assert not Path("executed").exists()


def test_settings_whose_classes_are_not_installed_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("confy")
    exec("class Config: pass", vars(module))
    settings = module.Config()
    settings.names = ["a"]
    model = timm.create_model("test_resnet", num_classes=0).eval()
    content = {"hyper_parameters": {"cfg": settings}, "state_dict": model.state_dict()}
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "confy", module)
        module.Config.__module__ = "confy"
        path = save(content, tmp_path / "lightning.ckpt")
    with torch.no_grad():
        close(load_model(f"timm:test_resnet@{path}").features(IMAGES), model(IMAGES))


def test_the_format_before_pytorch_1_6_is_read(tmp_path: Path) -> None:
    model = timm.create_model("test_resnet", num_classes=0).eval()
    content = {"model": model.state_dict(), "opt": argparse.Namespace(epochs=3)}
    path = save(content, tmp_path / "old.pth", _use_new_zipfile_serialization=False)
    with torch.no_grad():
        close(load_model(f"timm:test_resnet@{path}").features(IMAGES), model(IMAGES))


def test_a_run_can_start_from_it(tmp_path: Path) -> None:
    layout = layouts.simsiam()
    path = save(layout.content, tmp_path / "simsiam.pth.tar")
    recipe = load_recipe(TINY_RECIPE, ["encoder.name=test_resnet", "encoder.options={}"])
    method = build_method(recipe, path)
    for name, tensor in layout.encoder.state_dict().items():
        assert torch.equal(method.encoder.model.state_dict()[name], tensor)


def test_private_folders_are_not_published() -> None:
    assert public_name("timm:resnet50@/home/me/moco.pth") == "timm:resnet50@moco.pth"
    assert public_name("timm:resnet50@weights/moco.pth") == "timm:resnet50@weights/moco.pth"
    assert public_name("/home/me/photos@val") == "photos@val"
