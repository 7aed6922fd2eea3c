"""Queue, momentum copy, heads and encoders."""

import pytest
import torch
import torchvision
from torch import nn

from unshortcut.errors import UsageError
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.models.heads import MLPHead
from unshortcut.models.momentum import MomentumCopy
from unshortcut.models.queue import Queue
from unshortcut.recipes.reading import read_recipe


@pytest.mark.parametrize("size", [1, 5, 8, 12])
@pytest.mark.parametrize("batch", [1, 3, 8])
def test_the_queue_holds_the_last_keys_whatever_the_sizes(size: int, batch: int) -> None:
    queue = Queue(size, 1)
    pushed: list[float] = []
    for start in range(10, 10 + 5 * batch, batch):  # above the unit rows it starts with
        keys = torch.arange(start, start + batch, dtype=torch.float32)[:, None]
        pushed += keys[:, 0].tolist()
        queue.push(keys)
    kept = sorted(queue.rows[:, 0].tolist())
    last = pushed[-size:]
    assert kept[-len(last) :] == last
    assert int(queue.pointer) == 5 * batch % size


def test_the_queue_starts_with_unit_rows_by_seed() -> None:
    queue = Queue(10, 4, seed=1)
    torch.testing.assert_close(queue.rows.norm(dim=1), torch.ones(10))
    assert torch.equal(queue.rows, Queue(10, 4, seed=1).rows)
    assert not torch.equal(queue.rows, Queue(10, 4, seed=2).rows)


def test_rows_and_pointer_are_in_the_state_dict() -> None:
    queue = Queue(6, 2)
    queue.push(torch.ones(4, 2))
    other = Queue(6, 2, seed=9)
    other.load_state_dict(queue.state_dict())
    assert torch.equal(other.rows, queue.rows) and int(other.pointer) == 4


def test_the_momentum_copy_follows_parameters_and_keeps_its_own_buffers() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    copy = MomentumCopy(network)
    before = copy.network[0].weight.clone()
    with torch.no_grad():
        network[0].weight += 1
        network[1].running_mean += 5
    copy.update(network, 0.9)
    torch.testing.assert_close(copy.network[0].weight, 0.9 * before + 0.1 * network[0].weight)
    assert copy.network[1].running_mean.abs().sum() == 0


def test_the_head_of_moco_v2_is_two_linear_layers() -> None:
    kinds = [type(layer) for layer in MLPHead(4, 8, 2).layers]
    assert kinds == [nn.Linear, nn.ReLU, nn.Linear]


def test_a_last_bias_is_an_addition_to_a_head_with_batch_norm_in_hidden_layers() -> None:
    plain, biased = (
        MLPHead(6, 4, 3, batch_norm="hidden", last_bias=last_bias) for last_bias in (False, True)
    )
    added = set(biased.state_dict()) - set(plain.state_dict())
    assert added == {"layers.3.bias"}, "Linear, BatchNorm1d, ReLU, Linear"
    assert MLPHead(6, 4, 3).layers[2].bias is not None


@pytest.mark.parametrize("recipe", ["moco-v2-imagenet", "moco-v2-cifar10"])
def test_papers_resnets_start_with_the_distribution_of_torchvisions(recipe: str) -> None:
    settings = EncoderSettings(**read_recipe(recipe)["encoder"])
    ours = create_encoder(settings, 0).model.state_dict()
    torch.manual_seed(0)
    theirs = torchvision.models.get_model(settings.name, weights=None).state_dict()
    for name, tensor in ours.items():
        other = theirs[name]
        if tensor.ndim == 1:
            assert torch.equal(tensor, other), f"{name}: batch norms start with 1 and 0"
        elif tensor.shape == other.shape and tensor.ndim == 4:
            assert tensor.mean().abs() < 5 * other.std() / tensor.numel() ** 0.5
            assert tensor.std().item() == pytest.approx(other.std().item(), rel=0.02), name
    plain = create_encoder(EncoderSettings(name=settings.name), 0).model.state_dict()
    last = max(key for key in plain if key.startswith("layer4.0.bn") and key.endswith("weight"))
    assert not plain[last].any(), "timm's own default is 0"


def test_an_encoder_depends_on_its_seed_alone() -> None:
    settings = EncoderSettings(name="resnet18")
    state = torch.random.get_rng_state()
    first, again, other = (create_encoder(settings, seed) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(first.model.conv1.weight, again.model.conv1.weight)
    assert not torch.equal(first.model.conv1.weight, other.model.conv1.weight)


def test_the_small_stem_keeps_small_images_large() -> None:
    encoder = create_encoder(EncoderSettings(name="resnet18", small_stem=True), 0).eval()
    assert encoder.feature_maps(torch.randn(1, 3, 32, 32)).shape == (1, 512, 4, 4)
    assert encoder(torch.randn(1, 3, 32, 32)).shape == (1, 512)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "resnet_18"}, "unknown encoder 'resnet_18'; did you mean 'resnet"),
        ({"name": "resnet18", "options": {"layer": 3}}, "do not fit 'resnet18'"),
        ({"name": "vit_tiny_patch16_224", "small_stem": True}, "small_stem is for ResNets"),
    ],
)
def test_wrong_settings_are_one_sentence(settings: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        create_encoder(EncoderSettings(**settings), 0)
