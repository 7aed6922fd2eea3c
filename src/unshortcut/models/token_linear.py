"""Linear layers on tokens that use all of the vector units of an x86 CPU that is not Intel's.

PyTorch multiplies float32 matrices with MKL, which keeps to the narrower AVX2 instructions on CPUs
of other makers; its convolutions use oneDNN, which asks the CPU itself. A linear layer is a
convolution of one pixel over a row of tokens, without copying anything, and on an AMD EPYC with
AVX-512 that is twice as fast, forward and backward (`python -m benchmarks.step`,
`token_linear_vs_linear`). Results differ in rounding. On other hardware nothing changes.
"""

import platform
from functools import cache
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.grad import conv2d_weight

_CPU_INFO = Path("/proc/cpuinfo")
_FEWEST_IMAGES = 16


class TokenLinear(nn.Linear):
    """An `nn.Linear` that is up to twice as fast for tokens (N, …, C) on CPUs of AMD."""

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
    rows = tokens.flatten(1, -2)  # (N, T, C)
    if torch.is_grad_enabled():
        outputs: Tensor = _Convolved.apply(rows, weight, bias)
    else:
        outputs = _convolved(rows, weight, bias)
    return outputs.view(*tokens.shape[:-1], len(weight))


def _applies(tokens: Tensor, weight: Tensor) -> bool:
    return (
        tokens.device.type == "cpu"
        and tokens.dtype == weight.dtype == torch.float32
        and tokens.dim() > 2
        and tokens.numel() > 0
        # With one thread, torch convolves fewer images without oneDNN.
        and (len(tokens) >= _FEWEST_IMAGES or torch.get_num_threads() > 1)
        and prefers_onednn()
        and bool(torch.backends.mkldnn.enabled)
        and not torch.is_autocast_enabled("cpu")
        # Compilers and exporters should see a linear layer.
        and not torch.compiler.is_compiling()
        and not torch.jit.is_tracing()
    )


@cache
def prefers_onednn() -> bool:
    """Whether MKL is what multiplies matrices here, on an x86 CPU that is not Intel's."""
    if not torch.backends.mkl.is_available() or not torch.backends.mkldnn.is_available():
        return False
    return platform.machine().lower() in ("x86_64", "amd64") and "GenuineIntel" not in _maker()


def _maker() -> str:
    """Text that names the maker of the CPU; that of Intel if it is not known."""
    if _CPU_INFO.is_file():
        return _CPU_INFO.read_text(encoding="utf-8", errors="replace")
    return platform.processor() or "GenuineIntel"


class _Convolved(torch.autograd.Function):
    """The gradient of the input is a linear layer again, which is faster than a transposed one."""

    @staticmethod
    def forward(ctx, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.save_for_backward(rows, weight)
        return _convolved(rows, weight, bias)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[no-untyped-def]
        rows, weight = ctx.saved_tensors
        needed = ctx.needs_input_grad
        gradient = gradient.contiguous()  # (N, T, D)
        return (
            _convolved(gradient, weight.t(), None) if needed[0] else None,
            _weight_gradient(rows, gradient) if needed[1] else None,
            gradient.sum((0, 1)) if needed[2] else None,
        )


def _convolved(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Rows (N, T, C) to (N, T, D), contiguous."""
    outputs = F.conv2d(_as_images(rows), weight[:, :, None, None], bias)
    return outputs.squeeze(2).transpose(1, 2).contiguous()


def _weight_gradient(rows: Tensor, gradient: Tensor) -> Tensor:
    """Gradient (D, C) of the weight, from rows (N, T, C) and gradients (N, T, D)."""
    shape = (gradient.shape[2], rows.shape[2], 1, 1)
    return conv2d_weight(_as_images(rows), shape, _as_images(gradient))[:, :, 0, 0]


def _as_images(rows: Tensor) -> Tensor:
    """Rows (N, T, C) as images (N, C, 1, T) in the layout channels-last; no copy."""
    return rows.transpose(1, 2).unsqueeze(2)
