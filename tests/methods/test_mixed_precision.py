"""Every method in mixed precision: close to single precision, and on the right devices.

There is no GPU here. Autocast of the CPU computes in the same 16 bits, and PyTorch's fake tensors
follow the devices and dtypes of a step on a GPU without computing it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode

from tests.methods.test_two_ranks import CASES
from tests.small import PlainEncoder, random_views
from unshortcut.methods.method import Method, MethodSettings, TrainingContext
from unshortcut.methods.step import Batch

IMAGES = 8


def build(settings: MethodSettings) -> tuple[Method, Batch]:
    torch.manual_seed(0)
    method = settings.build(PlainEncoder(), TrainingContext(num_images=20, num_classes=3))
    views = random_views(tuple(settings.view_transforms()), IMAGES, seed=0)
    index = torch.arange(IMAGES)
    views = {name: view.float() for name, view in views.items()}
    return method, Batch(views, index, index % 3, trusted=index % 2 == 0)


@pytest.mark.parametrize("case", CASES)
def test_a_step_in_half_precision_is_close_to_one_in_single_precision(case: str) -> None:
    exact, batch = build(CASES[case])
    half, _ = build(CASES[case])
    dtypes = []
    # Of layers, since some methods call parts of their encoders.
    for layer in half.encoder.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            layer.register_forward_hook(lambda *call: dtypes.append(call[2].dtype))

    expected = exact.loss(batch).loss
    expected.backward()
    exact.on_after_backward()
    with torch.autocast("cpu", dtype=torch.float16):
        found = half.loss(batch).loss
    found.backward()
    half.on_after_backward()

    assert dtypes and set(dtypes) == {torch.float16}
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=0, atol=0.02)
    for (name, ours), theirs in zip(half.named_parameters(), exact.parameters(), strict=True):
        if theirs.grad is not None:
            assert ours.grad is not None, f"no gradient reaches {name}"
            similarity = torch.cosine_similarity(ours.grad.flatten(), theirs.grad.flatten(), dim=0)
            assert similarity > 0.99 or theirs.grad.norm() < 1e-3, name
    for (name, ours), theirs in zip(half.named_buffers(), exact.buffers(), strict=True):
        assert ours.dtype == theirs.dtype, name  # queues and banks stay in single precision
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0.01, msg=name)


class Gpu(TorchFunctionMode):
    """What fake tensors do not know: devices of generators, and how many values a mask selects."""

    def __init__(self, copies: int) -> None:
        super().__init__()
        self.copies = copies

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func is Tensor.masked_select:  # the batch without the query's own image
            rows, columns = args[0].shape
            return args[0].new_empty(rows * (columns - self.copies))
        result = func(*args, **(kwargs or {}))
        generator = (kwargs or {}).get("generator")
        if generator is not None and result.device != generator.device:
            raise RuntimeError(f"a generator of {generator.device} for {result.device}")
        return result


@contextmanager
def fake_gpu(copies: int) -> Iterator[None]:
    """Tensors on "cuda" that have no values, with autocast as in training."""
    with FakeTensorMode(), Gpu(copies):
        torch.set_autocast_dtype("cuda", torch.float16)
        torch.set_autocast_enabled("cuda", True)  # the context manager insists on a GPU
        try:
            yield
        finally:
            torch.set_autocast_enabled("cuda", False)
            torch.clear_autocast_cache()


def move(method: Method) -> None:
    """Put parameters and buffers on the fake GPU, except the count, whose value is needed."""
    for module in method.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                fake = torch.empty(parameter.shape, device="cuda")
                module._parameters[name] = nn.Parameter(fake, parameter.requires_grad)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype, device="cuda")
    method._buffers["batches_seen"] = 0  # type: ignore[assignment]


@pytest.mark.parametrize("case", CASES)
def test_a_step_on_a_gpu_mixes_no_devices(case: str) -> None:
    method, batch = build(CASES[case])
    copies = len(getattr(CASES[case], "query_views", ("query",)))
    # A generator of a GPU cannot be made without one.
    noise = patch("unshortcut.methods.corruption.keyed_normal", lambda like, _: like.clone())
    with fake_gpu(copies), noise:
        move(method)
        views = {name: torch.empty(v.shape, device="cuda") for name, v in batch.views.items()}
        index = torch.zeros(IMAGES, dtype=torch.long, device="cuda")
        output = method.loss(Batch(views, index, index, trusted=index == 0))
    assert (output.loss.device.type, output.loss.dtype) == ("cuda", torch.float32)
    assert output.embeddings.device.type == "cuda" and output.loss.requires_grad


def test_the_fake_gpu_notices_what_a_gpu_would_refuse() -> None:
    with fake_gpu(1):
        x = torch.empty(3, device="cuda")
        with pytest.raises(RuntimeError, match="two devices"):
            x + torch.rand(3)
        with pytest.raises(RuntimeError, match="a generator of cpu"):
            torch.rand(3, generator=torch.Generator(), device="cuda")
        assert (x[None] @ x[:, None]).dtype == torch.float16
