"""CAN against a transcription, its terms, its noise, its negatives and its runs."""

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from tests.methods.masked_reference import by_image, decoded, encoded, pixel_errors
from tests.methods.plain_parts import TINY_VIT, PlainCAN
from tests.methods.small_runs import assert_resumes_exactly, small_run
from tests.methods.test_mae import SMALL
from tests.small import PlainEncoder, random_views
from unshortcut import load_model, load_recipe
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.losses.info_nce import InfoNCE
from unshortcut.methods.can import CAN, CANSettings
from unshortcut.methods.corruption import keyed_normal
from unshortcut.methods.simclr import SimCLRSettings
from unshortcut.methods.step import Batch, DeviceBatch
from unshortcut.models.encoder import Encoder
from unshortcut.models.masked_decoder import NoiseLevel
from unshortcut.negatives.batch import BatchSettings
from unshortcut.negatives.patch import PatchSettings

VIEWS = ("query", "key")


def build(**changes: object) -> CAN:
    torch.manual_seed(0)
    return PlainCAN(**changes).build(PlainEncoder()).double()  # type: ignore[arg-type]


def transcribed(method: CAN, views: dict[str, Tensor]) -> dict[str, Tensor]:
    """The three terms of a step, image by image, and the error of predicting no noise."""
    embedded, pixels, noises, powers = [], [], [], []
    for name in VIEWS:
        drawn = method.draw(views[name], name)
        masks = by_image(drawn.mask)
        for number, (visible, hidden) in enumerate(masks):
            image, noise, std = views[name][number], drawn.noise[number], drawn.noise_std[number]
            tokens = encoded(method, image, visible, noise)
            embedded.append(method.head(tokens[1:].mean(0)[None])[0])
            level = method.decoder.noise_level(std[None])[0]
            predicted = decoded(method, tokens, visible, level)
            pixels.append(pixel_errors(method, image, predicted, hidden))
            for place, added in zip(visible, noise, strict=True):
                if method.settings.standardize_noise:
                    added = (added - added.mean()) / (added.var() + 1e-6).sqrt()
                powers.append((added**2).mean())
                noises.append(((predicted[place] - added) ** 2).mean())
    rows = [row / row.norm() for row in embedded]
    count = len(rows)
    contrast = []
    for first in range(count):
        positive = (first + count // 2) % count
        similarities = {
            other: torch.exp(rows[first] @ rows[other] / 0.1)
            for other in range(count)
            if other != first
        }
        contrast.append(-torch.log(similarities[positive] / sum(similarities.values())))
    return {
        "contrast": torch.stack(contrast).mean(),
        "reconstruct": torch.cat(pixels).mean(),
        "denoise": torch.stack(noises).mean(),
        "power of the noise": torch.stack(powers).mean(),
    }


@pytest.mark.parametrize("standardize_noise", [False, True])
def test_a_step_equals_a_transcription(standardize_noise: bool) -> None:
    method = build(
        contrast=0.2,
        reconstruct=0.5,
        denoise=0.3,
        noise_max=0.4,
        standardize_noise=standardize_noise,
    )
    views = random_views(VIEWS, 4, seed=0)
    result = method.loss(Batch(views))
    terms = transcribed(method, views)
    power = terms.pop("power of the noise")
    for name, term in terms.items():
        torch.testing.assert_close(result.metrics[f"loss_{name}"], term.detach(), msg=name)
    explained = 1 - terms["denoise"].detach() / power
    torch.testing.assert_close(result.metrics["explained_noise"], explained)
    expected = 0.2 * terms["contrast"] + 0.5 * terms["reconstruct"] + 0.3 * terms["denoise"]
    torch.testing.assert_close(result.loss, expected)
    ours, theirs = (
        torch.autograd.grad(loss, list(method.encoder.model.blocks.parameters()))
        for loss in (result.loss, expected)
    )
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


TERMS = ("contrast", "reconstruct", "denoise")


LEFT_OUT = [(), *((term,) for term in TERMS), TERMS[:2], TERMS[1:], TERMS[::2]]


@pytest.mark.parametrize("left_out", LEFT_OUT)
def test_a_term_with_weight_0_is_not_built_and_the_others_do_not_notice(
    left_out: tuple[str, ...],
) -> None:
    weights = {term: 0.0 if term in left_out else 1.0 for term in TERMS}
    method = build(**weights)
    views = random_views(VIEWS, 4, seed=0)
    result = method.loss(Batch(views))
    assert {f"loss_{term}" for term in TERMS if weights[term]} == {
        name for name in result.metrics if name.startswith("loss_")
    }
    torch.testing.assert_close(
        result.loss.detach(), sum(result.metrics[f"loss_{t}"] for t in TERMS if weights[t])
    )
    if "denoise" not in left_out:  # without it there is no noise, and views are others
        every = build(contrast=1.0, reconstruct=1.0, denoise=1.0)
        every.load_state_dict(method.state_dict(), strict=False)
        whole = every.loss(Batch(views))
        for name, value in result.metrics.items():
            torch.testing.assert_close(value, whole.metrics[name], msg=name)
    result.loss.backward()
    for name, parameter in method.named_parameters():
        assert parameter.grad is not None or not parameter.requires_grad, f"{name} is not used"
    drawn = method.draw(views["query"], "query")
    assert (drawn.noise is None) == ("denoise" in left_out)
    assert method.makes_pictures == (left_out != TERMS[1:])


def test_contrast_alone_with_nothing_masked_is_simclr() -> None:
    method = build(reconstruct=0, denoise=0, contrast=1.0, mask_ratio=0, head_layers=2)
    torch.manual_seed(0)
    simclr = SimCLRSettings(hidden=8, dim=5, head_batch_norm=False).build(Encoder(TINY_VIT))
    simclr.load_state_dict(method.state_dict())
    views = random_views(VIEWS, 4, seed=0)
    expected = simclr.double().loss(Batch(views))
    found = method.loss(Batch(views))
    torch.testing.assert_close(found.loss, expected.loss)
    torch.testing.assert_close(found.embeddings, expected.embeddings)


def test_noise_is_uniform_in_strength_and_keyed_by_image() -> None:
    method = build(noise_max=0.5)
    images = torch.zeros(600, 3, 4, 4, dtype=torch.float64)
    drawn = method.draw(images, "query")
    assert 0 <= drawn.noise_std.min() < 0.02 and 0.48 < drawn.noise_std.max() <= 0.5
    assert abs(float(drawn.noise_std.mean()) - 0.25) < 0.02
    unit = drawn.noise / drawn.noise_std[:, None, None]
    assert abs(float(unit.mean())) < 0.02 and abs(float(unit.std()) - 1) < 0.02
    assert abs(float(torch.corrcoef(unit.flatten(1)[:2])[0, 1])) < 0.6, "images differ"
    again = method.draw(images, "query")
    assert torch.equal(drawn.noise, again.noise), "a step can be repeated"
    assert not torch.equal(drawn.noise, method.draw(images, "key").noise)
    method.batches_seen += 1
    assert not torch.equal(drawn.noise, method.draw(images, "query").noise)


def test_noise_does_not_depend_on_the_rest_of_the_batch() -> None:
    like = torch.zeros(2, 4, 12)
    keys = [(0, "a"), (0, "b")]
    assert torch.equal(keyed_normal(like[1:], keys[1:])[0], keyed_normal(like, keys)[1])


def test_the_noise_level_is_embedded_by_waves_and_two_layers() -> None:
    level = NoiseLevel(width=8, largest=0.05).double()
    std = torch.tensor([0.0, 0.013, 0.05], dtype=torch.float64)
    rows = []
    for one in std.tolist():
        step = 1000 * one / 0.05  # as the step of a diffusion model
        phases = [step * 1e4 ** (-band / 4) for band in range(4)]
        rows.append([math.sin(x) for x in phases] + [math.cos(x) for x in phases])
    first, second = level.layers[0], level.layers[2]
    inner = torch.tensor(rows, dtype=torch.float64) @ first.weight.T + first.bias
    expected = (inner * inner.sigmoid()) @ second.weight.T + second.bias
    # The frequencies are float32, and phases reach 1000.
    torch.testing.assert_close(level(std), expected, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(level(std)[0], level(std)[1])


def test_a_few_steps_learn_to_predict_noise() -> None:
    # Of gray images all that is seen is noise.
    method = build(contrast=0, reconstruct=0, denoise=1.0, noise_max=1.0)
    images = torch.zeros(128, 3, 4, 4, dtype=torch.float64)
    optimizer = torch.optim.Adam(method.parameters(), lr=1e-2)
    explained = []
    for _ in range(150):
        step = method.loss(Batch({"query": images, "key": images}))
        optimizer.zero_grad()
        step.loss.backward()
        optimizer.step()
        method.on_after_backward()
        explained.append(step.metrics["explained_noise"].item())
    assert explained[0] < 0.05
    assert sum(explained[-5:]) / 5 > 0.3


def test_patch_negatives_are_masked_and_noisy_as_the_views_are() -> None:
    method = build(negatives=(BatchSettings(), PatchSettings(alpha=1.5)), noise_max=0.3)
    views = random_views((*VIEWS, "patch_negative", "key_patch_negative"), 4, seed=0)
    result = method.loss(Batch(views))
    queries, keys = [], []
    negatives = ("patch_negative", "key_patch_negative")
    for place, (name, negative) in enumerate(zip(VIEWS, negatives, strict=True)):
        own = f"negative {place}"  # every tile has a mask of its own
        for view, purpose, rows in ((name, name, queries), (negative, own, keys)):
            drawn = method.draw(views[view], purpose)
            for number, (visible, _) in enumerate(by_image(drawn.mask)):
                tokens = encoded(method, views[view][number], visible, drawn.noise[number])
                rows.append(F.normalize(method.head(tokens[1:].mean(0)[None])[0], dim=0))
    losses = []
    for first, query in enumerate(queries):
        others = [query @ queries[k] for k in range(8) if k % 4 != first % 4]
        negative = 1.5 * (query @ keys[first])
        positive = query @ queries[(first + 4) % 8]
        logits = torch.stack([positive, *others, negative]) / 0.1
        losses.append(logits.logsumexp(0) - logits[0])
    torch.testing.assert_close(result.metrics["loss_contrast"], torch.stack(losses).mean().detach())


def drawn_by_hand(method: CAN, images: Tensor) -> dict[str, Tensor]:
    """What pictures should show, patch by patch, in levels of 0 to 255."""
    drawn = method.corruptor.draw(images, 0, "pictures")
    method.eval()
    patches = method.grid.cut(images)
    predicted = method.network(drawn.seen(patches), drawn.mask, drawn.noise_std).predicted
    method.train()
    seen, completed = patches.clone(), patches.clone()
    noise, guessed = torch.zeros_like(patches), torch.zeros_like(patches)
    for number, (visible, hidden) in enumerate(by_image(drawn.mask)):
        for row, place in enumerate(visible):
            seen[number, place] += drawn.noise[number, row]
            noise[number, place] = drawn.noise[number, row]
            guess, added = predicted.visible[number, row], drawn.noise[number, row]
            if method.settings.standardize_noise:
                guess = guess * (added.var() + 1e-6).sqrt() + added.mean()
            guessed[number, place] = guess
        for row, place in enumerate(hidden):
            patch = patches[number, place]
            spread = (patch.var() + 1e-6).sqrt()
            completed[number, place] = predicted.hidden[number, row] * spread + patch.mean()
    unit = 127.5 / (3 * method.settings.noise_max)
    return {
        "seen": method.to_pixels(method.grid.join(seen)),
        "reconstruction": method.to_pixels(method.grid.join(completed)),
        "noise": 127.5 + unit * method.grid.join(noise),
        "predicted noise": 127.5 + unit * method.grid.join(guessed),
    }


@pytest.mark.parametrize("standardize_noise", [False, True])
def test_pictures_show_input_mask_reconstruction_and_noise(standardize_noise: bool) -> None:
    method = build(noise_max=0.5, standardize_noise=standardize_noise).float()
    images = torch.randn(3, 3, 4, 4).clamp(-1, 1)
    shown = method.pictures({"query": images, "key": images})
    titles = ["input", "seen", "reconstruction", "noise", "predicted noise"]
    assert list(shown) == titles
    assert all(p.shape == (3, 3, 4, 4) and p.dtype == torch.uint8 for p in shown.values())
    drawn = method.corruptor.draw(images, 0, "pictures")
    hidden = method.grid.join(drawn.mask.is_hidden()[:, :, None].expand(-1, -1, 12))
    assert (shown["seen"][hidden] == 128).all()
    assert (shown["noise"][hidden] == 128).all() and (shown["predicted noise"][hidden] == 128).all()
    assert torch.equal(shown["reconstruction"][~hidden], shown["input"][~hidden])
    assert not torch.equal(shown["reconstruction"][hidden], shown["input"][hidden])
    for title, expected in drawn_by_hand(method, images).items():
        kept = torch.full_like(hidden, title == "reconstruction") | ~hidden
        difference = (shown[title] - expected.detach().clamp(0, 255)).abs()
        assert difference[kept].max() <= 0.51, title
    assert method.training, "a training goes on as it was"
    for title, pixels in method.pictures({"query": images}).items():
        assert torch.equal(pixels, shown[title]), "the same masks after each epoch"


def test_its_recipe_runs_and_resumes_exactly(tmp_path: Path) -> None:
    assert_resumes_exactly("can-shapes", tmp_path, [*SMALL, "method.hidden=16", "method.dim=8"])


def test_a_run_gives_features_of_whole_images(tmp_path: Path) -> None:
    run = small_run("can-shapes", tmp_path / "run", SMALL)
    features = load_model(run.folder).embed(Shapes("val", size=32, count=3)).values
    assert features.shape == (3, 16) and features.std() > 0
    assert (run.folder / "samples.png").is_file()
    terms = {"loss_contrast", "loss_reconstruct", "loss_denoise", "explained_noise"}
    assert terms < run.metrics.keys(), "the metrics of a run say what each term came to"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"noise_max": 0}, "noise_max 0 leaves no noise to predict"),
        ({"mask_ratio": 0}, "mask_ratio 0 leaves no pixels to predict"),
        ({"contrast": 0, "reconstruct": 0, "denoise": 0}, "must not all be 0"),
        ({"noise_max": -0.1}, "'noise_max' must be a number of at least 0"),
    ],
)
def test_settings_that_leave_nothing_to_learn_are_refused(
    values: dict[str, float], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        CANSettings(**values)  # type: ignore[arg-type]


def test_negatives_count_only_with_contrast() -> None:
    without = CANSettings(contrast=0, negatives=(PatchSettings(),))
    assert list(without.view_transforms()) == list(VIEWS)
    without.check(DeviceBatch(8))
    strong = CANSettings(negatives=(BatchSettings(), PatchSettings(alpha=9.0)))
    assert "patch_negative" in strong.view_transforms()
    assert len(strong.warnings(DeviceBatch(8))) == 1 and not without.warnings(DeviceBatch(8))
    with pytest.raises(UsageError, match="needs negatives"):
        CANSettings(negatives=()).check(DeviceBatch(8))
    assert isinstance(load_recipe("can-shapes").method.loss, InfoNCE)


def test_only_contrast_can_collapse() -> None:
    assert build().can_collapse and not build(contrast=0).can_collapse
