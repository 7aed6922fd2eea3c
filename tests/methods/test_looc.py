"""LooC against equation 2 in double precision; what its spaces see, share and keep apart."""

import copy
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.methods.small_runs import assert_resumes_exactly
from tests.small import TINY, PlainEncoder, random_views
from unshortcut.errors import UsageError
from unshortcut.methods.looc import LooC, LooCSettings
from unshortcut.methods.moco import MoCoSettings
from unshortcut.methods.step import Batch, DeviceBatch
from unshortcut.models.encoder import create_encoder
from unshortcut.negatives.batch import BatchSettings
from unshortcut.negatives.other_keys import OtherKeysSettings
from unshortcut.negatives.patch import PatchSettings
from unshortcut.negatives.queue import QueueSettings
from unshortcut.negatives.source import NegativeSettings
from unshortcut.recipes.load import load_recipe
from unshortcut.views.transforms.leave_one_out import Lacking, Sharing

SPACES = {"color": ("color_jitter", "grayscale"), "rotation": ("rotation",)}
VIEWS = ("query", "key", "key_color", "key_rotation")
T = 0.2


def settings(*negatives: NegativeSettings) -> LooCSettings:
    return LooCSettings(
        hidden=8,
        dim=5,
        momentum=0.7,
        batch_norm_groups=4,
        spaces=SPACES,
        negatives=negatives or (QueueSettings(12), OtherKeysSettings()),
    )


def build(chosen: LooCSettings | None = None) -> LooC:
    torch.manual_seed(0)
    return (chosen or settings()).build(PlainEncoder()).double()


def equation_2(z: dict[str, Tensor], queues: list[Tensor]) -> Tensor:
    """The mean over queries; z by view: (N, S, D); queue i: (K, D)."""
    keys = VIEWS[1:]
    terms = []
    for row in range(len(z["query"])):
        total = z["query"].new_zeros(())
        for space in range(3):
            q = z["query"][row, space]
            positives = torch.stack([(q @ z[key][row, space] / T).exp() for key in keys])
            negatives = (queues[space] @ q / T).exp().sum()
            same_image = positives[0] if space == 0 else positives.sum()
            total = total - (positives[space] / (same_image + negatives)).log()
        terms.append(total / 3)
    return torch.stack(terms).mean()


def test_three_steps_equal_equation_2_with_its_gradient() -> None:
    method = build()
    query_net, key_net = (copy.deepcopy(method.query_network) for _ in range(2))
    queues = [method.sources.of_space(s)[0].queue.rows.clone() for s in range(3)]
    for step in range(3):
        views = random_views(VIEWS, 8, seed=step)
        loss = method.loss(Batch(views)).loss
        method.zero_grad()
        loss.backward()
        method.on_after_backward()

        z = {"query": F.normalize(query_net(views["query"]), dim=2)}
        with torch.no_grad():
            for slow, fast in zip(key_net.parameters(), query_net.parameters(), strict=True):
                slow.copy_(0.7 * slow + 0.3 * fast)
            z |= {key: F.normalize(key_net(views[key]), dim=2) for key in VIEWS[1:]}
        expected = equation_2(z, [queue.clone() for queue in queues])
        query_net.zero_grad()
        expected.backward()
        for space, key in enumerate(VIEWS[1:]):  # queue i has k_i embeddings
            indices = torch.arange(8 * step, 8 * step + 8) % 12
            queues[space][indices] = z[key][:, space]

        torch.testing.assert_close(loss, expected)
        for ours, theirs in zip(
            method.query_network.parameters(), query_net.parameters(), strict=True
        ):
            torch.testing.assert_close(ours.grad, theirs.grad)
            with torch.no_grad():
                ours -= 0.1 * ours.grad
                theirs -= 0.1 * theirs.grad
        for space in range(3):
            rows = method.sources.of_space(space)[0].queue.rows
            torch.testing.assert_close(rows, queues[space])


def test_keys_go_through_the_key_encoder_alone_and_once_each() -> None:
    method = build(settings(QueueSettings(12), OtherKeysSettings(), PatchSettings()))
    views = random_views((*VIEWS, "patch_negative"), 8, seed=0)
    seen: dict[str, list[Tensor]] = {"query": [], "key": []}
    method.encoder.register_forward_pre_hook(lambda _, inputs: seen["query"].append(inputs[0]))
    method.key_network.network[0].register_forward_pre_hook(
        lambda _, inputs: seen["key"].append(inputs[0])
    )
    method.loss(Batch(views)).loss.backward()
    assert len(seen["query"]) == 1 and torch.equal(seen["query"][0], views["query"])
    shuffled = [image for batch in seen["key"] for image in batch]
    wanted = [image for name, view in views.items() if name != "query" for image in view]
    assert len(shuffled) == len(wanted)  # and not once a space
    assert all(any(torch.equal(image, one) for one in shuffled) for image in wanted)


def test_accidental_equal_params_can_be_left_out() -> None:
    keeps = build()
    drops = build(settings(QueueSettings(12), OtherKeysSettings(equal_params="drop")))
    views = random_views(VIEWS, 8, seed=0)
    metadata = {key: torch.zeros(8, 2, dtype=torch.bool) for key in VIEWS[1:]}
    none_equal = drops.loss(Batch(views, metadata=metadata)).loss
    torch.testing.assert_close(none_equal, keeps.loss(Batch(views, metadata=metadata)).loss)

    metadata["key"][3, 1] = True  # the first key of image 3 is turned as its query is
    z = {name: F.normalize(drops.query_network(view), dim=2) for name, view in views.items()}
    queues = [drops.sources.of_space(s)[0].queue.rows for s in range(3)]
    q = z["query"][3, 2]
    own, *rest = ((q @ z[key][3, 2] / T).exp() for key in ("key_rotation", "key", "key_color"))
    others = (queues[2] @ q / T).exp().sum()
    change = (own + sum(rest) + others).log() - (own + rest[1] + others).log()
    found = drops.loss(Batch(views, metadata=metadata)).loss
    torch.testing.assert_close(found, none_equal - change / (3 * 8))
    found.backward()
    gradients = [p.grad for p in drops.query_network.parameters() if p.grad is not None]
    assert gradients and all(torch.isfinite(gradient).all() for gradient in gradients)
    with pytest.raises(UsageError, match="metadata"):
        drops.loss(Batch(views))


def test_without_other_keys_each_space_is_moco_on_its_own_key() -> None:
    method = build(settings(QueueSettings(12)))
    views = random_views(VIEWS, 8, seed=0)
    loss = method.loss(Batch(views)).loss
    z = {name: F.normalize(method.query_network(view), dim=2) for name, view in views.items()}
    losses = []
    for space, key in enumerate(VIEWS[1:]):
        q, k = z["query"][:, space], z[key][:, space]
        rows = method.sources.of_space(space)[0].queue.rows
        logits = torch.cat([(q * k).sum(1, keepdim=True), q @ rows.T], 1) / T
        losses.append(F.cross_entropy(logits, torch.zeros(8, dtype=torch.long)))
    torch.testing.assert_close(loss, torch.stack(losses).mean())


def test_batch_negatives_take_the_place_of_the_queue() -> None:
    method = build(settings(BatchSettings(), OtherKeysSettings()))
    views = random_views(VIEWS, 4, seed=0)
    loss = method.loss(Batch(views)).loss
    z = {name: F.normalize(method.query_network(view), dim=2) for name, view in views.items()}
    terms = []
    for row in range(4):
        for space, key in enumerate(VIEWS[1:]):
            q = z["query"][row, space]
            rest = [z[key][other, space] for other in range(4) if other != row]
            if space:
                rest += [z[other][row, space] for other in VIEWS[1:] if other != key]
            logits = torch.stack([q @ z[key][row, space], *(q @ one for one in rest)]) / T
            terms.append(logits.logsumexp(0) - logits[0])
    torch.testing.assert_close(loss, torch.stack(terms).mean())


def test_queues_of_spaces_begin_apart() -> None:
    method = build()
    first, second = (method.sources.of_space(s)[0].queue.rows for s in (0, 1))
    assert not torch.equal(first, second)


def test_a_space_without_augmentations_shares_the_first_key_and_has_no_other_keys() -> None:
    """MoCo++: several heads, each invariant to all."""
    plain = replace(settings(), spaces={"second": (), "third": ()})
    assert list(plain.view_transforms()) == ["query", "key"]
    method = build(plain)
    views = random_views(("query", "key"), 8, seed=0)
    loss = method.loss(Batch(views)).loss
    z = {name: F.normalize(method.query_network(view), dim=2) for name, view in views.items()}
    terms = []
    for space in range(3):
        rows = method.sources.of_space(space)[0].queue.rows
        q, k = z["query"][:, space], z["key"][:, space]
        logits = torch.cat([(q * k).sum(1, keepdim=True), q @ rows.T], 1) / T
        terms.append(F.cross_entropy(logits, torch.zeros(8, dtype=torch.long)))
    torch.testing.assert_close(loss, torch.stack(terms).mean())


def test_views_are_those_of_the_strategy() -> None:
    chosen = replace(settings(), shared=("horizontal_flip",))
    makers = chosen.view_transforms()
    assert list(makers) == list(VIEWS)
    assert makers["key"] == Sharing(shares=("horizontal_flip",))
    assert makers["key_rotation"] == Sharing(shares=("rotation", "horizontal_flip"))
    drops = settings(QueueSettings(12), OtherKeysSettings(equal_params="drop")).view_transforms()
    assert drops["key_rotation"] == Sharing(shares=("rotation",), compares=tuple(SPACES.values()))
    added = replace(settings(QueueSettings(12)), strategy="add_one").view_transforms()
    everything = ("color_jitter", "grayscale", "rotation")
    assert added["query"] == added["key"] == Lacking(lacks=everything)
    assert added["key_color"] == Lacking(lacks=("rotation",))
    assert added["key_rotation"] == Lacking(lacks=("color_jitter", "grayscale"))


def test_a_head_of_looc_plus_plus_sees_its_own_branch_alone() -> None:
    encoder = create_encoder(TINY.model_copy(update={"branches": 3}), seed=0)
    method = replace(settings(), batch_norm_groups=1).build(encoder)
    images = torch.randn(4, 3, 32, 32)
    embedded = method.embed_spaces(images)  # (4, 3, 5)
    embedded[:, 1].sum().backward()
    reached = {
        name
        for name, parameter in method.named_parameters()
        if parameter.grad is not None and parameter.grad.abs().sum() > 0
    }
    for part in ("encoder.model.branches", "head.heads"):
        assert any(name.startswith(f"{part}.1.") for name in reached)
        assert not any(name.startswith((f"{part}.0.", f"{part}.2.")) for name in reached)
    assert any(name.startswith("encoder.model.trunk.") for name in reached)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("method.spaces={}", "at least one space"),
        ("method.spaces={invariant: [rotation]}", "besides 'invariant'"),
        ("method.spaces={a b: [rotation]}", "'a b' must consist of letters"),
        ("method.spaces={turn: [rotatoin]}", "rotatoin"),
        (
            "method.spaces={crop: [random_resized_crop]}\nmethod.strategy=add_one\n"
            "method.negatives=[{name: queue}]",
            "cannot leave out",
        ),
        ("method.strategy=add_one", "does not work with .*'other_keys'"),
        ("method.shared=[rotation]", "'rotation' may be in one of the 'spaces'"),
        (
            "method.spaces={a: [rotation], b: [rotation]}",
            "'rotation' may be in one of the 'spaces'",
        ),
        ("method.spase={}", "spase"),
    ],
)
def test_a_wrong_recipe_is_refused(changes: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_recipe("looc-color-rotation-shapes", changes.split("\n"))


def test_the_invariant_space_needs_negatives_too() -> None:
    with pytest.raises(UsageError, match="'invariant' has no negatives"):
        settings(OtherKeysSettings()).check(DeviceBatch(32))


def test_a_recipe_that_names_spaces_wants_no_others() -> None:
    recipe = load_recipe(
        {"extends": "looc-color-rotation-shapes", "method": {"spaces": {"turn": ["rotation"]}}}
    )
    assert isinstance(recipe.method, LooCSettings)
    assert recipe.method.spaces == {"turn": ("rotation",)}


def test_branches_must_be_as_many_as_spaces() -> None:
    encoder = create_encoder(TINY.model_copy(update={"branches": 2}), seed=0)
    with pytest.raises(UsageError, match=r"must be 1 .* or 3"):
        settings().build(encoder)


def test_other_keys_are_for_methods_with_spaces() -> None:
    moco = MoCoSettings(negatives=(QueueSettings(8), OtherKeysSettings()))
    with pytest.raises(UsageError, match=r"other_keys.*several spaces"):
        moco.check(DeviceBatch(32))


def test_the_key_of_moco_can_share_draws_with_the_query() -> None:
    assert MoCoSettings(shared=("rotation",)).view_transforms()["key"] == Sharing(
        shares=("rotation",)
    )


@pytest.mark.parametrize(
    ("recipe", "sets"),
    [
        ("looc-color-rotation-shapes", ["method.negatives.other_keys.equal_params=drop"]),
        ("looc-pp-color-rotation-shapes", []),
        ("looc-patch-shapes", []),
    ],
)
def test_a_run_that_was_stopped_goes_on_to_the_same_weights(
    recipe: str, sets: list[str], tmp_path: Path
) -> None:
    assert_resumes_exactly(recipe, tmp_path, [*sets, "method.hidden=16", "method.dim=8"])
