"""What makes a training faster on some hardware, and a refusal where it would fail or crash."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import nn

from unshortcut.errors import UsageError
from unshortcut.methods.method import Method
from unshortcut.models.color_split import ColorSplit
from unshortcut.models.encoder import Encoder
from unshortcut.recipes.schema import TrainingSettings
from unshortcut.training.machine import Machine

_BFLOAT16 = ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16")
"""Names of the bfloat16 instructions of x86 and ARM, for torch and for Linux."""
_TRIAL = """
import torch
convolution = torch.nn.Conv2d(3, 8, 3)
with torch.autocast("cpu", torch.bfloat16):
    pooled = convolution(torch.ones(4, 3, 16, 16)).mean((2, 3))
    output = torch.nn.functional.linear(pooled, torch.ones(8, 8))
output.float().sum().backward()
"""


def check_hardware(settings: TrainingSettings, machine: Machine) -> None:
    """Raise `UsageError` if the run needs something that this machine does not have."""
    device = device_type()
    if settings.sync_batch_norm and machine.world_size > 1 and device != "cuda":
        raise UsageError(
            "synchronized batch norm needs GPUs; on a CPU set training.sync_batch_norm=false"
        )
    check_precision(settings.precision, device)
    if settings.compile:
        check_compiler(device)


def device_type() -> str:
    """The kind of device that Lightning trains on: cuda, mps or cpu."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def check_precision(precision: str, device: str) -> None:
    """Raise `UsageError` for a precision that a kind of device cannot compute in.

    Lightning computes in bfloat16 if it is told to use float16 on a CPU, and a CPU without
    bfloat16 instructions may end the process, so they are tried in a process of their own.
    """
    if precision == "16-mixed" and device == "cpu":
        raise UsageError(
            "training.precision 16-mixed needs a GPU; on a CPU set it to 32-true, or to bf16-mixed "
            "if the CPU has bfloat16 instructions"
        )
    if precision == "bf16-mixed" and device == "cpu" and not cpu_has_bfloat16():
        raise UsageError(
            "training.precision bf16-mixed: this CPU has no working bfloat16 instructions; set it "
            "to 32-true"
        )
    if precision == "bf16-mixed" and device == "cuda" and not torch.cuda.is_bf16_supported(False):
        raise UsageError(
            "training.precision bf16-mixed: this GPU has no bfloat16 (compute capability 8.0 or "
            "higher has it); set it to 16-mixed"
        )


def cpu_has_bfloat16() -> bool:
    """Whether the CPU reports bfloat16 instructions and survives them.

    A virtual machine may report instructions that it cannot execute.
    """
    query = getattr(torch.cpu, "get_capabilities", None)  # recent versions of torch
    known: Mapping[str, object] = dict.fromkeys(_linux_flags(), True) if query is None else query()
    return any(known.get(name, False) for name in _BFLOAT16) and _survives(_TRIAL)


def _survives(program: str) -> bool:
    """Whether a Python program ends without an error or a signal."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0


def _linux_flags() -> set[str]:
    """The features of the CPU that Linux lists; none on other systems."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    pairs = (line.partition(":") for line in lines)
    listed = (value for key, _, value in pairs if key.strip() in ("flags", "Features"))
    return {flag for value in listed for flag in value.split()}


def check_compiler(device: str) -> None:
    """Raise `UsageError` if `torch.compile` cannot compile a simple function on this machine."""
    try:
        torch.compile(torch.sin)(torch.zeros(2, device=device))
    except Exception as error:  # whatever it is: the same would end the first training step
        reason = next((line for line in str(error).splitlines() if line.strip()), "")
        raise UsageError(
            "training.compile: torch.compile does not work on this machine "
            f"({type(error).__name__}: {reason}); on a CPU it needs a C++ compiler such as g++"
        ) from None


def compile_encoders(method: Method) -> None:
    """Compile the networks of all encoders of a method, and those around them (`joint_networks`).

    They are compiled when they are first called.

    `nn.Module.compile` works in place: names in the state dict stay the same, and a copy of a
    compiled module is a plain one.
    """
    for network in (*encoder_networks(method), *method.joint_networks):
        network.compile()


def encoder_networks(method: Method) -> list[nn.Module]:
    """The networks that a method calls: of its encoder and of the encoder's momentum copies."""
    networks: list[nn.Module] = []
    for module in method.modules():
        model = module.model if isinstance(module, Encoder) else None
        if isinstance(model, ColorSplit):  # CMC calls the two networks one by one
            networks += [model.lightness, model.color]
        elif isinstance(model, nn.Module):
            networks.append(model)
    return networks
