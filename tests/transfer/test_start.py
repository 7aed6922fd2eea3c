"""Which models can be fine-tuned, and as what."""

from pathlib import Path

import onnx
import pytest
import torch
import torchvision
from safetensors.torch import load_file
from torch import Tensor, nn

from tests.transfer.made import QUICK, tiny_model
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.models.encoder import Encoder
from unshortcut.models.load import from_object, load_model
from unshortcut.models.module_encoder import ModuleEncoder
from unshortcut.transfer.finetuning import finetune
from unshortcut.transfer.start import load_start

IMAGES = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))


class Own(nn.Module):
    """A user's network: its output is its features."""

    preprocessing = {"size": 16}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1))

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.layers(images)
        return features


def test_an_exported_encoder_is_taken_as_it_is(tmp_path: Path) -> None:
    start = load_start(tiny_model(tmp_path))
    assert type(start.encoder) is Encoder
    given = load_file(tmp_path / "tiny-0.safetensors")
    assert torch.equal(start.encoder.model.conv1.weight, given["conv1.weight"])
    assert start.encoder(IMAGES).requires_grad


@pytest.mark.parametrize("spec", ["timm:resnet18@random", "torchvision:resnet18@random"])
def test_models_that_timm_has_become_encoders_whose_layers_are_known(spec: str) -> None:
    start = load_start(spec)
    assert type(start.encoder) is Encoder and start.encoder.settings.name == "resnet18"
    assert start.encoder(IMAGES).shape == (2, 512)
    if spec.startswith("torchvision"):
        reference = torchvision.models.resnet18()
        reference.fc = nn.Identity()
        reference.load_state_dict(start.encoder.model.state_dict())
        torch.testing.assert_close(
            start.encoder.eval()(IMAGES), reference.eval()(IMAGES), rtol=1e-4, atol=1e-5
        )


def test_another_model_of_torchvision_is_trained_as_a_whole() -> None:
    start = load_start("torchvision:squeezenet1_1@random")
    assert isinstance(start.encoder, ModuleEncoder)
    features = start.encoder(torch.zeros(1, 3, 64, 64))
    assert features.requires_grad and features.shape == (1, start.encoder.dim)


def test_a_module_of_the_user_is_fine_tuned_and_its_weights_fit_it_again(tmp_path: Path) -> None:
    module = Own()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    sets = [*QUICK, "schedule={steps: 4, head_first: 0.5}", "optimizer.lr=0.1"]
    train, tests = Shapes("train", size=16, count=40), {"t": Shapes("test", size=16, count=16)}
    out = finetune(
        from_object(module, "own"), train, "classify", tmp_path / "r", tests=tests, sets=sets
    )
    tensors = load_file(out.folder / "encoder.safetensors")
    again = Own()
    again.load_state_dict(
        {n.removeprefix("module."): t for n, t in tensors.items() if n.startswith("module.")}
    )
    assert tensors["classifier.weight"].shape == (8, 4)
    assert not torch.equal(again.layers[0].weight, before["layers.0.weight"])


class WithClassifier(Own):
    """Its features are not its output, so that they do not depend on its classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.classifier = nn.Linear(4, 10)


def test_what_the_features_do_not_depend_on_is_not_trained() -> None:
    encoder = load_start(from_object(WithClassifier(), "own")).encoder
    trained = {name for name, p in encoder.named_parameters() if p.requires_grad}
    assert trained == {"model.module.layers.0.weight", "model.module.layers.0.bias"}


def test_a_loaded_model_is_not_changed(tmp_path: Path) -> None:
    loaded = load_model(tiny_model(tmp_path))
    assert loaded.module is not None
    before = {name: tensor.clone() for name, tensor in loaded.module.state_dict().items()}
    sets = [*QUICK, "schedule={steps: 1}", "data.validation=0", "train.encoder_lr=1"]
    finetune(loaded, Shapes("train", size=16, count=8), "classify", tmp_path / "r", sets=sets)
    assert all(torch.equal(t, before[n]) for n, t in loaded.module.state_dict().items())


def test_a_model_without_trainable_weights_gets_one_sentence(tmp_path: Path) -> None:
    images, features = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("images", ["n", 3, 16, 16]), ("features", ["n", 768]))
    )
    flatten = onnx.helper.make_node("Flatten", ["images"], ["features"])
    graph = onnx.helper.make_graph([flatten], "tiny", [images], [features])
    opset = onnx.helper.make_opsetid("", 17)
    made = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)
    onnx.save(made, tmp_path / "tiny.onnx")
    with pytest.raises(UsageError, match="'tiny' has no weights that can be trained"):
        load_start(tmp_path / "tiny.onnx")
    with pytest.raises(UsageError, match="has no weights that can be trained"):
        load_start(from_object(nn.Flatten(), "pixels"))
