"""Models that a user has made: what they give as features, logits, classes and preprocessing."""

import pytest
import torch
from torch import Tensor, nn

from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.load import from_object, load_model
from unshortcut.models.wrapping import before_last_linear

IMAGES = torch.rand(4, 3, 16, 16, generator=torch.Generator().manual_seed(0))


class Small(nn.Module):
    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.body, self.last = nn.Conv2d(3, 6, 4, 4), nn.Linear(6, 2)
        self.scale = scale

    def forward(self, images: Tensor) -> Tensor:
        return self.last(self.body(images).mean((2, 3)) * self.scale)


def test_a_module_without_classes_gives_features() -> None:
    module = Small()
    loaded = from_object(module, "mine")
    assert loaded.logits is None
    torch.testing.assert_close(loaded.features(IMAGES), module(IMAGES))


def test_a_module_with_classes_gives_logits_and_the_input_of_its_last_layer_as_features() -> None:
    module = Small()
    module.classes = ["a", "b"]  # type: ignore[assignment]
    loaded = from_object(module, "mine", size=16)
    features, logits = loaded.outputs(IMAGES)
    torch.testing.assert_close(logits, module(IMAGES))
    torch.testing.assert_close(features, module.body(IMAGES).mean((2, 3)))
    torch.testing.assert_close(loaded.features(IMAGES), features)
    assert loaded.classes == ("a", "b")
    assert loaded.preprocessing.size == 16


def test_a_model_may_state_its_preprocessing_and_what_the_user_states_replaces_it() -> None:
    module = Small()
    module.preprocessing = {"size": 32}  # type: ignore[assignment]
    shown = from_object(module, "mine", mean=(0.5, 0.5, 0.5)).preprocessing
    assert (shown.size, shown.mean) == (32, (0.5, 0.5, 0.5))
    assert from_object(module, "mine", size=64).preprocessing.size == 64
    assert shown.crop_share == 1.0, "where nothing is said of a crop, none is made"
    assert from_object(module, "mine", crop_share=0.875).preprocessing.crop_share == 0.875
    module.preprocessing = {"sise": 32}  # type: ignore[assignment]
    with pytest.raises(UsageError, match="did you mean 'size'"):
        from_object(module, "mine")


def test_an_object_that_only_classifies_has_its_logits_as_features() -> None:
    class Remote:
        classes = ("a", "b", "c")

        def logits(self, images: Tensor) -> Tensor:
            return images.mean((2, 3))

    loaded = from_object(Remote(), "mine")
    torch.testing.assert_close(loaded.features(IMAGES), IMAGES.mean((2, 3)))
    assert loaded.fingerprint is None
    with pytest.raises(UsageError, match=r"neither an nn\.Module nor a function"):
        from_object(object(), "mine")


def test_modules_that_differ_only_in_a_plain_attribute_are_told_apart() -> None:
    one, other = from_object(Small(1.0), "mine"), from_object(Small(2.0), "mine")
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint == from_object(Small(1.0), "mine").fingerprint


def test_timm_gives_features_and_logits_in_one_pass_and_the_names_of_imagenet() -> None:
    loaded = load_model("timm:resnet18@random", size=32)
    images = torch.rand(2, 3, 32, 32)
    features, logits = loaded.outputs(images)
    assert loaded.logits is not None
    torch.testing.assert_close(features, loaded.features(images))
    torch.testing.assert_close(logits, loaded.logits(images))
    assert loaded.classes is not None
    assert (len(loaded.classes), loaded.classes[0]) == (1000, "n01440764")


def test_stated_classes_make_an_output_logits(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from unshortcut.models.onnx import export_onnx

    path = tmp_path / "small.onnx"
    export_onnx(Small(), Preprocessing(size=16), path)
    loaded = load_model(path, classes=["a", "b"])
    assert loaded.classes == ("a", "b")
    assert loaded.logits is not None
    torch.testing.assert_close(loaded.logits(IMAGES), Small()(IMAGES), atol=1e-4, rtol=1e-4)
    with pytest.raises(UsageError, match="has 2 outputs, but 3 classes were given"):
        load_model(path, classes=["a", "b", "c"])


def test_a_last_linear_layer_that_is_not_used_leaves_the_logits_as_features() -> None:
    parts = [nn.Sequential(nn.Flatten(), nn.Linear(768, 5)), nn.Linear(3, 3)]

    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = nn.ModuleList(parts)

        def forward(self, images: Tensor) -> Tensor:
            return self.parts[0](images)

    features, logits = before_last_linear(Odd())(IMAGES)
    torch.testing.assert_close(features, logits)
