"""Grad-CAM against its formula, and the layers that it looks at in many kinds of networks."""

import builtins
from typing import Any

import cv2
import numpy as np
import pytest
import timm
import torch
import torchvision
from torch import Tensor, nn

from tests.small import TINY
from unshortcut.data.shapes import Shapes
from unshortcut.inference.features import Features
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.measurements.saliency.gradcam import (
    as_maps,
    class_scores,
    find_layers,
    grad_cam,
    require_library,
)
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.subjects.class_names import ClassOutputs
from unshortcut.measuring.subjects.classifier import Classifier, fit_classifier, head
from unshortcut.models.encoder import Encoder
from unshortcut.models.load import LoadedModel, from_module, from_object

pytest.importorskip("pytorch_grad_cam")


def _images(side: int, count: int = 2) -> Tensor:
    return torch.randn(count, 3, side, side, generator=torch.Generator().manual_seed(0))


def _layers(module: nn.Module, side: int) -> tuple[tuple[str, ...], int]:
    """Of a score that all outputs are part of."""
    found = find_layers(module.eval(), lambda seen: module(seen).sum(1)[:, None], _images(side))
    return found.names, found.side


def _small(classes: int = 3) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 6, 3, 2, 1),
        nn.ReLU(inplace=True),
        nn.Conv2d(6, 8, 3, 2, 1),
        nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, classes),
    ).eval()


def _scaled(values: np.ndarray) -> np.ndarray:
    return (values - values.min()) / (values.max() - values.min())


def _by_hand(maps: Tensor, gradient: Tensor, side: int) -> np.ndarray:
    """ReLU of the sum over channels of maps, weighted by their mean gradients; (h, w) each."""
    weights = gradient.mean(dim=(1, 2), keepdim=True)
    cam = (weights * maps).sum(0).clamp(min=0).double().numpy()
    return _scaled(cv2.resize(_scaled(cam), (side, side)))


def test_maps_are_those_of_the_formula() -> None:
    network, images = _small(), _images(32)
    layers = find_layers(network, network, images)
    assert layers.names == ("3",) and layers.side == 8
    made = grad_cam(network, network, layers, images, [2, 0])
    maps = network[:4](images).detach().requires_grad_()
    logits = network[4:](maps)
    (gradient,) = torch.autograd.grad(logits[0, 2] + logits[1, 0], maps)
    for row in range(2):
        expected = _by_hand(maps[row].detach(), gradient[row], 32)
        np.testing.assert_allclose(made[row], expected, atol=1e-4)


def test_a_class_token_is_left_out_of_the_grid_of_a_transformer() -> None:
    torch.manual_seed(0)
    network = timm.create_model(
        "vit_tiny_patch16_224", img_size=80, embed_dim=24, depth=2, num_heads=2, num_classes=4
    ).eval()
    images = _images(80, 1)
    layers = find_layers(network, network, images)
    assert layers.names == ("blocks.1.norm1",) and layers.side == 5
    made = grad_cam(network, network, layers, images, [1])
    kept: list[Tensor] = []
    network.blocks[1].norm1.register_forward_hook(lambda *call: kept.append(call[2]))
    score = network(images)[0, 1]
    (gradient,) = torch.autograd.grad(score, kept)
    maps, slopes = (one[0, 1:].T.reshape(24, 5, 5).detach() for one in (kept[0], gradient))
    np.testing.assert_allclose(made[0], _by_hand(maps, slopes, 80), atol=1e-4)


def test_the_last_layer_with_enough_places_is_chosen() -> None:
    torch.manual_seed(0)
    resnet = timm.create_model("resnet18", num_classes=5)
    assert _layers(resnet, 224) == (("layer4",), 7)
    assert _layers(resnet, 64) == (("layer3",), 4)
    assert _layers(torchvision.models.resnet18(num_classes=5), 64) == (("layer3",), 4)


@pytest.mark.parametrize(
    ("name", "options", "side", "expected"),
    [
        ("swin_tiny_patch4_window7_224", {"depths": (1, 1, 1, 1), "img_size": 128}, 128, "norm"),
        ("vit_tiny_patch16_224", {"depth": 2, "global_pool": "avg", "img_size": 64}, 64, "blocks"),
        ("convnext_atto", {}, 128, "stages"),
        ("efficientnet_lite0", {}, 128, "bn2"),
    ],
)
def test_networks_of_many_kinds_have_a_layer(
    name: str, options: dict[str, Any], side: int, expected: str
) -> None:
    torch.manual_seed(0)
    (layer,), side_of_map = _layers(timm.create_model(name, num_classes=3, **options), side)
    assert layer.startswith(expected) and side_of_map == 4


def test_each_parallel_part_of_an_encoder_has_a_layer() -> None:
    branched = Encoder(TINY.model_copy(update={"branches": 3}))
    names, side = _layers(branched, 128)
    assert names == tuple(f"model.branches.{index}" for index in range(3)) and side == 4
    split = Encoder(TINY.model_copy(update={"color_split": True}))
    names, _ = _layers(split, 128)
    assert names == ("model.lightness.layer4", "model.color.layer4")


def test_branches_with_too_small_maps_leave_it_to_what_they_share() -> None:
    branched = Encoder(TINY.model_copy(update={"branches": 2}))
    assert _layers(branched, 64) == (("model.trunk.layer3",), 4)


def test_tokens_become_a_grid_without_those_before_it() -> None:
    tokens = torch.arange(2 * 21 * 3.0).reshape(2, 21, 3)  # five others, then four by four
    maps = as_maps(tokens)
    assert maps.shape == (2, 3, 4, 4)
    assert maps[1, 2, 1, 3] == tokens[1, 5 + 1 * 4 + 3, 2]
    last = torch.randn(2, 5, 5, 8)
    torch.testing.assert_close(as_maps(last), last.permute(0, 3, 1, 2))


def test_a_network_without_maps_is_not_explained() -> None:
    with pytest.raises(NotApplicable, match="4 × 4"):
        _layers(nn.Sequential(nn.Flatten(), nn.Linear(3 * 64, 2)), 8)


def test_a_frozen_network_is_explained_and_left_as_it_was() -> None:
    network, frozen = _small(), _small().requires_grad_(False)
    images = _images(32)
    made = [
        grad_cam(one, one, find_layers(one, one, images), images, [0, 1])
        for one in (network, frozen)
    ]
    np.testing.assert_array_equal(*made)
    assert all(one.requires_grad and one.grad is None for one in network.parameters())
    assert not any(one.requires_grad for one in frozen.parameters())
    assert not any(one._forward_hooks for one in network.modules())


def test_a_class_that_nothing_speaks_for_has_an_empty_map() -> None:
    network = _small()
    with torch.no_grad():
        network[-1].weight[0] = -network[-1].weight[0].abs()  # of outputs that are never negative
    images = _images(32)
    made = grad_cam(network, network, find_layers(network, network, images), images, [0, 0])
    assert made.max() == 0.0


def test_a_faint_map_is_a_map() -> None:
    network = _small()
    images = _images(32)
    layers = find_layers(network, network, images)
    strong = grad_cam(network, network, layers, images, [2, 0])
    faint = grad_cam(network, lambda seen: 1e-8 * network(seen), layers, images, [2, 0])
    np.testing.assert_allclose(faint, strong, atol=2e-3)


def _loaded(network: nn.Module, **more: Any) -> LoadedModel:
    return from_module("small", network, Preprocessing(size=32), **more)


def _all(classifier: Classifier) -> ClassOutputs:
    return classifier.over(classifier.classes)


def test_scores_of_a_head_are_logits_and_of_a_group_their_summed_exponentials() -> None:
    network, images = _small(), _images(32)
    model = _loaded(network, logits=network, classes=("a", "b", "c"))
    decides = head(model, {"a": ["a"], "rest": ["b", "c"]}, "mean")
    made = class_scores(model, decides, decides.over(["a", "rest"]))(images)
    logits = network(images).double()
    torch.testing.assert_close(made[:, 0], logits[:, 0])
    torch.testing.assert_close(made[:, 1], logits[:, 1:].exp().sum(1).log())


def test_scores_of_a_readout_have_the_gradient_of_its_logits() -> None:
    network = _small(classes=4)  # as features
    model = _loaded(network)
    images = _images(32, 12)
    values = network(images).detach().numpy()
    labels = np.arange(12) % 3
    features = Features(values, labels, ("a", "b", "c"), np.arange(12))

    source = Shapes("val", size=16, count=12)
    decides = fit_classifier("linear", features, source, "x", None, "mean")
    made = class_scores(model, decides, _all(decides))(images)
    assert made.requires_grad
    log = decides.probabilities(network(images), None).log()
    torch.testing.assert_close(made, log - log.mean(1, keepdim=True))
    votes = fit_classifier("knn", features, source, "x", None, "mean")
    with pytest.raises(NotApplicable, match="use a linear probe"):
        class_scores(model, votes, _all(votes))


def test_a_model_without_a_module_or_a_gradient_is_not_explained() -> None:
    class _Object:
        classes = ("a", "b")

        def logits(self, images: Tensor) -> Tensor:
            return images.mean(dim=(2, 3))[:, :2]

    thing = from_object(_Object(), "thing")
    decides = head(thing, None, "mean")
    with pytest.raises(NotApplicable, match="PyTorch module; this model is an object"):
        class_scores(thing, decides, _all(decides))

    class _Detached(nn.Module):
        def forward(self, images: Tensor) -> Tensor:
            return images.detach().mean(dim=(2, 3))

    mute = _loaded(_Detached(), logits=_Detached(), classes=("a", "b", "c"))
    decides = head(mute, None, "mean")
    with pytest.raises(NotApplicable, match="no gradient"):
        class_scores(mute, decides, _all(decides))(_images(32).requires_grad_())


def test_without_the_library_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("pytorch_grad_cam"):
            raise ImportError(name)
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NotApplicable, match=r"pip install grad-cam$"):
        require_library()
