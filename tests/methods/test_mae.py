"""MAE against a transcription, its masks, and its runs."""

from pathlib import Path

import pytest
import timm
import torch

from tests.methods.masked_reference import by_image, decoded, encoded, pixel_errors
from tests.methods.plain_parts import PlainMAE
from tests.methods.small_runs import assert_resumes_exactly, small_run
from tests.small import PlainEncoder, random_views
from unshortcut import load_model, load_recipe
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.methods.mae import MAE
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch
from unshortcut.training.exporting import export_encoder
from unshortcut.training.pretraining import build_method

SMALL_VIT = (
    "encoder.options={img_size: 24, patch_size: 8, embed_dim: 16, depth: 2, num_heads: 2, "
    "global_pool: avg, fc_norm: false}"
)
SMALL = [SMALL_VIT, "method.decoder={width: 8, depth: 1, heads: 2}"]


def build(seed: int = 0, **changes: object) -> MAE:
    torch.manual_seed(0)
    settings = PlainMAE(**changes)  # type: ignore[arg-type]
    return settings.build(PlainEncoder(), TrainingContext(seed=seed)).double()


def test_a_step_equals_a_transcription() -> None:
    method = build(mask_ratio=0.5)
    views = random_views(("query",), 5, seed=0)
    result = method.loss(Batch(views))
    masks = by_image(method.draw(views["query"], "query").mask)
    errors, features = [], []
    for image, (visible, hidden) in zip(views["query"], masks, strict=True):
        tokens = encoded(method, image, visible)
        errors.append(pixel_errors(method, image, decoded(method, tokens, visible), hidden))
        features.append(tokens[1:].mean(0))
    torch.testing.assert_close(result.loss, torch.cat(errors).mean())
    expected = torch.nn.functional.normalize(torch.stack(features), dim=1)
    torch.testing.assert_close(result.embeddings, expected)
    plain = build(mask_ratio=0.5, standardize=False).loss(Batch(views)).loss
    assert not torch.isclose(plain, result.loss)


def test_every_patch_is_hidden_as_often_and_masks_have_keys() -> None:
    method, same, other = build(), build(), build(seed=1)
    images = random_views(("query",), 50, seed=0)["query"]
    hidden = torch.zeros(50, 4)
    for step in range(40):
        mask = method.draw(images, "query").mask
        assert mask.visible.shape == (50, 1) and mask.hidden.shape == (50, 3)
        assert torch.equal(mask.hidden, same.draw(images, "query").mask.hidden)
        assert not torch.equal(mask.hidden, other.draw(images, "query").mask.hidden)
        assert not torch.equal(mask.hidden, method.draw(images, "key").mask.hidden)
        hidden += mask.is_hidden()
        for one in (method, same, other):
            one.batches_seen.fill_(step + 1)
    share = hidden.sum(0) / (50 * 40)
    torch.testing.assert_close(share, torch.full((4,), 0.75), atol=0.05, rtol=0)
    assert hidden.std() > 1, "images of a batch have masks of their own"


def test_a_few_steps_learn_to_complete_images() -> None:
    method = build(mask_ratio=0.5, standardize=False)
    optimizer = torch.optim.Adam(method.parameters(), lr=1e-2)
    colors = torch.randn(64, 3, 1, 1, dtype=torch.float64)
    images = colors.expand(-1, -1, 4, 4)  # a visible patch tells the color of a hidden one
    losses = []
    for _ in range(60):
        loss = method.loss(Batch({"query": images})).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        method.on_after_backward()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_its_recipe_runs_and_resumes_exactly(tmp_path: Path) -> None:
    assert_resumes_exactly("mae-shapes", tmp_path, SMALL)


def test_an_exported_run_loads_strictly_into_timm_and_gives_its_features(tmp_path: Path) -> None:
    run = small_run("mae-shapes", tmp_path / "run", SMALL)
    path = export_encoder(run.folder, "timm")
    model = load_model(run.folder)
    plain = timm.create_model(
        "vit_tiny_patch16_224", num_classes=0, img_size=24, patch_size=8, embed_dim=16, depth=2,
        num_heads=2, global_pool="avg", fc_norm=False,
    )  # fmt: skip
    plain.load_state_dict(torch.load(path, weights_only=True))
    image = Shapes("val", size=32, count=1).image(0)
    batch = model.transform(image.pixels())[None]
    torch.testing.assert_close(plain.eval()(batch), model.features(batch))
    assert (tmp_path / "run" / "samples.png").is_file(), "what it predicts is drawn"


def test_the_class_token_can_be_the_feature(tmp_path: Path) -> None:
    token = SMALL_VIT.replace("avg, fc_norm: false", "token")
    run = small_run("mae-shapes", tmp_path / "run", [*SMALL, token])
    model = load_model(run.folder)
    batch = model.transform(Shapes("val", size=32, count=1).image(0).pixels())[None]
    tokens = model.feature_maps(batch)
    assert torch.equal(model.features(batch), tokens[:, 0])


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (["method.mask_ratio=0.95", SMALL_VIT], "leaves none of the 9 patches"),
        (["encoder={name: resnet18}"], "encoder 'resnet18' cannot leave out patches"),
        (["encoder.name=deit_tiny_distilled_patch16_224"], "distilled_patch16_224' cannot leave"),
        (["encoder.options.patch_size=7"], "patches of 7 pixels do not divide images of 64"),
        (["views.size=48"], "views.size 48 is not the image size"),
        (["method.mask_ratio=1"], "'mask_ratio' must be a number above 0 and below 1"),
        (["method.decoder.heads=3"], "width 64 must be a multiple of heads 3"),
        (["method.decoder={width: 6, heads: 2}"], "width 6 must be a multiple of 4"),
        (["encoder.options.fc_norm=true"], "add fc_norm: false"),
        (["views.size=60"], "patches of 8 pixels do not divide images of 60"),
        (["method.mask_ratio=1e-12"], "mask_ratio 1e-12 hides none of the 64 patches"),
        (["encoder.options.global_pool=map"], "global_pool: masked methods need .* not 'map'"),
        (["encoder.options.global_pool=''"], "global_pool: masked methods need .* not ''"),
        (["encoder.options.patch_drop_rate=0.5"], "hide patches themselves; leave it out"),
    ],
)
def test_what_cannot_work_is_one_sentence_before_the_run(sets: list[str], message: str) -> None:
    if SMALL_VIT in sets:
        sets = ["views.size=24", *sets]
    with pytest.raises(UsageError, match=message):
        build_method(load_recipe("mae-shapes", sets))
