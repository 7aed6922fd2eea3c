"""Weighed sources of negatives: what they compare, when they are absent, what they leave alone."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.small import TINY, PlainEncoder, random_views
from unshortcut.errors import UsageError
from unshortcut.losses.info_nce import InfoNCE, info_nce_loss
from unshortcut.losses.loss import Placement
from unshortcut.methods.method import Method, MethodSettings
from unshortcut.methods.moco import MoCoSettings
from unshortcut.methods.simclr import SimCLRSettings
from unshortcut.methods.step import Batch, DeviceBatch
from unshortcut.models.encoder import create_encoder
from unshortcut.negatives.alpha import AlphaSchedule, WeightedSettings
from unshortcut.negatives.batch import BatchSettings
from unshortcut.negatives.patch import PatchSettings
from unshortcut.negatives.queue import QueueSettings
from unshortcut.negatives.regular import RegularSettings
from unshortcut.negatives.source import ContrastStep, view_transforms_of
from unshortcut.negatives.texture import TextureSettings


def build(settings: MethodSettings) -> Method:
    torch.manual_seed(0)
    return settings.build(PlainEncoder()).double()


def moco(*more: WeightedSettings) -> MoCoSettings:
    return MoCoSettings(hidden=8, dim=5, momentum=0.9, negatives=(QueueSettings(4), *more))


def contrast(images: int, query_views: tuple[str, ...], progress: float = 0.0) -> ContrastStep:
    """Embeddings that tell their row: the positive of row r is the r-th unit vector."""
    rows = images * len(query_views)
    queries = torch.rand(rows, rows, dtype=torch.float64)
    return ContrastStep(
        queries,
        torch.eye(rows, dtype=torch.float64),
        query_views,
        {},
        lambda images: images,
        InfoNCE(0.2).weigh,
        lambda purpose: torch.Generator().manual_seed(0),
        progress,
    )


@pytest.mark.parametrize("placement", ["inside", "outside"])
def test_moco_with_two_patch_negatives_is_the_formula(placement: str) -> None:
    method = build(moco(PatchSettings(alpha=1.5, placement=placement, count=2)))  # type: ignore[arg-type]
    views = random_views(("query", "key", "patch_negative", "patch_negative_2"), 8, seed=0)
    loss = method.loss(Batch(views)).loss
    z = {name: F.normalize(method.query_network(view), dim=1) for name, view in views.items()}
    queue = method.sources[0].queue.rows
    terms = []
    for row in range(8):
        query = z["query"][row]
        own = torch.stack([query @ z[n][row] for n in ("patch_negative", "patch_negative_2")])
        own = 1.5 * own if placement == "inside" else own
        factor = 1.0 if placement == "inside" else 1.5
        positive = (query @ z["key"][row] / 0.2).exp()
        rest = factor * (own / 0.2).exp().sum() + (queue @ query / 0.2).exp().sum()
        terms.append(-(positive / (positive + rest)).log())
    torch.testing.assert_close(loss, torch.stack(terms).mean())


def test_what_only_pushes_is_never_enqueued_and_takes_no_gradient() -> None:
    method = build(moco(PatchSettings(), TextureSettings()))
    views = random_views(("query", "key", "patch_negative", "texture_negative"), 4, seed=0)
    batch = {name: view.requires_grad_() for name, view in views.items()}
    method.loss(Batch(batch)).loss.backward()
    method.on_after_backward()
    keys = F.normalize(method.key_network(views["key"]), dim=1)
    torch.testing.assert_close(method.sources[0].queue.rows, keys)
    assert [name for name, view in batch.items() if view.grad is not None] == ["query"]


@pytest.mark.parametrize("kind", [PatchSettings, TextureSettings, RegularSettings])
def test_alpha_0_is_absent(kind: type[WeightedSettings]) -> None:
    plain, with_0 = moco(), moco(kind(alpha=0.0))
    views = random_views(("query", "key"), 8, seed=0)
    assert torch.equal(build(plain).loss(Batch(views)).loss, build(with_0).loss(Batch(views)).loss)
    assert with_0.view_transforms().keys() == plain.view_transforms().keys()
    assert len(build(with_0).sources) == 1


@pytest.mark.parametrize("kind", [PatchSettings, RegularSettings])
def test_where_a_schedule_is_at_0_no_exponential_is_added(kind: type[WeightedSettings]) -> None:
    source = kind(alpha=2.0, schedule=AlphaSchedule("linear")).build(4, 0)
    assert source.similarities(contrast(4, ("query",))).shape == (4, 0)


def test_schedules_go_from_the_first_alpha_to_the_last() -> None:
    linear, cosine = AlphaSchedule("linear", 1.0, 0.5), AlphaSchedule("cosine", 1.0)
    assert [linear.at(3.0, p) for p in (0, 0.25, 0.5, 1)] == [1, 2, 3, 3]
    assert [cosine.at(3.0, p) for p in (0, 0.5, 1)] == pytest.approx([1, 2, 3])
    assert AlphaSchedule().at(3.0, 0.0) == 3
    assert not PatchSettings(alpha=0.0, schedule=AlphaSchedule("linear", 2.0)).absent


def test_simclr_has_a_patch_negative_for_each_of_its_views() -> None:
    settings = SimCLRSettings(
        hidden=8, dim=5, head_batch_norm=False, negatives=(BatchSettings(), PatchSettings())
    )
    method = build(settings)
    names = tuple(settings.view_transforms())
    assert names == ("query", "key", "patch_negative", "key_patch_negative")
    views = random_views(names, 4, seed=0)
    z = {name: method.embed(view) for name, view in views.items()}
    queries = torch.cat([z["query"], z["key"]])
    positive = (z["query"] * z["key"]).sum(1).repeat(2)
    own = (queries * torch.cat([z["patch_negative"], z["key_patch_negative"]])).sum(1)
    others = [[queries[i] @ queries[j] for j in range(8) if j % 4 != i % 4] for i in range(8)]
    batch = torch.stack([torch.stack(row) for row in others])
    expected = info_nce_loss(positive, [batch, 2 * own[:, None]], 0.1).mean()
    torch.testing.assert_close(method.loss(Batch(views)).loss, expected)


@pytest.mark.parametrize("learns", [False, True])
def test_simclr_s_negatives_take_a_gradient_only_where_asked(learns: bool) -> None:
    method = build(
        SimCLRSettings(
            hidden=8,
            dim=5,
            negatives=(BatchSettings(), PatchSettings()),
            negative_gradient=learns,
        )
    )
    names = ("query", "key", "patch_negative", "key_patch_negative")
    views = {name: v.requires_grad_() for name, v in random_views(names, 4, seed=0).items()}
    method.loss(Batch(views)).loss.backward()
    assert (views["patch_negative"].grad is not None) is learns


def test_simclr_s_running_statistics_are_those_of_views_alone() -> None:
    def statistics(*negatives: PatchSettings) -> list[Tensor]:
        settings = SimCLRSettings(hidden=8, dim=5, negatives=(BatchSettings(), *negatives))
        method = settings.build(create_encoder(TINY, seed=0))
        torch.manual_seed(0)
        views = {name: torch.randn(4, 3, 24, 24) for name in ("query", "key")}
        bright = {f"{k}patch_negative": torch.randn(4, 3, 24, 24) + 9 for k in ("", "key_")}
        method.loss(Batch(views | bright))
        return [b for n, b in method.encoder.named_buffers()]

    for plain, with_patches in zip(statistics(), statistics(PatchSettings()), strict=True):
        torch.testing.assert_close(plain, with_patches)


@pytest.mark.parametrize("query_views", [("query",), ("query", "key")])
def test_regular_negatives_are_other_images_of_the_same_view(query_views: tuple[str, ...]) -> None:
    images = 5
    case = contrast(images, query_views)
    similarities = RegularSettings(alpha=1.0, count=3).build(4, 0).similarities(case)
    assert similarities.shape == (images * len(query_views), 3)
    for row, values in enumerate(similarities):
        for value in values:
            # The positive of row r is the r-th unit vector, so the value tells which row it is.
            (other,) = (case.queries[row] == value).nonzero()[:, 0].tolist()
            assert other // images == row // images
            assert other % images != row % images


def test_two_sources_cannot_make_a_view_of_one_name() -> None:
    with pytest.raises(UsageError, match="patch_negative"):
        view_transforms_of((PatchSettings(), PatchSettings(alpha=1.0)), ("query",))
    named = view_transforms_of((PatchSettings(), PatchSettings(view="small")), ("query", "key"))
    assert list(named) == ["patch_negative", "key_patch_negative", "small", "key_small"]


@pytest.mark.parametrize(
    ("build_wrong", "message"),
    [
        (lambda: PatchSettings(alpha=-1.0), "alpha"),
        (lambda: PatchSettings(count=0), "count"),
        (lambda: PatchSettings(patch=(9, 3)), "two integers of at least 1, the lower first"),
        (lambda: PatchSettings(patch=[0, 3]), "patch: 'patch'"),
        (lambda: TextureSettings(copy="here", count=2), "count"),
        (lambda: TextureSettings(copy="here", patch=9), "patch"),
        (lambda: TextureSettings(patch=9.5), "patch"),
        (lambda: AlphaSchedule(first=1.0), "kind"),
        (lambda: AlphaSchedule("linear", over=0.0), "over"),
        (lambda: moco().check(DeviceBatch(9)), "groups"),
        (
            lambda: MoCoSettings(negatives=(PatchSettings(alpha=0.0),)).check(DeviceBatch(8)),
            "negatives",
        ),
    ],
)
def test_wrong_settings_are_refused_by_name(build_wrong, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=message):
        build_wrong()


@pytest.mark.parametrize(
    ("alpha", "temperature", "placement", "warned"),
    [
        (2.0, 0.2, "inside", False),
        (3.0, 0.2, "inside", False),
        (2.0, 0.1, "inside", True),
        (4.0, 0.2, "inside", True),
        (2.0, 0.1, "outside", False),  # a factor of 2, at any temperature
        (0.0, 0.1, "inside", False),
    ],
)
def test_an_alpha_that_is_large_for_its_temperature_is_warned_of(
    alpha: float, temperature: float, placement: Placement, warned: bool
) -> None:
    patch = PatchSettings(alpha=alpha, placement=placement)
    settings = SimCLRSettings(
        loss=InfoNCE(temperature=temperature), negatives=(BatchSettings(), patch)
    )
    found = settings.warnings(DeviceBatch(256))
    assert [one.startswith("method.negatives.patch: alpha") for one in found] == [True] * warned
