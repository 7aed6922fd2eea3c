"""Linear layers on tokens that use all of the vector units of an AMD CPU with AVX-512.

PyTorch multiplies float32 matrices with MKL, which keeps to the narrower AVX2 instructions on CPUs
of AMD; its convolutions use oneDNN, which asks the CPU itself. A linear layer is a convolution of
one pixel over a row of tokens, without copying anything, and on an AMD EPYC that is twice as fast,
forward and backward (`python -m benchmarks.step`, `token_linear_vs_linear`). Results differ in
rounding. On other hardware, for small batches and in compiled or exported programs it is
`F.linear`.
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
    rows = _as_images(tokens.flatten(1, -2))  # (N, C, 1, T)
    if torch.is_grad_enabled():
        outputs: Tensor = _Convolved.apply(rows, weight, bias)
    else:
        outputs = _convolved(rows, weight, bias)
    # Contiguous already; said for layouts that are ambiguous, such as those of one token.
    outputs = outputs.squeeze(2).transpose(1, 2).contiguous()
    return outputs.view(*tokens.shape[:-1], len(weight))


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
    def forward(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return _convolved(rows, weight, bias)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        rows, weight, _ = inputs
        ctx.save_for_backward(rows, weight)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rows, weight = ctx.saved_tensors
        needed = ctx.needs_input_grad
        gradient = gradient.contiguous(memory_format=torch.channels_last)  # (N, D, 1, T)
        shape = (*weight.shape, 1, 1)
        return (
            _convolved(gradient, weight.t(), None) if needed[0] else None,
            conv2d_weight(rows, shape, gradient)[:, :, 0, 0] if needed[1] else None,
            gradient.sum((0, 2, 3)) if needed[2] else None,
        )


def _convolved(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Rows (N, C, 1, T) to (N, D, 1, T)."""
    return F.conv2d(rows, weight[:, :, None, None], bias)


def _as_images(rows: Tensor) -> Tensor:
    """Rows (N, T, C) as images (N, C, 1, T) in the layout channels-last; no copy."""
    return rows.transpose(1, 2).unsqueeze(2)
