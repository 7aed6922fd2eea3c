"""Steps of MoCo-v2, SimCLR and DenseCL compared with lightly, and the overhead of other methods.

A step includes everything from views to updated weights: both branches, momentum encoder, loss,
backward pass, queue and SGD. Both sides use timm's ResNet-18, the same widths, temperature, queue
and optimizer, one thread and no Trainer; both get the same 64 normalized float views of 64 px, in
torch's default memory format. The format of the weights is each library's own: our encoders are
channels-last, and converting the views is timed; lightly's examples keep torch's default.

`step_vs_lightly_moco` compares equal work: batch norm over the whole batch, shuffled keys. By
default we split batch norm into groups, because shuffling alone has no effect on one device;
`step_vs_lightly_moco_split` compares this default with the same step of lightly. In SimCLR, our
batch statistics are over both views, as in the official code, and lightly's over each view.

`step_densecl_vs_lightly` compares DenseCL on maps of 4 × 4 cells, from 32 views of 128 px, with
batch norm over the whole batch. The dense queue of lightly receives the key of every cell, ours the
mean of an image's cells, as in the official code; the size of both queues is the same.

`step_mae_vs_lightly`, `can_time_over_flops` and `token_linear_vs_linear` are those of
`benchmarks/step_masked.py`.

`patch_negative_overhead` is the time of a step with patch negatives divided by that of a step
without them plus one forward pass of the key encoder; 1.0 means no overhead. The loader creates the
patches on other cores: `patch_view_overhead` is the time to create the views of a photograph, 224
px, with patches divided by the time without.

`looc_overhead` is the time of a step of LooC with spaces for color and rotation divided by that of
a step of MoCo plus two forward passes of the key encoder. `looc_view_overhead` is the time to
create its four views divided by twice the time for the two views of MoCo with the same
augmentations; LooC decodes the image once.
"""

from collections.abc import Sequence
from statistics import median

import cv2
import timm
import torch

from benchmarks.common import Paired, alternate, json_target, read_photos, report
from benchmarks.step_lightly import Step, Views, lightly_densecl, lightly_moco, lightly_simclr
from benchmarks.step_masked import can_time_over_flops, mae_vs_lightly, token_linear_vs_linear
from unshortcut.data.decode import EncodedImage
from unshortcut.memory import keep_freed_memory
from unshortcut.methods.densecl import DenseCLSettings
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
DENSE_BATCH = 32
DENSE_PIXELS = 128
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
DENSECL = DenseCLSettings(negatives=(QUEUE,), dense_negatives=(QUEUE,), batch_norm_groups=1)


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
            "step_densecl_vs_lightly": dense().ratio,
            "step_mae_vs_lightly": mae_vs_lightly(our_step, ROUNDS).ratio,
            **can_time_over_flops(our_step, ROUNDS),
            "token_linear_vs_linear": token_linear_vs_linear(ROUNDS).ratio,
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


def their_encoder(**options: object) -> torch.nn.Module:
    encoder: torch.nn.Module = timm.create_model(ENCODER, num_classes=0, **options)
    return encoder


def our_step(method: Method, views: Views) -> Step:
    """The calls that Lightning makes in a step, in the same order."""
    (optimizer,) = method.configure_optimizers()

    def step(_: int) -> None:
        loss = method.training_step({"views": views}, 0)
        optimizer.zero_grad()
        loss.backward()
        method.on_after_backward()
        optimizer.step()

    return step


def dense() -> Paired:
    """Compare a step of DenseCL with the same step built from lightly's modules."""
    shape = (DENSE_BATCH, 3, DENSE_PIXELS, DENSE_PIXELS)
    views = {name: torch.randn(shape) for name in ("query", "key")}
    theirs = lightly_densecl(their_encoder(global_pool=""), DENSECL, QUEUE.size, views)
    return alternate(our_step(DENSECL.build(our_encoder()), views), theirs, 1, ROUNDS)


def patch_negatives(views: Views) -> Paired:
    """Compare a step with patch negatives with a step without them plus one forward pass."""
    with_patches = our_step(WITH_PATCHES.build(our_encoder()), views)
    return alternate(step_and_forwards(views, ["patch_negative"]), with_patches, 1, ROUNDS)


def leave_one_out(views: Views) -> Paired:
    """Compare a step of LooC with a step of MoCo plus a forward pass for each additional key."""
    further = [f"key_{space}" for space in LOOC.spaces]
    looc = our_step(LOOC.build(our_encoder()), views)
    return alternate(step_and_forwards(views, further), looc, 1, ROUNDS)


def step_and_forwards(views: Views, further: Sequence[str]) -> Step:
    """A step of MoCo, plus forward passes of additional views through its key encoder."""
    plain = SPLIT.build(our_encoder())
    plain_step = our_step(plain, views)

    def step(number: int) -> None:
        plain_step(number)
        for name in further:
            plain.key_network(views[name])

    return step


def patch_views(photos: list[bytes]) -> Paired:
    """Compare creating the views of MoCo-v2 with and without patch negatives."""
    negatives = "method.negatives=[{name: queue}, {name: patch}]"
    without, with_patches = (
        load_recipe("moco-v2-imagenet", sets).view_plan() for sets in ([], [negatives])
    )
    return alternate(make(without, photos), make(with_patches, photos), len(photos), ROUNDS)


def leave_one_out_views(photos: list[bytes]) -> Paired:
    """Compare creating the four views of LooC with creating the two views of MoCo twice."""
    moco = make(load_recipe("moco-v2-rotation-500ep-imagenet100").view_plan(), photos)
    looc = make(load_recipe("looc-color-rotation-imagenet100").view_plan(), photos)

    def twice(item: int) -> None:
        moco(item)
        moco(item)

    return alternate(twice, looc, len(photos), ROUNDS)


def make(plan: ViewPlan, photos: list[bytes]) -> Step:
    """A function that creates all views of a photograph."""
    return lambda item: plan(EncodedImage(photos[item]), seed=0, epoch=0, index=item)


if __name__ == "__main__":
    main()
