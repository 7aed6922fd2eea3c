"""DenseCL against a direct transcription of its step, in float64 and cell by cell."""

import copy
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.methods.plain_parts import PlainDenseCL
from tests.methods.small_runs import assert_resumes_exactly, small_run
from tests.small import TINY, NormedEncoder, PlainEncoder, random_views
from unshortcut.errors import UsageError
from unshortcut.methods.densecl import DenseCL, DenseCLSettings
from unshortcut.methods.moco import MoCoSettings
from unshortcut.methods.step import Batch, DeviceBatch
from unshortcut.models.batchnorm import SplitBatchNorm
from unshortcut.models.checkpointing import checkpoint_gradients
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.negatives.alpha import AlphaSchedule
from unshortcut.negatives.batch import BatchSettings
from unshortcut.negatives.mixed_queue import MixedQueueSettings
from unshortcut.negatives.patch import PatchSettings
from unshortcut.negatives.queue import QueueSettings
from unshortcut.negatives.regular import RegularSettings
from unshortcut.negatives.texture import TextureSettings
from unshortcut.training.acceleration import compile_encoders
from unshortcut.views.transforms.leave_one_out import Sharing

IMAGES, TEMPERATURE = 8, 0.2
PLAIN = PlainDenseCL(
    hidden=8,
    dim=5,
    momentum=0.7,
    negatives=(QueueSettings(12),),
    dense_negatives=(QueueSettings(10),),
    dense_weight=0.3,
)
WITH_PATCHES = replace(
    PLAIN,
    negatives=(QueueSettings(12), PatchSettings(alpha=2.0)),
    dense_negatives=(QueueSettings(10), PatchSettings(alpha=1.5)),
)


def build(settings: DenseCLSettings = PLAIN) -> DenseCL:
    torch.manual_seed(0)
    return settings.build(PlainEncoder()).double()


def unit(vector: Tensor) -> Tensor:
    return vector / vector.norm()


def nce(query: Tensor, positive: Tensor, queue: Tensor, weighted: list[Tensor]) -> Tensor:
    """−log of the softmax of the positive; the similarities to `weighted` are there already."""
    terms = [query @ positive, *(query @ row for row in queue), *weighted]
    exponentials = [torch.exp(term / TEMPERATURE) for term in terms]
    return -torch.log(exponentials[0] / sum(exponentials))


@pytest.mark.parametrize("settings", [PLAIN, WITH_PATCHES], ids=["queues", "patches"])
def test_three_steps_equal_a_transcription_of_the_algorithm(settings: DenseCLSettings) -> None:
    method = build(settings)
    own = copy.deepcopy(method)  # its modules are used one by one below
    encoder, heads = own.encoder, own.head
    slow_encoder, slow_heads = copy.deepcopy(encoder), copy.deepcopy(heads)
    image_queue = method.sources[0].queue.rows.clone()
    cell_queue = method.dense_sources[0].queue.rows.clone()
    assert not torch.equal(image_queue[:10], cell_queue)
    names = tuple(settings.view_transforms())
    for step in range(3):
        views = random_views(names, IMAGES, seed=step)
        output = method.loss(Batch(views))
        method.zero_grad()
        output.loss.backward()
        method.on_after_backward()

        with torch.no_grad():
            for slow, fast in ((slow_encoder, encoder), (slow_heads, heads)):
                for theirs, ours in zip(slow.parameters(), fast.parameters(), strict=True):
                    theirs.mul_(0.7).add_(0.3 * ours)
        global_losses, dense_losses, image_keys, mean_keys = [], [], [], []
        for image in range(IMAGES):
            of = {name: view[image : image + 1] for name, view in views.items()}
            query_map = encoder.model.forward_features(of["query"])[0]  # (C, 2, 2)
            query_cells = heads.dense(query_map[None])[0]
            query = unit(heads.image(encoder(of["query"]))[0])
            with torch.no_grad():
                key_map = slow_encoder.model.forward_features(of["key"])[0]
                key_cells = slow_heads.dense(key_map[None])[0]
                key = unit(slow_heads.image(slow_encoder(of["key"]))[0])
                image_keys.append(key)
                mean_keys.append(unit(key_cells.mean(dim=(1, 2))))
                tiles = of.get("patch_negative")
                if tiles is not None:
                    tile = unit(slow_heads.image(slow_encoder(tiles))[0])
                    tile_map = slow_encoder.model.forward_features(tiles)
                    tile_mean = unit(slow_heads.dense(tile_map)[0].mean(dim=(1, 2)))
            extra = [] if tiles is None else [2.0 * (query @ tile)]
            global_losses.append(nce(query, key, image_queue, extra))
            for row in (0, 1):
                for column in (0, 1):
                    cosines = {
                        (r, c): (unit(query_map[:, row, column]) @ unit(key_map[:, r, c])).item()
                        for r in (0, 1)
                        for c in (0, 1)
                    }
                    best = max(cosines, key=lambda place: cosines[place])
                    cell = unit(query_cells[:, row, column])
                    extra = [] if tiles is None else [1.5 * (cell @ tile_mean)]
                    matched = unit(key_cells[:, best[0], best[1]])
                    dense_losses.append(nce(cell, matched, cell_queue, extra))
        of_images, of_cells = sum(global_losses) / IMAGES, sum(dense_losses) / (4 * IMAGES)
        expected = 0.7 * of_images + 0.3 * of_cells
        own.zero_grad()
        expected.backward()
        image_queue = torch.cat([image_queue, torch.stack(image_keys)])[IMAGES:]
        cell_queue = torch.cat([cell_queue, torch.stack(mean_keys)])[IMAGES:]

        torch.testing.assert_close(output.loss, expected)
        torch.testing.assert_close(output.metrics["loss_global"], of_images.detach())
        torch.testing.assert_close(output.metrics["loss_dense"], of_cells.detach())
        for module in ("encoder", "head"):
            pairs = zip(
                getattr(method, module).parameters(), getattr(own, module).parameters(), strict=True
            )
            for ours, theirs in pairs:
                torch.testing.assert_close(ours.grad, theirs.grad)
                with torch.no_grad():
                    ours -= 0.1 * ours.grad
                    theirs -= 0.1 * theirs.grad
        for source, rows in (
            (method.sources[0], image_queue),
            (method.dense_sources[0], cell_queue),
        ):
            pointer = (step + 1) * IMAGES % len(rows)
            assert int(source.queue.pointer) == pointer
            torch.testing.assert_close(source.queue.rows.roll(-pointer, 0), rows)


def test_every_weight_has_one_name_and_the_key_network_is_a_copy() -> None:
    method = build()
    prefixes = {name.partition(".")[0] for name in method.state_dict()}
    assert prefixes == {
        "batches_seen", "encoder", "head", "key_network", "sources", "dense_sources",
    }  # fmt: skip
    fast = [*method.encoder.parameters(), *method.head.parameters()]
    slow = list(method.key_network.parameters())
    for one, other in zip(fast, slow, strict=True):
        assert torch.equal(one, other) and one.data_ptr() != other.data_ptr()
        assert one.requires_grad and not other.requires_grad


def test_each_view_is_encoded_once_by_its_network() -> None:
    method = build(WITH_PATCHES)
    seen: dict[str, int] = {"query": 0, "key": 0}
    for name, network in (("query", method.encoder), ("key", method.key_network.network.encoder)):
        network.model[0].register_forward_pre_hook(
            lambda *_, name=name: seen.update({name: seen[name] + 1})
        )
    method.loss(Batch(random_views(("query", "key", "patch_negative"), IMAGES, seed=0)))
    assert seen == {"query": 1, "key": 2}, "the key, and the tile for both losses"


def test_keys_come_back_in_the_order_of_their_images() -> None:
    method = build(replace(PLAIN, batch_norm_groups=4))
    images = random_views(("key",), IMAGES, seed=3)["key"]
    plain = method.key_network.network(images)
    keys = method.encode_dense_keys(images)
    torch.testing.assert_close(keys.image, F.normalize(plain.image, dim=1))
    torch.testing.assert_close(keys.cells, F.normalize(plain.cells, dim=2))
    torch.testing.assert_close(keys.features, plain.features)
    torch.testing.assert_close(keys.mean, F.normalize(plain.cells.mean(1), dim=1))


def test_batch_norm_of_encoder_and_both_heads_is_split() -> None:
    settings = DenseCLSettings(hidden=8, dim=5, head_batch_norm=True, batch_norm_groups=4)
    method = settings.build(NormedEncoder())
    for module in (method.encoder, method.head.image, method.head.dense, method.key_network):
        assert any(isinstance(one, SplitBatchNorm) for one in module.modules())


def test_without_weight_the_loss_is_mocos() -> None:
    method = build(replace(PLAIN, dense_weight=0.0))
    moco = MoCoSettings(hidden=8, dim=5, momentum=0.7, negatives=(QueueSettings(12),))
    other = moco.build(copy.deepcopy(method.encoder)).double()
    other.head.load_state_dict(method.head.image.state_dict())
    other.sources.load_state_dict(method.sources.state_dict())
    other.key_network.network.load_state_dict(other.query_network.state_dict())
    views = random_views(("query", "key"), IMAGES, seed=0)
    torch.testing.assert_close(method.loss(Batch(views)).loss, other.loss(Batch(views)).loss)
    torch.testing.assert_close(method.embed(views["key"]), other.embed(views["key"]))


@pytest.mark.parametrize(("step", "weight"), [(0, 0.0), (3, 0.0), (4, 0.3), (9, 0.3)])
def test_the_dense_loss_counts_from_its_start(
    step: int, weight: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = build(replace(PLAIN, dense_start=0.4))
    epochs = method.training_context.schedule.epochs
    trainer = SimpleNamespace(
        accumulate_grad_batches=1, num_training_batches=10, global_step=step * epochs
    )
    monkeypatch.setattr(method, "_trainer", trainer)
    output = method.loss(Batch(random_views(("query", "key"), IMAGES, seed=0)))
    parts = output.metrics["loss_global"], output.metrics["loss_dense"]
    torch.testing.assert_close(output.loss.detach(), (1 - weight) * parts[0] + weight * parts[1])
    output.loss.backward()
    gradient = method.head.dense.layers[0].weight.grad
    assert gradient is not None, "DDP waits for every gradient"
    assert bool(gradient.abs().sum() > 0) is (weight > 0)
    method.on_after_backward()
    assert int(method.dense_sources[0].queue.pointer) == IMAGES, "the queue fills from the start"


def test_a_scheduled_alpha_is_that_of_the_progress() -> None:
    """Patch negatives whose alpha is 0 at first change nothing at first, in both losses."""
    late = PatchSettings(schedule=AlphaSchedule("linear"))
    method = build(
        replace(
            PLAIN,
            negatives=(*PLAIN.negatives, late),
            dense_negatives=(*PLAIN.dense_negatives, late),
        )
    )
    views = random_views(("query", "key", "patch_negative"), IMAGES, seed=0)
    torch.testing.assert_close(method.loss(Batch(views)).loss, build().loss(Batch(views)).loss)


def test_texture_negatives_outside_the_exponential_count_alpha_times() -> None:
    texture = TextureSettings(alpha=3.0, placement="outside")
    method = build(replace(PLAIN, dense_negatives=(QueueSettings(10), texture), dense_weight=1.0))
    views = random_views(("query", "key", "texture_negative"), IMAGES, seed=0)
    keys, negatives = (method.encode_dense_keys(views[n]) for n in ("key", "texture_negative"))
    embedded = method.query_network(views["query"])
    found = method.loss(Batch(views)).loss
    queue = method.dense_sources[0].queue.rows
    losses = []
    for image in range(IMAGES):
        for cell, features in zip(embedded.cells[image], embedded.features[image], strict=True):
            cosines = [(unit(features) @ unit(other)).item() for other in keys.features[image]]
            matched = keys.cells[image][cosines.index(max(cosines))]
            similarity = unit(cell) @ negatives.mean[image] + TEMPERATURE * math.log(3.0)
            losses.append(nce(unit(cell), matched, queue, [similarity]))
    # The key network equals the query network until the first update, which moves nothing here.
    torch.testing.assert_close(found, sum(losses) / len(losses))


def test_both_losses_share_the_views_of_equal_sources() -> None:
    assert list(WITH_PATCHES.view_transforms()) == ["query", "key", "patch_negative"]
    dense_only = replace(PLAIN, dense_negatives=(QueueSettings(10), PatchSettings()))
    assert list(dense_only.view_transforms()) == ["query", "key", "patch_negative"]
    other = replace(WITH_PATCHES, negatives=(QueueSettings(12), PatchSettings(patch=(1, 2))))
    with pytest.raises(UsageError, match="different views called 'patch_negative'; give one"):
        other.view_transforms()


def test_query_and_key_share_parameters_in_both_losses() -> None:
    key = replace(PLAIN, shared=("color_jitter",)).view_transforms()["key"]
    assert isinstance(key, Sharing) and key.shares == ("color_jitter",)


def test_an_alpha_that_is_large_for_its_temperature_is_warned_of_in_either_loss() -> None:
    strong = PatchSettings(alpha=9.0)
    for key in ("negatives", "dense_negatives"):
        sources = {key: (QueueSettings(12), strong)}
        (warning,) = replace(PLAIN, **sources).warnings(DeviceBatch(256))
        assert warning.startswith(f"method.{key}.patch: alpha 9")


@pytest.mark.parametrize(
    ("negatives", "message"),
    [
        ((), "must contain the source 'queue'"),
        ((PatchSettings(),), "must contain the source 'queue'"),
        ((QueueSettings(8), BatchSettings()), "'batch' cannot be .* allowed are queue, patch and"),
        ((QueueSettings(8), RegularSettings()), "'regular' cannot be"),
        ((QueueSettings(8), MixedQueueSettings(1024)), "'mixed_queue' cannot be"),
    ],
)
def test_unsuitable_dense_negatives_are_refused(negatives: tuple, message: str) -> None:
    with pytest.raises(UsageError, match=f"dense_negatives.*{message}"):
        replace(PLAIN, dense_negatives=negatives).check(DeviceBatch(32))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("encoder={name: pit_ti_224}", "'pit_ti_224' has no feature map"),
        ("encoder.branches=2", "exclude encoder.color_split, encoder.branches"),
        ("method.dense_negatives=[{name: batch}]", "must contain the source 'queue'"),
    ],
)
def test_bad_settings_are_one_sentence_before_anything_is_written(
    change: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        small_run("densecl-shapes", tmp_path / "run", [change])
    assert not (tmp_path / "run").exists()


def test_a_run_with_diffusion_and_patches_resumes_exactly(tmp_path: Path) -> None:
    sets = [
        "views.size=40",
        "method.negatives=[{name: queue, size: 48}, {name: patch}]",
        "method.dense_negatives=[{name: queue, size: 40}, {name: patch, alpha: 1.0}]",
        "method.hidden=16",
        "method.dense_start=0.5",
        "training.log_steps=1",
    ]
    assert_resumes_exactly("densecl-anisotropic-shapes", tmp_path, sets)


def step_twice(method: DenseCL, size: int) -> list[Tensor]:
    """Losses and gradients of two steps without an optimizer."""
    losses = []
    for step in range(2):
        views = random_views(("query", "key"), IMAGES, seed=step, size=size)
        dtype = next(method.parameters()).dtype
        loss = method.loss(Batch({name: view.to(dtype) for name, view in views.items()})).loss
        method.backward(loss)
        method.on_after_backward()
        losses.append(loss.detach())
    return [*losses, *(one.grad for one in method.parameters() if one.grad is not None)]


def assert_same_to_the_bit(plain: DenseCL, other: DenseCL, size: int) -> None:
    assert list(plain.state_dict()) == list(other.state_dict())
    for ours, theirs in zip(step_twice(plain, size), step_twice(other, size), strict=True):
        assert torch.equal(ours, theirs)
    for name, value in plain.state_dict().items():
        assert torch.equal(other.state_dict()[name], value), name


def test_steps_with_gradient_checkpointing_are_the_same() -> None:
    plain, other = (DenseCLSettings(hidden=8, dim=5).build(create_encoder(TINY, 0)) for _ in "12")
    other.load_state_dict(plain.state_dict())
    checkpoint_gradients(other.encoder)
    calls: list[int] = []
    other.encoder.model.layer3[0].register_forward_pre_hook(lambda *_: calls.append(1))
    assert_same_to_the_bit(plain, other, size=48)
    assert len(calls) == 4, "forward, and again in the backward pass"


def test_the_networks_that_a_step_calls_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a backend that traces the networks but needs no compiler."""
    plain, other = build(), build()
    graphs = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    original = torch.compile
    monkeypatch.setattr(torch, "compile", lambda f, **_: original(f, backend=backend))
    compile_encoders(other)
    assert_same_to_the_bit(plain, other, size=4)
    # Both networks in one graph each, with the encoder's two convolutions and the dense head's.
    convolutions = [sum("conv" in str(node.target) for node in g.graph.nodes) for g in graphs]
    assert convolutions == [4, 4]


def test_the_patch_tokens_of_a_vit_are_its_cells() -> None:
    options = {"img_size": 24, "patch_size": 8, "embed_dim": 24, "depth": 1, "num_heads": 2}
    vit = create_encoder(EncoderSettings(name="vit_tiny_patch16_224", options=options), 0)
    method = DenseCLSettings(hidden=8, dim=5).build(vit)
    images = random_views(("query", "key"), IMAGES, seed=0, size=24)
    views = {name: view.float() for name, view in images.items()}
    embedded = method.query_network(views["query"])
    assert embedded.cells.shape == (IMAGES, 9, 5)
    tokens = vit.feature_maps(views["query"])  # after the class token
    torch.testing.assert_close(embedded.features, tokens[:, 1:])
    torch.testing.assert_close(
        F.normalize(embedded.image, dim=1), F.normalize(method.head.image(tokens[:, 0]), dim=1)
    )
    method.loss(Batch(views)).loss.backward()
    assert all(bool(one.grad.abs().sum() > 0) for one in method.head.parameters())
