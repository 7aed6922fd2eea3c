"""CMC against a direct transcription of its step, and what it asks of an encoder."""

import copy
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.methods.plain_parts import PlainCMC
from tests.methods.small_runs import assert_resumes_exactly
from tests.small import PlainEncoder, random_views
from unshortcut.errors import UsageError
from unshortcut.methods.cmc import CMC, CMCSettings
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch

IMAGES, MEAN, STD = 11, (0.5, 0.4, 0.3), (0.25, 0.2, 0.3)


def build() -> CMC:
    torch.manual_seed(0)
    settings = PlainCMC(dim=5, bank_negatives=6, bank_momentum=0.3)
    return settings.build(
        PlainEncoder(), TrainingContext(num_images=IMAGES, mean=MEAN, std=STD)
    ).double()


def info_nce_loss(queries: Tensor, memory: Tensor, index: Tensor, noise: Tensor) -> Tensor:
    rows = [
        torch.stack([query @ memory[own], *(query @ memory[other] for other in noise)]) / 0.07
        for query, own in zip(queries, index, strict=True)
    ]
    return F.cross_entropy(torch.stack(rows), torch.zeros(len(rows), dtype=torch.long))


def test_three_steps_equal_a_transcription_of_the_algorithm() -> None:
    method = build()
    reference = copy.deepcopy(method)
    memory_l, memory_ab = (bank.rows.clone() for bank in method.banks)
    assert not torch.equal(memory_l, memory_ab)
    for step in range(3):
        view = random_views(("query",), 4, seed=step)["query"]
        index = torch.randperm(IMAGES, generator=torch.Generator().manual_seed(step))[:4]
        noise = torch.randint(IMAGES, (6,), generator=method.step_generator("bank"))
        loss = method.loss(Batch({"query": view}, index)).loss
        method.zero_grad()
        loss.backward()
        method.on_after_backward()

        reference.zero_grad()
        features = reference.encoder.model.parts(view)
        light, color = (
            F.normalize(head(part), dim=1)
            for head, part in zip(reference.heads, features, strict=True)
        )
        expected = info_nce_loss(light, memory_ab, index, noise)
        expected = expected + info_nce_loss(color, memory_l, index, noise)
        expected.backward()
        for memory, embeddings in ((memory_l, light), (memory_ab, color)):
            for row, own in zip(embeddings.detach(), index, strict=True):
                mixed = 0.3 * memory[own] + 0.7 * row
                memory[own] = mixed / mixed.norm()

        torch.testing.assert_close(loss, expected)
        for ours, theirs in zip(method.parameters(), reference.parameters(), strict=True):
            torch.testing.assert_close(ours.grad, theirs.grad)
            with torch.no_grad():
                ours -= 0.1 * ours.grad
                theirs -= 0.1 * theirs.grad
        for bank, memory in zip(method.banks, (memory_l, memory_ab), strict=True):
            torch.testing.assert_close(bank.rows, memory)


def test_the_networks_know_what_the_run_normalizes_by() -> None:
    networks = build().networks
    torch.testing.assert_close(networks.mean, torch.tensor(MEAN), check_dtype=False)
    torch.testing.assert_close(networks.std, torch.tensor(STD), check_dtype=False)


def test_the_embedding_is_of_unit_length_and_averages_both_similarities() -> None:
    method = build()
    images = random_views(("query",), 6, seed=0)["query"]
    embeddings = method.embed(images)
    torch.testing.assert_close(embeddings.norm(dim=1), torch.ones(6, dtype=torch.float64))
    light, color = method.embed_parts(images)
    expected = (light @ light.T + color @ color.T) / 2
    torch.testing.assert_close(embeddings @ embeddings.T, expected)


def test_batch_norm_in_the_heads_leaves_no_gap_between_lightness_and_color() -> None:
    method = PlainCMC(dim=5, head_batch_norm=True).build(PlainEncoder()).double()
    features = torch.randn(8, 5, dtype=torch.float64) + 3
    for head in method.heads:
        torch.testing.assert_close(head(features).mean(0), torch.zeros(5).double())


def test_an_encoder_of_one_network_is_refused() -> None:
    with pytest.raises(UsageError, match=r"set encoder\.color_split to true"):
        CMCSettings().build(PlainEncoder())


def test_its_recipe_runs_and_resumes_exactly(tmp_path: Path) -> None:
    assert_resumes_exactly("cmc-shapes", tmp_path, ["method.bank_negatives=32"])
