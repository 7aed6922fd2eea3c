"""Linear layers on tokens that use all of the vector units of an AMD CPU with AVX-512.

PyTorch multiplies float32 matrices with MKL, which keeps to the narrower AVX2 instructions on CPUs
of AMD; its convolutions use oneDNN, which asks the CPU itself. A linear layer is a convolution of
one pixel over rows of tokens, without copying anything, and on an AMD EPYC that is twice as fast,
forward and backward (`python -m benchmarks.step`, `token_linear_vs_linear`). The rows are as long
as they can be, whatever image their tokens belong to. Results differ in rounding. On other
hardware, for small batches and in compiled or exported programs it is `F.linear`.
"""

import platform
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.grad import conv2d_weight

_CPU_INFO = Path("/proc/cpuinfo")
_FEWEST_IMAGES = 16
"""Torch convolves fewer images without oneDNN, unless there are several threads."""


class TokenLinear(nn.Linear):
    """An `nn.Linear` that is up to twice as fast for tokens (N, …, C) on AMD CPUs with AVX-512.

    Programs that trace or transform modules (`torch.fx`, `torch.jit.script`, forward-mode
    differentiation) need plain layers.
    """

    def forward(self, tokens: Tensor) -> Tensor:
        return token_linear(tokens, self.weight, self.bias)

    def _get_name(self) -> str:
        return "Linear"  # the same model, so that it has the same fingerprint


def use_token_linear(module: nn.Module) -> None:
    """Turn every `nn.Linear` in a module, but not its subclasses, into a `TokenLinear` in place."""
    for layer in module.modules():
        if type(layer) is nn.Linear:
            layer.__class__ = TokenLinear


def token_linear(tokens: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`F.linear` of tokens (N, …, C), weight (D, C) and bias (D,), by the faster library."""
    if not _applies(tokens, weight):
        return F.linear(tokens, weight, bias)
    images = _as_images(tokens)
    if torch.is_grad_enabled():
        outputs: Tensor = _Convolved.apply(images, weight, bias)
    else:
        outputs = _convolved(images, weight, bias)
    # Images (I, D, 1, R) in the layout channels-last, so that this is no copy.
    return outputs.permute(0, 2, 3, 1).reshape(*tokens.shape[:-1], len(weight))


def _applies(tokens: Tensor, weight: Tensor) -> bool:
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return False  # compilers and exporters should see a linear layer
    return (
        tokens.device.type == "cpu"
        and tokens.dtype == weight.dtype == torch.float32
        and tokens.dim() > 2
        and len(tokens) >= _FEWEST_IMAGES
        and tokens.numel() > 0
        and tokens.shape[-1] == weight.shape[1]  # otherwise torch says what is wrong
        and prefers_onednn()
        and bool(torch.backends.mkldnn.enabled)
        and not torch.is_autocast_enabled("cpu")
    )


@cache
def prefers_onednn() -> bool:
    """Whether MKL would multiply matrices with half of the width of this CPU's vectors."""
    return (
        torch.backends.mkl.is_available()
        and torch.backends.mkldnn.is_available()
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and "AuthenticAMD" in _cpu_vendor()
    )


def _cpu_vendor() -> str:
    """The line that names the vendor of the CPU on Linux, or what Python knows of it elsewhere."""
    if not _CPU_INFO.is_file():
        return platform.processor()
    lines = _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line for line in lines if line.startswith("vendor_id")), "")


class _Convolved(torch.autograd.Function):
    """A convolution of one pixel whose gradients are faster than those that torch computes.

    The gradient of the input is a convolution again, with the transposed weight.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(images: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return _convolved(images, weight, bias)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        images, weight, _ = inputs
        ctx.save_for_backward(images, weight)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        images, weight = ctx.saved_tensors
        needed = ctx.needs_input_grad
        # (I, D, 1, R) in the layout channels-last, in words that `torch.func.vmap` knows.
        gradient = gradient.movedim(1, -1).contiguous().movedim(-1, 1)
        shape = (*weight.shape, 1, 1)
        return (
            _convolved(gradient, weight.t(), None) if needed[0] else None,
            conv2d_weight(images, shape, gradient)[:, :, 0, 0] if needed[1] else None,
            gradient.sum((0, 2, 3)) if needed[2] else None,
        )


def _convolved(images: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Images (I, C, 1, R) to (I, D, 1, R)."""
    return F.conv2d(images, weight[:, :, None, None], bias)


def _as_images(tokens: Tensor) -> Tensor:
    """Tokens (N, …, C) as few images (I, C, 1, R) in the layout channels-last.

    Contiguous tokens are not copied. Long rows are faster than one row for every image of the
    batch, above all where few patches are visible (`can_time_over_flops`).
    """
    images = _count_images(tokens.shape[:-1].numel())
    return tokens.reshape(images, 1, -1, tokens.shape[-1]).permute(0, 3, 1, 2)


def _count_images(tokens: int) -> int:
    """The fewest images of one size that tokens of at least 16 images can be divided into."""
    return next(count for count in range(_FEWEST_IMAGES, tokens + 1) if tokens % count == 0)
