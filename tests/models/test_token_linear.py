"""Linear layers on tokens by oneDNN: against plain ones, and where they stay plain."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest
import timm
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut import load_model
from unshortcut.models import token_linear as module
from unshortcut.models.token_linear import TokenLinear, token_linear, use_token_linear
from unshortcut.models.wrapping import fingerprint


@pytest.fixture(autouse=True)
def other_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a CPU that is not Intel's, whatever this one is."""
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this build of torch has no oneDNN")
    monkeypatch.setattr(module, "prefers_onednn", lambda: True)


@pytest.fixture
def convolutions(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The number of images of every convolution that is computed."""
    counts: list[int] = []
    plain = F.conv2d

    def counted(images: Tensor, *rest: Tensor) -> Tensor:
        counts.append(len(images))
        return plain(images, *rest)

    monkeypatch.setattr(F, "conv2d", counted)
    yield counts


def layer(inputs: int = 24, outputs: int = 40, *, bias: bool = True) -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(inputs, outputs, bias=bias)


@pytest.mark.parametrize("shape", [(16, 5, 24), (20, 3, 4, 24), (16, 1, 24)])
@pytest.mark.parametrize("bias", [True, False])
def test_values_and_gradients_are_those_of_a_plain_layer(
    shape: tuple[int, ...], bias: bool, convolutions: list[int]
) -> None:
    plain = layer(bias=bias)
    ours, exact = deepcopy(plain), deepcopy(plain).double()
    use_token_linear(ours)
    tokens = torch.randn(shape)
    outputs, gradients = [], []
    for one in (ours, exact):
        inputs = tokens.clone().to(one.weight.dtype).requires_grad_()
        output = one(inputs)
        (output * torch.linspace(-1, 1, 40).to(output)).square().sum().backward()
        outputs.append(output)
        gradients.append([inputs.grad, *(parameter.grad for parameter in one.parameters())])
    assert outputs[0].shape == (*shape[:-1], 40) and outputs[0].is_contiguous()
    torch.testing.assert_close(outputs[0].double(), outputs[1], rtol=1e-5, atol=1e-5)
    for found, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-4)
    assert len(convolutions) == 2, "forward, and the gradient of the input"


@pytest.mark.parametrize(
    ("shape", "images"),
    [((128, 33, 24), 16), ((100, 5, 24), 20), ((17, 3, 24), 17), ((18, 2, 5, 24), 18)],
)
def test_a_batch_is_divided_into_few_images_with_long_rows(
    shape: tuple[int, ...], images: int, convolutions: list[int]
) -> None:
    plain, tokens = layer(), torch.randn(shape)
    found = token_linear(tokens, plain.weight, plain.bias)
    torch.testing.assert_close(found, plain(tokens), rtol=1e-4, atol=1e-5)
    assert convolutions == [images], "at least 16, and a divisor of the tokens"


def test_inputs_in_any_layout_and_gradients_of_some_inputs() -> None:
    plain, wide = layer(), torch.randn(16, 24, 7)
    tokens = wide.transpose(1, 2)  # not contiguous
    torch.testing.assert_close(token_linear(tokens, plain.weight, plain.bias), plain(tokens))
    frozen = token_linear(tokens, plain.weight.detach(), plain.bias)
    frozen.sum().backward()
    torch.testing.assert_close(plain.bias.grad, torch.full((40,), 16.0 * 7))
    assert plain.weight.grad is None


def test_second_derivatives_are_those_of_a_plain_layer() -> None:
    plain, tokens = layer(), torch.randn(16, 3, 24, requires_grad=True)
    found = []
    for function in (token_linear, F.linear):
        output = function(tokens, plain.weight, plain.bias).tanh().sum()
        firsts = torch.autograd.grad(output, (tokens, plain.weight), create_graph=True)
        total = sum(one.square().sum() for one in firsts)
        found.append(torch.autograd.grad(total, (tokens, plain.weight, plain.bias)))
    for ours, expected in zip(*found, strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4)


def test_what_follows_a_layer_may_change_its_output_in_place() -> None:
    tokens = torch.randn(16, 3, 24)
    gradients = []
    for replaced in (True, False):
        network = nn.Sequential(layer(), nn.ReLU(inplace=True))
        if replaced:
            use_token_linear(network)
        network(tokens).square().sum().backward()
        gradients.append(network[0].weight.grad)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-4, atol=1e-4)


def test_gradients_of_single_images_can_be_mapped() -> None:
    plain = layer()

    def loss(weight: Tensor, tokens: Tensor) -> Tensor:
        return token_linear(tokens, weight, plain.bias).square().sum()

    images = torch.randn(3, 16, 2, 24)
    found = torch.func.vmap(torch.func.grad(loss), (None, 0))(plain.weight, images)
    for one, gradient in zip(images, found, strict=True):
        expected = torch.func.grad(lambda w, x: F.linear(x, w, plain.bias).square().sum())(
            plain.weight, one
        )
        torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-3)


def test_the_gradient_can_be_mapped_over_outputs() -> None:
    plain, tokens = layer(), torch.randn(16, 2, 24)
    found = torch.func.jacrev(lambda x: token_linear(x, plain.weight, plain.bias))(tokens)
    expected = torch.func.jacrev(lambda x: F.linear(x, plain.weight, plain.bias))(tokens)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("tokens", "why"),
    [
        (torch.zeros(16, 24), "rows without tokens"),
        (torch.zeros(15, 5, 24), "a small batch"),
        (torch.zeros(16, 0, 24), "no tokens"),
        (torch.zeros(16, 5, 24, dtype=torch.float64), "double precision"),
    ],
)
def test_where_nothing_is_gained_it_is_a_plain_layer(
    tokens: Tensor, why: str, convolutions: list[int]
) -> None:
    plain = layer().to(tokens.dtype)
    found = token_linear(tokens, plain.weight, plain.bias)
    assert torch.equal(found, plain(tokens)) and not convolutions, why


def test_a_wrong_width_is_explained_as_for_a_plain_layer() -> None:
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        token_linear(torch.zeros(16, 5, 23), layer().weight)


def test_only_amd_cpus_with_avx_512_prefer_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(module, "_CPU_INFO", info)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)

    def prefers(vendor: str, capability: str = "AVX512") -> bool:
        info.write_text(f"processor : 0\nvendor_id : {vendor}\nmodel name : AuthenticAMD?\n")
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
        return module.prefers_onednn.__wrapped__()

    assert prefers("AuthenticAMD") and not prefers("AuthenticAMD", "AVX2")
    assert not prefers("Apple", "DEFAULT") and not prefers("GenuineIntel")
    info.unlink()  # as on Windows
    for processor, expected in (("", False), ("x86_64", False), ("Model 17, AuthenticAMD", True)):
        monkeypatch.setattr("platform.processor", lambda text=processor: text)
        assert module.prefers_onednn.__wrapped__() == expected


def test_a_vit_with_such_layers_is_the_same_model() -> None:
    options = {"img_size": 32, "patch_size": 8, "embed_dim": 24, "depth": 2, "num_heads": 2}
    torch.manual_seed(0)
    plain = timm.create_model("vit_tiny_patch16_224", num_classes=3, **options).eval()
    fast = deepcopy(plain)
    use_token_linear(fast)
    assert isinstance(fast.blocks[0].mlp.fc1, TokenLinear)
    assert repr(fast) == repr(plain) and fingerprint(fast) == fingerprint(plain)
    plain.load_state_dict(fast.state_dict())
    images = torch.randn(16, 3, 32, 32)
    torch.testing.assert_close(fast(images), plain(images))
    assert torch.equal(fast(images), fast(images))


def test_only_plain_layers_are_replaced() -> None:
    attention = nn.MultiheadAttention(8, 2)  # its last layer is a subclass, known by its type
    before = type(attention.out_proj)
    use_token_linear(attention)
    assert type(attention.out_proj) is before is not nn.Linear


def test_models_that_are_loaded_by_name_have_such_layers() -> None:
    loaded = load_model("timm:vit_tiny_patch16_224@random", size=224)
    assert loaded.module is not None
    assert isinstance(loaded.module.blocks[0].mlp.fc1, TokenLinear)


def test_a_users_own_module_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    own = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, 4))
    monkeypatch.setattr("tests.models.test_token_linear.own_model", lambda: own, raising=False)
    first, again = (load_model("tests.models.test_token_linear:own_model") for _ in range(2))
    assert type(own[2]) is nn.Linear and first.fingerprint == again.fingerprint


def test_compilers_and_exporters_see_linear_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the real question of the CPU must not be asked inside a graph
    fast = nn.Sequential(layer(), nn.GELU(), layer(40, 8))
    use_token_linear(fast)
    tokens = torch.randn(16, 5, 24)
    exported = torch.export.export(fast, (tokens,))
    called = {str(node.target) for node in exported.graph.nodes if node.op == "call_function"}
    assert "aten.linear.default" in called and not any("conv" in name for name in called)
    torch.testing.assert_close(exported.module()(tokens), fast(tokens))
    compiled = torch.compile(fast, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(tokens), fast(tokens))
