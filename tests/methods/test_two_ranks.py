"""Distributed is right: two ranks give the loss and the gradient of one, for every method."""

import pytest

from tests.methods.plain_parts import (
    PlainCAN,
    PlainCMC,
    PlainDenseCL,
    PlainGoldCorrection,
    PlainHCLDenseCL,
    PlainInfoMin,
    PlainJigsaw,
    PlainMAE,
)
from tests.two_ranks import assert_two_ranks_equal_one
from unshortcut.losses.debiased import Debiased
from unshortcut.losses.hard import Hard
from unshortcut.losses.ifm import IFM
from unshortcut.methods.byol import BYOLSettings
from unshortcut.methods.hcl import HCLSettings
from unshortcut.methods.insdis import InsDisSettings
from unshortcut.methods.looc import LooCSettings
from unshortcut.methods.moco import MoCoSettings
from unshortcut.methods.simclr import SimCLRSettings
from unshortcut.methods.supervised import SupervisedSettings
from unshortcut.negatives.batch import BatchSettings
from unshortcut.negatives.mixed_queue import MixedQueueSettings
from unshortcut.negatives.other_keys import OtherKeysSettings
from unshortcut.negatives.patch import PatchSettings
from unshortcut.negatives.queue import QueueSettings
from unshortcut.negatives.regular import RegularSettings
from unshortcut.negatives.texture import TextureSettings

SPACES = {"color": ("color_jitter", "grayscale"), "rotation": ("rotation",)}
CASES = {
    # 8 keys per step into 13 rows: the queue wraps in the middle of a batch.
    "moco": MoCoSettings(hidden=8, dim=5, momentum=0.9, negatives=(QueueSettings(13),)),
    # More keys per step than rows.
    "moco, short queue": MoCoSettings(hidden=8, dim=5, momentum=0.9, negatives=(QueueSettings(3),)),
    "moco, batch negatives": MoCoSettings(hidden=8, dim=5, negatives=(BatchSettings(),)),
    "moco, patch and texture": MoCoSettings(
        hidden=8,
        dim=5,
        momentum=0.9,
        negatives=(
            QueueSettings(13),
            PatchSettings(count=2),
            TextureSettings(alpha=0.5, placement="outside"),
            RegularSettings(alpha=3.0, count=2),
        ),
    ),
    "simclr": SimCLRSettings(hidden=8, dim=5, head_batch_norm=False),
    "simclr, queue": SimCLRSettings(
        hidden=8, dim=5, head_batch_norm=False, negatives=(QueueSettings(19),)
    ),
    "simclr, patch": SimCLRSettings(
        hidden=8,
        dim=5,
        head_batch_norm=False,
        negatives=(BatchSettings(), PatchSettings(), TextureSettings(placement="outside")),
    ),
    "simclr, patch with gradient": SimCLRSettings(
        hidden=8,
        dim=5,
        head_batch_norm=False,
        negatives=(BatchSettings(), PatchSettings(alpha=1.5, count=2), RegularSettings()),
        negative_gradient=True,
    ),
    "simclr, mixed queue": SimCLRSettings(
        hidden=8,
        dim=5,
        head_batch_norm=False,
        negatives=(MixedQueueSettings(19, hardest=6, mixes=4, query_mixes=3, start=0.0),),
    ),
    "simclr, hard, patch outside": SimCLRSettings(
        hidden=8,
        dim=5,
        head_batch_norm=False,
        loss=Hard(),
        negatives=(BatchSettings(), PatchSettings(placement="outside")),
    ),
    "byol": BYOLSettings(hidden=8, dim=5, momentum=0.9, head_batch_norm=False),
    "byol, patch and regular": BYOLSettings(
        hidden=8,
        dim=5,
        momentum=0.9,
        head_batch_norm=False,
        negatives=(PatchSettings(alpha=0.05), RegularSettings(alpha=0.1, count=2)),
    ),
    "moco, mixed queue": MoCoSettings(
        hidden=8,
        dim=5,
        momentum=0.9,
        negatives=(MixedQueueSettings(13, hardest=4, mixes=6, query_mixes=5, start=0.0),),
    ),
    "moco, ifm": MoCoSettings(
        hidden=8, dim=5, momentum=0.9, loss=IFM(), negatives=(QueueSettings(13),)
    ),
    "simclr, debiased": SimCLRSettings(
        hidden=8, dim=5, head_batch_norm=False, loss=Debiased(positive_share=0.05)
    ),
    "simclr, hard": SimCLRSettings(
        hidden=8, dim=5, head_batch_norm=False, loss=Hard(positive_share=0.05)
    ),
    "insdis": InsDisSettings(dim=5, bank_negatives=7),
    "insdis, patch and regular": InsDisSettings(
        dim=5,
        bank_negatives=7,
        negatives=(PatchSettings(), RegularSettings(alpha=0.5)),
    ),
    "cmc": PlainCMC(dim=5, bank_negatives=7),
    "densecl": PlainDenseCL(
        hidden=8,
        dim=5,
        momentum=0.9,
        negatives=(QueueSettings(13),),
        dense_negatives=(QueueSettings(11),),
    ),
    "densecl, patch and texture": PlainDenseCL(
        hidden=8,
        dim=5,
        momentum=0.9,
        negatives=(BatchSettings(), RegularSettings(), PatchSettings(count=2)),
        dense_negatives=(
            QueueSettings(11),
            PatchSettings(alpha=1.5, count=2),
            TextureSettings(placement="outside"),
        ),
    ),
    "hcl": HCLSettings(
        hidden=8, dim=5, momentum=0.9, negatives=(QueueSettings(13),), hyperbolic_queue=11
    ),
    "hcl on densecl": PlainHCLDenseCL(
        hidden=8,
        dim=5,
        momentum=0.9,
        negatives=(QueueSettings(13), PatchSettings()),
        dense_negatives=(QueueSettings(11), PatchSettings(alpha=1.5)),
        hyperbolic_queue=11,
    ),
    "hcl on densecl, scenes alone": PlainHCLDenseCL(
        hidden=8, dim=5, momentum=0.9, euclidean_weight=0.0, hyperbolic_queue=11
    ),
    "infomin": PlainInfoMin(hidden=8, dim=5, momentum=0.9, negatives=(QueueSettings(13),)),
    "looc": LooCSettings(
        hidden=8,
        dim=5,
        momentum=0.9,
        spaces=SPACES,
        negatives=(QueueSettings(13), OtherKeysSettings()),
    ),
    "looc, batch and patch": LooCSettings(
        hidden=8,
        dim=5,
        momentum=0.9,
        spaces=SPACES,
        negatives=(BatchSettings(), OtherKeysSettings(alpha=0.5), PatchSettings()),
    ),
    "moco++": LooCSettings(
        hidden=8, dim=5, momentum=0.9, spaces={"second": ()}, negatives=(QueueSettings(13),)
    ),
    "supervised": SupervisedSettings(),
    "gold correction": PlainGoldCorrection(),
    # Ranks would drop different units.
    "jigsaw": PlainJigsaw(grid=2, permutations=12, tile_dim=5, hidden=8, dropout=0.0),
    "mae": PlainMAE(),
    "can": PlainCAN(),
    "can, contrast alone": PlainCAN(reconstruct=0, denoise=0),
    "can, pixels alone": PlainCAN(contrast=0, denoise=0),
    "can, noise alone": PlainCAN(contrast=0, reconstruct=0),
    "can, patch, queue and regular": PlainCAN(
        contrast=1.0,
        negatives=(BatchSettings(), QueueSettings(19), PatchSettings(count=2), RegularSettings()),
        negative_gradient=True,
    ),
    "supervised with mixup": SupervisedSettings(label_smoothing=0.1, mixup=0.4),
    "supervised with cutmix": SupervisedSettings(label_smoothing=0.1, cutmix=1.0),
}


@pytest.mark.parametrize("case", CASES)
def test_two_ranks_equal_one(case: str) -> None:
    assert_two_ranks_equal_one(CASES[case])
