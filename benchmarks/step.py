"""A training step of MoCo-v2 and SimCLR beside lightly's modules, and what other methods add.

A step is all from views to moved weights: both branches, momentum copy, loss, backward pass, queue,
SGD. Both sides have timm's ResNet-18, the same widths, temperature, queue and optimizer, and no
Trainer; both get the same 64 float views of 64 px, normalized, in torch's default layout. The
layout of the weights is each library's own: our encoders are channels-last, and turn the views,
which is timed; lightly's examples leave torch's default. One thread for both.

`step_vs_lightly_moco` is equal work: batch norm over the whole batch, keys shuffled. By default we
split batch norm into groups, without which a shuffle on one device hides nothing; that default,
beside the same step of lightly's, is `step_vs_lightly_moco_split`. In SimCLR our statistics are
over both views at once, as in the official code, and lightly's over each.

`patch_negative_overhead` is a step with patch negatives over a step without and one more forward
pass of the key encoder: 1.0 is free. ViewContext them is the loader's work, on other cores:
`patch_view_overhead` is the time to make the views of a photograph, 224 px, with them over without.

`looc_overhead` is a step of LooC with spaces for color and rotation over a step of MoCo and two
more forward passes of the key encoder; `looc_view_overhead` the time to make its four views over
twice that to make the two of MoCo with the same augmentations: the image is decoded once.
"""

from collections.abc import Sequence
from statistics import median

import cv2
import timm
import torch

from benchmarks.common import Paired, alternate, json_target, read_photos, report
from benchmarks.step_lightly import Step, Views, lightly_moco, lightly_simclr
from unshortcut.data.decode import EncodedImage
from unshortcut.memory import keep_freed_memory
from unshortcut.methods.looc import LooCSettings
from unshortcut.methods.method import Method
from unshortcut.methods.moco import MoCoSettings
from unshortcut.methods.simclr import SimCLRSettings
from unshortcut.models.encoder import Encoder, EncoderSettings
from unshortcut.negatives.other_keys import OtherKeysSettings
from unshortcut.negatives.patch import PatchSettings
from unshortcut.negatives.queue import QueueSettings
from unshortcut.recipes.load import load_recipe
from unshortcut.views.plan import ViewPlan

ROUNDS = 7
BATCH = 64
PIXELS = 64
ENCODER = "resnet18"
QUEUE = QueueSettings(4096)
WHOLE = MoCoSettings(negatives=(QUEUE,), batch_norm_groups=1)
SPLIT = MoCoSettings(negatives=(QUEUE,))
WITH_PATCHES = MoCoSettings(negatives=(QUEUE, PatchSettings()))
LOOC = LooCSettings(
    spaces={"color": ("color_jitter", "grayscale"), "rotation": ("rotation",)},
    negatives=(QUEUE, OtherKeysSettings()),
)
SIMCLR = SimCLRSettings()


def main() -> None:
    target = json_target("step")
    keep_freed_memory()  # as our trainings do; here for both sides
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    torch.manual_seed(0)
    photos = read_photos()
    names = ("query", "key", "key_color", "key_rotation", "patch_negative")
    views = {name: torch.randn(BATCH, 3, PIXELS, PIXELS) for name in names}

    their_moco = lightly_moco(their_encoder(), WHOLE, QUEUE.size, views)
    moco = alternate(our_step(WHOLE.build(our_encoder()), views), their_moco, 1, ROUNDS)
    split = alternate(our_step(SPLIT.build(our_encoder()), views), their_moco, 1, ROUNDS)
    their_simclr = lightly_simclr(their_encoder(), SIMCLR, views)
    simclr = alternate(our_step(SIMCLR.build(our_encoder()), views), their_simclr, 1, ROUNDS)
    report(
        "step",
        {
            "step_seconds_moco": median(moco.ours),
            "step_seconds_simclr": median(simclr.ours),
            "step_vs_lightly_moco": moco.ratio,
            "step_vs_lightly_moco_split": split.ratio,
            "step_vs_lightly_simclr": simclr.ratio,
            "patch_negative_overhead": patch_negatives(views).ratio,
            "patch_view_overhead": patch_views(photos).ratio,
            "looc_overhead": leave_one_out(views).ratio,
            "looc_view_overhead": leave_one_out_views(photos).ratio,
        },
        ["lightly", "torch", "timm"],
        target,
    )


def our_encoder() -> Encoder:
    return Encoder(EncoderSettings(name=ENCODER))


def their_encoder() -> torch.nn.Module:
    encoder: torch.nn.Module = timm.create_model(ENCODER, num_classes=0)
    return encoder


def our_step(method: Method, views: Views) -> Step:
    """What Lightning calls in a step, in its order."""
    optimizer = method.configure_optimizers()

    def step(_: int) -> None:
        loss = method.training_step({"views": views}, 0)
        optimizer.zero_grad()
        loss.backward()
        method.on_after_backward()
        optimizer.step()

    return step


def patch_negatives(views: Views) -> Paired:
    """A step with patch negatives as the peer of a step without and one more forward pass."""
    with_patches = our_step(WITH_PATCHES.build(our_encoder()), views)
    return alternate(step_and_forwards(views, ["patch_negative"]), with_patches, 1, ROUNDS)


def leave_one_out(views: Views) -> Paired:
    """A step of LooC as the peer of a step of MoCo and a forward pass for each further key."""
    further = [f"key_{space}" for space in LOOC.spaces]
    looc = our_step(LOOC.build(our_encoder()), views)
    return alternate(step_and_forwards(views, further), looc, 1, ROUNDS)


def step_and_forwards(views: Views, further: Sequence[str]) -> Step:
    """A step of MoCo, and further views through its key encoder."""
    plain = SPLIT.build(our_encoder())
    plain_step = our_step(plain, views)

    def step(number: int) -> None:
        plain_step(number)
        for name in further:
            plain.key_network(views[name])

    return step


def patch_views(photos: list[bytes]) -> Paired:
    """The views of MoCo-v2 with patch negatives as the peer of those without."""
    negatives = "method.negatives=[{name: queue}, {name: patch}]"
    without, with_patches = (
        load_recipe("moco-v2-imagenet", sets).view_plan() for sets in ([], [negatives])
    )
    return alternate(make(without, photos), make(with_patches, photos), len(photos), ROUNDS)


def leave_one_out_views(photos: list[bytes]) -> Paired:
    """The four views of LooC as the peer of twice the two of MoCo."""
    moco = make(load_recipe("moco-v2-rotation-500ep-imagenet100").view_plan(), photos)
    looc = make(load_recipe("looc-color-rotation-imagenet100").view_plan(), photos)

    def twice(item: int) -> None:
        moco(item)
        moco(item)

    return alternate(twice, looc, len(photos), ROUNDS)


def make(plan: ViewPlan, photos: list[bytes]) -> Step:
    """All views of a photograph."""
    return lambda item: plan(EncodedImage(photos[item]), seed=0, epoch=0, index=item)


if __name__ == "__main__":
    main()
