"""Which parts of an encoder are trained, and with which learning rates."""

import pytest
import timm
from timm.layers import convert_sync_batchnorm
from timm.optim import param_groups_layer_decay
from torch import nn

from tests.small import TINY, PlainEncoder
from unshortcut.errors import UsageError
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.optimization import OptimizerSettings
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.transfer.parameters import TrainedParts, build_groups, freeze, layers
from unshortcut.transfer.schedule import TransferSchedule
from unshortcut.transfer.tasks.classify import ClassifySettings

VIT = EncoderSettings(
    name="vit_tiny_patch16_224",
    options={"img_size": 32, "embed_dim": 16, "depth": 3, "num_heads": 2},
)
ADAMW = OptimizerSettings(name="adamw", lr=0.01, weight_decay=0.05, decay_norm_and_bias=False)


def rates(module: nn.Module, encoder: Encoder, parts: TrainedParts) -> dict[str, float]:
    """The learning rate of each parameter of a module, by its name."""
    optimizer = build_groups(module, encoder, ADAMW, parts)
    by_id = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    return {name: by_id[id(p)] for name, p in module.named_parameters() if id(p) in by_id}


def test_layer_decay_of_a_vit_is_timms_for_the_whole_classifier() -> None:
    encoder = Encoder(VIT)
    found = rates(encoder.model, encoder, TrainedParts(layer_decay=0.75))
    whole = timm.create_model(VIT.name, num_classes=5, **VIT.options)
    names = {id(p): name for name, p in whole.named_parameters()}
    expected = {}
    for group in param_groups_layer_decay(whole, layer_decay=0.75):
        expected |= {names[id(p)]: 0.01 * group["lr_scale"] for p in group["params"]}
    assert found == pytest.approx({name: expected[name] for name in found})
    assert len(set(found.values())) == 4


def test_a_resnet_decays_by_stage_and_the_head_keeps_its_rate() -> None:
    encoder = Encoder(TINY)
    module = nn.ModuleDict({"encoder": encoder, "head": nn.Linear(16, 3)})
    found = rates(module, encoder, TrainedParts(layer_decay=0.5, encoder_lr=0.1))
    assert found["head.weight"] == pytest.approx(0.01)
    for name, factor in (("layer4.0.conv1", 0.5), ("layer1.0.bn1", 0.5**4), ("conv1", 0.5**5)):
        assert found[f"encoder.model.{name}.weight"] == pytest.approx(0.001 * factor)


def test_a_rate_of_one_leaves_the_optimizer_as_it_is() -> None:
    encoder = Encoder(TINY)
    assert set(rates(encoder, encoder, TrainedParts()).values()) == {0.01}


def test_layers_go_from_the_input_to_the_output_and_are_complete() -> None:
    for settings, count in ((TINY, 5), (VIT, 4)):
        encoder = Encoder(settings)
        found = layers(encoder)
        assert len(found) == count
        names = [name for layer in found for name in layer]
        assert sorted(names) == sorted(name for name, _ in encoder.model.named_parameters())
    assert layers(PlainEncoder()) == [[name for name, _ in PlainEncoder().model.named_parameters()]]


def test_the_last_stages_are_trained_and_norms_below_them_keep_their_statistics() -> None:
    encoder = Encoder(TINY)
    kept = freeze(encoder, TrainedParts(encoder=1))
    trained = {name for name, p in encoder.model.named_parameters() if p.requires_grad}
    assert trained == set(layers(encoder)[-1])
    last = set(encoder.model.layer4.modules())
    norms = {module for module in encoder.modules() if isinstance(module, nn.BatchNorm2d)}
    assert set(kept) == norms - last


def test_a_frozen_encoder_has_no_gradient_and_frozen_norms_are_all_kept() -> None:
    encoder = Encoder(TINY)
    assert freeze(encoder, TrainedParts(encoder="none")) == [encoder]
    assert not any(p.requires_grad for p in encoder.parameters())
    other = Encoder(TINY)
    kept = freeze(other, TrainedParts(batch_norm="frozen"))
    norms = [module for module in other.modules() if isinstance(module, nn.BatchNorm2d)]
    assert kept == norms and all(p.requires_grad for p in other.parameters())


@pytest.mark.parametrize("parts", [TrainedParts(encoder=1), TrainedParts(batch_norm="frozen")])
def test_synchronized_norms_keep_their_statistics_where_those_they_replace_do(
    parts: TrainedParts,
) -> None:
    training = TrainingContext(num_images=8, num_classes=2)
    task = ClassifySettings().build(Encoder(TINY), ("a", "b"), training)
    task.plan(parts, TransferSchedule(steps=8, head_first=0.5))

    def trained() -> list[str]:
        norms = (nn.BatchNorm2d, nn.SyncBatchNorm)
        return [n for n, one in task.named_modules() if isinstance(one, norms) and one.training]

    task.train()
    before = trained()
    convert_sync_batchnorm(task)
    task.train()
    assert trained() == before
    task.hold_encoder(True)
    assert trained() == []
    task.hold_encoder(False)
    assert trained() == before


def test_impossible_requests_are_explained() -> None:
    with pytest.raises(UsageError, match="this encoder has 4 stages, so the last 1 to 4"):
        freeze(Encoder(TINY), TrainedParts(encoder=5))
    plain = PlainEncoder()
    with pytest.raises(UsageError, match=r"layer_decay needs an encoder whose layers timm knows"):
        build_groups(plain, plain, ADAMW, TrainedParts(layer_decay=0.5))
