"""Mixup and CutMix: pairs of images and their labels, against formulas and timm's boxes."""

from unittest.mock import Mock

import numpy as np
import pytest
import torch
from timm.data.mixup import cutmix_bbox_and_lam

from tests.methods.test_supervised import build, soft_cross_entropy
from tests.small import random_views
from unshortcut.errors import UsageError
from unshortcut.methods.mixing import MixingSettings, cutmix_box, mixed, mixing_share, neighbors
from unshortcut.methods.step import Batch, DeviceBatch
from unshortcut.methods.supervised import SupervisedSettings
from unshortcut.randomness import generator
from unshortcut.transfer.tasks.classify import ClassifySettings

LABEL = torch.tensor([0, 1, 2, 2, 1, 0])
PARTNER = [1, 0, 3, 2, 5, 4]
TARGET = 0.9 * torch.eye(3, dtype=torch.float64)[LABEL] + 0.1 / 3


def test_mixup_mixes_pairs_of_images_and_their_labels_alike() -> None:
    method = build(mixup=0.5, label_smoothing=0.1)
    views = random_views(("query",), 6, seed=0)
    images, share = views["query"], mixing_share(0.5, 0, 0)
    assert 0.5 <= share < 1
    expected = soft_cross_entropy(
        method,
        share * images + (1 - share) * images[PARTNER],
        share * TARGET + (1 - share) * TARGET[PARTNER],
    )
    assert method.loss(Batch(views, label=LABEL)).loss.item() == pytest.approx(expected)
    assert neighbors(torch.arange(6)).tolist() == PARTNER


def test_cutmix_pastes_a_box_and_labels_have_the_shares_of_the_pixels() -> None:
    method = build(cutmix=1.0, label_smoothing=0.1)
    views = random_views(("query",), 6, seed=0)
    images = views["query"]
    shares = []
    for step in range(8):
        method.batches_seen.fill_(step)
        found = method.loss(Batch(views, label=LABEL)).loss.item()
        pasted = mixed(images, method.settings.mixture(images, 0, step))
        own = (pasted == images).all(dim=1)  # (N, 4, 4)
        assert (pasted == torch.where(own[:, None], images, images[PARTNER])).all()
        assert (own == own[0]).all(), "the box of a batch"
        share = float(own[0].double().mean())
        shares.append(share)
        target = share * TARGET + (1 - share) * TARGET[PARTNER]
        assert found == pytest.approx(soft_cross_entropy(method, pasted, target))
    assert len(set(shares)) > 2 and all(0.5 <= share <= 1 for share in shares)


def test_boxes_of_cutmix_are_timms(monkeypatch: pytest.MonkeyPatch) -> None:
    height, width = 20, 30
    cut_off = 0
    for seed in range(60):
        rng = generator(seed)
        share = rng.beta(1, 1)
        centers = [int(rng.integers(height)), int(rng.integers(width))]
        monkeypatch.setattr(np.random, "randint", Mock(side_effect=centers))
        (top, bottom, left, right), kept = cutmix_bbox_and_lam((3, height, width), share)
        ours = cutmix_box(1.0, height, width, generator(seed))
        expected = torch.ones(height, width, dtype=torch.bool)
        expected[top:bottom, left:right] = False
        assert ours.kept is not None
        assert torch.equal(ours.kept, expected if kept >= 0.5 else ~expected)
        assert ours.share == pytest.approx(max(kept, 1 - kept))
        cut_off += 0 in (top, left) or bottom == height or right == width
    assert cut_off > 20, "boxes that the image cuts a part off"


def test_with_both_half_of_the_batches_are_cut() -> None:
    images = torch.zeros(2, 3, 8, 8)
    both = MixingSettings(mixup=0.8, cutmix=1.0)
    drawn = [both.mixture(images, 0, step) for step in range(400)]
    assert 160 < sum(one.kept is not None for one in drawn) < 240
    for step, one in enumerate(drawn):
        assert one.kept is not None or one.share == mixing_share(0.8, 0, step)
    again = both.mixture(images, 0, 5)
    assert again.share == drawn[5].share
    plain = MixingSettings().mixture(images, 0)
    assert mixed(images, plain) is images


def test_the_share_is_keyed_by_seed_and_batch_and_follows_beta() -> None:
    shares = [mixing_share(0.4, 0, batch) for batch in range(400)]
    assert shares == [mixing_share(0.4, 0, batch) for batch in range(400)]
    assert len(set(shares)) == 400
    # Of Beta(a, a) the variance is 1 / (4 (2 a + 1)), the same for the larger share around 1/2.
    variance = torch.tensor(shares, dtype=torch.float64).sub(0.5).square().mean()
    assert float(variance) == pytest.approx(1 / (4 * 1.8), rel=0.1)
    assert mixing_share(0.0, 0, 0) == 1


def test_pairs_are_needed_on_each_device_and_settings_have_bounds() -> None:
    SupervisedSettings(mixup=0.2).check(DeviceBatch(6, devices=2))
    SupervisedSettings().check(DeviceBatch(7))
    with pytest.raises(UsageError, match=r"method\.mixup mixes pairs of images, but 7 images"):
        SupervisedSettings(mixup=0.2).check(DeviceBatch(7))
    with pytest.raises(UsageError, match=r"task\.cutmix mixes pairs of images, but 7 images"):
        ClassifySettings(cutmix=0.2).check(DeviceBatch(7))
    with pytest.raises(UsageError, match="label_smoothing"):
        SupervisedSettings(label_smoothing=1)
    for key in ("mixup", "cutmix"):
        with pytest.raises(UsageError, match=f"'{key}' must be a number of at least 0"):
            SupervisedSettings(**{key: -1})
