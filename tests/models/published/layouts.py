"""Files in the layouts of published checkpoints, made of small networks with random weights."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import timm
import torch
from torch import Tensor, nn
from torch.nn import functional as F

State = dict[str, Tensor]


@dataclass(frozen=True)
class Layout:
    """The content of a file, and the networks that it should be loaded as."""

    content: Any
    encoder: nn.Module
    head: nn.Module

    def features(self, images: Tensor) -> Tensor:
        with torch.no_grad():
            return self.encoder.eval()(images).flatten(1)

    def embeddings(self, images: Tensor) -> Tensor:
        with torch.no_grad():
            return F.normalize(self.head.eval()(self.features(images)), dim=1)


def trained(module: nn.Module, shape: tuple[int, ...]) -> nn.Module:
    """The module with running statistics of its own."""
    module.train()
    for _ in range(3):
        module(torch.randn(4, *shape) * 2 + 0.5)
    return module.eval()


def resnet() -> nn.Module:
    return trained(timm.create_model("test_resnet", num_classes=0), (3, 64, 64))


def vit() -> nn.Module:
    return timm.create_model("test_vit", num_classes=0).eval()


def with_batch_norm(width: int, *, last: bool, affine: bool = True) -> nn.Module:
    """Linear, batch norm, ReLU, linear, and batch norm again."""
    layers: list[nn.Module] = [nn.Linear(width, 24, bias=False), nn.BatchNorm1d(24), nn.ReLU()]
    layers += [nn.Linear(24, 12, bias=not last)]
    layers += [nn.BatchNorm1d(12, affine=affine)] if last else []
    return trained(nn.Sequential(*layers), (width,))


def named(prefix: str, module: nn.Module) -> State:
    return {f"{prefix}.{name}": tensor for name, tensor in module.state_dict().items()}


def moco(encoder: nn.Module, head: nn.Module, other: nn.Module) -> dict[str, Any]:
    """facebookresearch/moco: the head is the `fc` of the query encoder."""
    state = {
        **named("module.encoder_q", encoder), **named("module.encoder_q.fc", head),
        **named("module.encoder_k", other), **named("module.encoder_k.fc", head),
        "module.queue": torch.randn(12, 64), "module.queue_ptr": torch.zeros(1),
    }  # fmt: skip
    return {"epoch": 200, "arch": "resnet18", "state_dict": state, "optimizer": {"state": {}}}


def moco_v1() -> Layout:
    encoder, head = resnet(), nn.Linear(96, 12)
    return Layout(moco(encoder, head, resnet()), encoder, head)


def simsiam() -> Layout:
    encoder, head = resnet(), with_batch_norm(96, last=True, affine=False)
    state = {
        **named("module.encoder", encoder), **named("module.encoder.fc", head),
        **named("module.predictor", nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 12))),
    }  # fmt: skip
    return Layout({"arch": "test_resnet", "state_dict": state}, encoder, head)


def swav() -> Layout:
    """A flat file: encoder, head and prototypes beside each other."""
    encoder, head = resnet(), with_batch_norm(96, last=False)
    state = {
        **named("module", encoder), **named("module.projection_head", head),
        **named("module.prototypes", nn.Linear(12, 30, bias=False)),
    }  # fmt: skip
    return Layout(state, encoder, head)


def barlow_twins() -> Layout:
    encoder, head = resnet(), with_batch_norm(96, last=False)
    state = {
        **named("module.backbone", encoder), **named("module.projector", head),
        "module.bn.running_mean": torch.zeros(12),
    }  # fmt: skip
    return Layout({"epoch": 3, "model": state}, encoder, head)


def byol() -> Layout:
    """lucidrains/byol-pytorch: the network, with a classifier that is not used, occurs twice."""
    encoder, head = resnet(), with_batch_norm(96, last=False)
    unused = nn.Linear(96, 1000)
    state = {
        **named("net", encoder), **named("net.fc", unused),
        **named("online_encoder.net", encoder), **named("online_encoder.net.fc", unused),
        **named("online_encoder.projector", head),
        **named("target_encoder.net", resnet()), **named("target_encoder.net.fc", unused),
        **named("target_encoder.projector", with_batch_norm(96, last=False)),
        **named("online_predictor", with_batch_norm(12, last=False)),
    }  # fmt: skip
    return Layout(state, encoder, head)


def dino() -> Layout:
    """facebookresearch/dino: the teacher is evaluated; activations are GELU."""
    encoder = vit()
    head = nn.Sequential(nn.Linear(64, 24), nn.GELU(), nn.Linear(24, 12))
    last = {"weight_g": torch.ones(30, 1), "weight_v": torch.randn(30, 12)}

    def state(prefix: str, body: nn.Module, mlp: nn.Module) -> State:
        own = {f"{prefix}head.last_layer.{name}": tensor for name, tensor in last.items()}
        return {**named(f"{prefix}backbone", body), **named(f"{prefix}head.mlp", mlp), **own}

    content = {
        "student": state("module.", vit(), nn.Linear(64, 12)),
        "teacher": state("", encoder, head),
        "args": argparse.Namespace(arch="vit_small", lr=0.1),
        "epoch": 100,
    }
    return Layout(content, encoder, head)


def solo_learn() -> Layout:
    """vturrisi/solo-learn: a Lightning checkpoint with a momentum encoder and a classifier."""
    encoder, head = resnet(), with_batch_norm(96, last=True)
    state = {
        **named("backbone", encoder), **named("classifier", nn.Linear(96, 7)),
        **named("projector", head),
        **named("momentum_backbone", resnet()),
        **named("momentum_projector", with_batch_norm(96, last=True)),
        **named("predictor", with_batch_norm(12, last=False)),
    }  # fmt: skip
    content = {
        "state_dict": state,
        "pytorch-lightning_version": "1.8.0",
        "hyper_parameters": {"cfg": argparse.Namespace(method="byol")},
        "optimizer_states": [{"state": {0: {"momentum_buffer": torch.zeros(3)}}}],
    }
    return Layout(content, encoder, head)


def simclr() -> Layout:
    """Encoder and head under keys of their own."""
    encoder = resnet()
    head = nn.Sequential(nn.Linear(96, 24, bias=False), nn.ReLU(), nn.Linear(24, 12, bias=False))
    return Layout({"resnet": encoder.state_dict(), "head": head.state_dict()}, encoder, head)


def moco_v3() -> Layout:
    """A ViT whose `head` is the projection head, with batch norm that has no weights."""
    encoder, head = vit(), with_batch_norm(64, last=True, affine=False)
    state = {
        **named("module.base_encoder", encoder), **named("module.base_encoder.head", head),
        **named("module.momentum_encoder", vit()), **named("module.momentum_encoder.head", head),
        **named("module.predictor", with_batch_norm(12, last=False)),
    }  # fmt: skip
    return Layout({"arch": "vit_small", "state_dict": state}, encoder, head)


LAYOUTS = {
    "simclr": simclr, "moco_v3": moco_v3,
    "moco_v1": moco_v1, "simsiam": simsiam, "swav": swav, "barlow_twins": barlow_twins,
    "byol": byol, "dino": dino, "solo_learn": solo_learn,
}  # fmt: skip
PREFIXES: Mapping[str, str] = {
    "simclr": "resnet", "moco_v3": "state_dict.module.base_encoder",
    "moco_v1": "state_dict.module.encoder_q", "simsiam": "state_dict.module.encoder",
    "swav": "module", "barlow_twins": "model.module.backbone", "byol": "online_encoder.net",
    "dino": "teacher.backbone", "solo_learn": "state_dict.backbone",
}  # fmt: skip
"""Where the encoder should be found."""
