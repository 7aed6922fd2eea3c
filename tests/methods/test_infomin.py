"""InfoMin against a direct transcription of its step: MoCo, and the same query in pieces."""

import copy
from pathlib import Path

import torch
from torch.nn import functional as F

from tests.methods.plain_parts import PlainInfoMin
from tests.methods.small_runs import assert_resumes_exactly
from tests.small import PlainEncoder, random_views
from unshortcut.methods.infomin import InfoMin, InfoMinSettings
from unshortcut.methods.moco import MoCoSettings
from unshortcut.methods.step import Batch
from unshortcut.models.encoder import EncoderSettings, create_encoder
from unshortcut.negatives.queue import QueueSettings


def build(weight: float = 0.3) -> InfoMin:
    torch.manual_seed(0)
    settings = PlainInfoMin(
        hidden=8, dim=5, momentum=0.7, negatives=(QueueSettings(12),), jigsaw_weight=weight
    )
    return settings.build(PlainEncoder()).double()


def test_three_steps_equal_a_transcription_of_the_algorithm() -> None:
    method = build()
    reference = copy.deepcopy(method)
    encoder, head, jigsaw_head = reference.encoder, reference.head, reference.jigsaw_head
    slow = copy.deepcopy(reference.query_network)
    queue = method.sources[0].queue.rows.clone()
    pointer = 0
    for step in range(3):
        views = random_views(("query", "key"), 8, seed=step)
        views["jigsaw"] = random_views(("jigsaw",), 8, seed=step, size=6)["jigsaw"]
        loss = method.loss(Batch(views)).loss
        method.zero_grad()
        loss.backward()
        method.on_after_backward()

        query = F.normalize(head(encoder(views["query"])), dim=1)
        with torch.no_grad():
            for ours, theirs in zip(
                slow.parameters(), reference.query_network.parameters(), strict=True
            ):
                ours.copy_(0.7 * ours + 0.3 * theirs)
            key = F.normalize(slow(views["key"]), dim=1)
        pieces = [
            jigsaw_head.piece(encoder(views["jigsaw"][:, :, top : top + 2, left : left + 2]))
            for top in (0, 2, 4)
            for left in (0, 2, 4)
        ]
        in_pieces = F.normalize(jigsaw_head.joined(torch.cat(pieces, dim=1)), dim=1)
        whole, jigsaw = (
            F.cross_entropy(
                torch.cat([(q * key).sum(1, keepdim=True), q @ queue.T.clone()], 1) / 0.15,
                torch.zeros(8, dtype=torch.long),
            )
            for q in (query, in_pieces)
        )
        expected = 0.7 * whole + 0.3 * jigsaw
        reference.zero_grad()
        expected.backward()
        for row in key:
            queue[pointer] = row
            pointer = (pointer + 1) % 12

        torch.testing.assert_close(loss, expected)
        for module in ("encoder", "head", "jigsaw_head"):
            for ours, theirs in zip(
                getattr(method, module).parameters(),
                getattr(reference, module).parameters(),
                strict=True,
            ):
                torch.testing.assert_close(ours.grad, theirs.grad)
                with torch.no_grad():
                    ours -= 0.1 * ours.grad
                    theirs -= 0.1 * theirs.grad
        torch.testing.assert_close(method.sources[0].queue.rows, queue)


def test_without_weight_there_is_no_branch_and_it_is_moco() -> None:
    method = build(weight=0.0)
    assert list(method.settings.view_transforms()) == ["query", "key"]
    torch.manual_seed(0)
    moco = MoCoSettings(
        hidden=8,
        dim=5,
        momentum=0.7,
        negatives=(QueueSettings(12),),
        loss=method.settings.loss,
    ).build(PlainEncoder())
    moco.double().load_state_dict(method.state_dict())  # strictly: not a tensor more
    views = random_views(("query", "key"), 8, seed=0)
    torch.testing.assert_close(method.loss(Batch(views)).loss, moco.loss(Batch(views)).loss)


def test_pieces_leave_no_trace_in_the_running_statistics_of_the_encoder() -> None:
    encoder = create_encoder(EncoderSettings(name="resnet18", options={"channels": [8] * 4}), 0)
    method = InfoMinSettings(hidden=8, dim=5).build(encoder)
    before = {name: buffer.clone() for name, buffer in encoder.named_buffers()}
    embeddings = method.embed_jigsaw(torch.randn(4, 3, 96, 96))
    assert embeddings.shape == (4, 5) and embeddings.requires_grad
    assert all(torch.equal(before[name], buffer) for name, buffer in encoder.named_buffers())


def test_its_recipe_runs_and_resumes_exactly(tmp_path: Path) -> None:
    sets = [
        "views.overrides.jigsaw.random_resized_crop.size=27",
        "method.negatives.queue.size=48",
        "method.hidden=16",
    ]
    assert_resumes_exactly("infomin-shapes", tmp_path, sets)
