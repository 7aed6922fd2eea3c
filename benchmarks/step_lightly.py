"""Training steps built from lightly's modules, following lightly's examples."""

from collections.abc import Callable, Mapping
from copy import deepcopy

import torch
from lightly.loss import NTXentLoss
from lightly.models.modules import (
    DenseCLProjectionHead,
    MAEDecoderTIMM,
    MaskedVisionTransformerTIMM,
    MoCoProjectionHead,
    SimCLRProjectionHead,
)
from lightly.models.utils import (
    batch_shuffle,
    batch_unshuffle,
    deactivate_requires_grad,
    get_at_index,
    patchify,
    random_token_mask,
    select_most_similar,
    set_at_index,
    update_momentum,
)
from torch import Tensor, nn
from torch.optim import SGD, Optimizer

from unshortcut.methods.densecl import DenseCLSettings
from unshortcut.methods.mae import MAESettings
from unshortcut.methods.moco import MoCoSettings
from unshortcut.methods.optimization import OptimizerSettings
from unshortcut.methods.simclr import SimCLRSettings

Views = Mapping[str, Tensor]
Step = Callable[[int], object]
"""A training step; its argument is ignored."""


def lightly_moco(encoder: nn.Module, settings: MoCoSettings, queue: int, views: Views) -> Step:
    """MoCo with an encoder from images to features (N, 512); widths and queue size are ours."""
    head = MoCoProjectionHead(512, settings.hidden, settings.dim)
    key_encoder, key_head = deepcopy(encoder), deepcopy(head)
    deactivate_requires_grad(key_encoder)
    deactivate_requires_grad(key_head)
    criterion = NTXentLoss(settings.loss.temperature, memory_bank_size=(queue, settings.dim))
    optimizer = _sgd(encoder, head)

    def step(_: int) -> None:
        update_momentum(encoder, key_encoder, m=settings.momentum)
        update_momentum(head, key_head, m=settings.momentum)
        query = head(encoder(views["query"]))
        shuffled, shuffle = batch_shuffle(views["key"])
        key = batch_unshuffle(key_head(key_encoder(shuffled)).detach(), shuffle)
        criterion(query, key).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def lightly_densecl(
    encoder: nn.Module, settings: DenseCLSettings, queue: int, views: Views
) -> Step:
    """DenseCL with an encoder from images to maps (N, 512, h, w); widths and queue sizes are ours.

    Unlike lightly's example, it encodes keys with the momentum networks, and shuffles them.
    """
    pool = nn.AdaptiveAvgPool2d((1, 1))
    heads = [DenseCLProjectionHead(512, settings.hidden, settings.dim) for _ in range(2)]
    networks = nn.ModuleList([encoder, *heads])
    key_networks = deepcopy(networks)
    deactivate_requires_grad(key_networks)
    bank, temperature = (queue, settings.dim), settings.loss.temperature
    of_images, of_cells = (NTXentLoss(temperature, memory_bank_size=bank) for _ in range(2))
    weight = settings.dense_weight
    optimizer = _sgd(networks)

    def embed(parts: nn.ModuleList, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Features of cells (N, S, 512), embeddings of images (N, D) and of cells (N, S, D)."""
        backbone, image_head, cell_head = parts
        maps = backbone(images)
        image = image_head(pool(maps).flatten(start_dim=1))
        features = maps.flatten(start_dim=2).permute(0, 2, 1)
        return features, image, cell_head(features)

    def step(_: int) -> None:
        update_momentum(networks, key_networks, m=settings.momentum)
        features, image, cells = embed(networks, views["query"])
        with torch.no_grad():
            shuffled, shuffle = batch_shuffle(views["key"])
            keys = [batch_unshuffle(part, shuffle) for part in embed(key_networks, shuffled)]
        key_features, key_image, key_cells = keys
        matched = select_most_similar(features, key_features, key_cells)
        dense = of_cells(cells.flatten(end_dim=1), matched.flatten(end_dim=1))
        ((1 - weight) * of_images(image, key_image) + weight * dense).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def lightly_simclr(encoder: nn.Module, settings: SimCLRSettings, views: Views) -> Step:
    """SimCLR with an encoder from images to features (N, 512); widths are ours."""
    head = SimCLRProjectionHead(512, settings.hidden, settings.dim)
    criterion = NTXentLoss(settings.loss.temperature)
    optimizer = _sgd(encoder, head)

    def step(_: int) -> None:
        query, key = (head(encoder(views[name])) for name in ("query", "key"))
        criterion(query, key).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def lightly_mae(vit: nn.Module, settings: MAESettings, images: Tensor) -> Step:
    """MAE with a ViT of timm; decoder, mask ratio and optimizer are ours."""
    backbone, decoder = MaskedVisionTransformerTIMM(vit=vit), settings.decoder
    side = vit.patch_embed.patch_size[0]
    head = MAEDecoderTIMM(
        num_patches=vit.patch_embed.num_patches,
        patch_size=side,
        embed_dim=vit.embed_dim,
        decoder_embed_dim=decoder.width,
        decoder_depth=decoder.depth,
        decoder_num_heads=decoder.heads,
    )
    criterion = nn.MSELoss()
    optimizer = _sgd(backbone, head)
    count, length = len(images), backbone.sequence_length

    def step(_: int) -> None:
        keep, mask = random_token_mask(size=(count, length), mask_ratio=settings.mask_ratio)
        encoded = head.embed(backbone.encode(images=images, idx_keep=keep))
        tokens = head.mask_token.repeat(count, length, 1)
        tokens = set_at_index(tokens, keep, encoded.type_as(tokens))
        predicted = head.predict(get_at_index(head.decode(tokens), mask))
        # The class token is no patch.
        target = get_at_index(patchify(images, side), mask - 1)
        criterion(predicted, target).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def _sgd(*modules: nn.Module) -> Optimizer:
    settings = OptimizerSettings()
    return SGD(
        nn.ModuleList(modules).parameters(),
        lr=settings.lr,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )
