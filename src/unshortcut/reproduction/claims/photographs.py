"""Patch negatives and diffusion on photographs: values by seed, without a verdict.

On photographs a training takes an hour, so there are two seeds, which decide nothing.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from unshortcut.reproduction.claim import MeasureColumn, Scale, Variant
from unshortcut.reproduction.claims import _moco_arms as arms
from unshortcut.reproduction.claims import _negatives as nsn
from unshortcut.reproduction.effects import Effect
from unshortcut.reproduction.measure import Measure
from unshortcut.reproduction.measures.audited import AuditMeasure
from unshortcut.reproduction.measures.finetuned import FinetunedTransfersMeasure


class Photographs(arms.MocoArmsClaim):
    """MoCo-v2, with patch negatives and with diffusion."""

    name = "photographs"
    summary = "what patch negatives and diffusion change on photographs; values without a verdict"
    where = "non-semantic negatives, table 1; dissertation, tables 2.1 and 2.6"
    recipes: ClassVar[Mapping[Scale, str]] = {
        "small": "moco-v2-imagenette",
        "paper": "moco-v2-imagenet",
    }
    columns = (
        nsn.TEST,
        nsn.TEXTURE,
        MeasureColumn("sketch", "sketches, from photographs"),
        MeasureColumn("cartoon", "cartoons, from photographs"),
        MeasureColumn("finetuned_pets", "fine-tuned on pets"),
        MeasureColumn("corruption_accuracy", "corrupted"),
        MeasureColumn("low_pass_accuracy", "low-pass"),
    )
    measures: ClassVar[tuple[Measure, ...]] = (
        *nsn.ACCURACIES,
        FinetunedTransfersMeasure(transfers=("pets",)),
        AuditMeasure("corruptions", ("corruption_accuracy",)),
        AuditMeasure("frequency", ("low_pass_accuracy",)),
    )
    notes = (
        "Sketches and cartoons are those of PACS if --transfer names them, classified by a probe "
        "that is fitted on its photographs. Breeds of the Oxford-IIIT Pets are classified after "
        "fine-tuning, if --transfer names pets. Corrupted: mean over 15 corruptions and 5 "
        "severities. Low-pass: the lowest quarter of the frequencies in each direction.",
    )

    def effects(self, variants: Sequence[Variant]) -> list[Effect]:
        return []
