"""Keys that change how fast a step is or what it stores, and the hardware that they need."""

from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from torch import Tensor

from tests.methods.small_runs import small_run
from tests.methods.test_mae import SMALL
from tests.small import TINY, TINY_RECIPE
from unshortcut.data.shapes import Shapes
from unshortcut.errors import UsageError
from unshortcut.methods.method import Method
from unshortcut.models.card import load_encoder
from unshortcut.models.encoder import Encoder
from unshortcut.recipes.load import load_recipe
from unshortcut.recipes.schema import TrainingSettings
from unshortcut.training import acceleration
from unshortcut.training.acceleration import (
    check_compiler,
    check_hardware,
    check_precision,
    compile_encoders,
    cpu_has_bfloat16,
)
from unshortcut.training.checkpoint import load_checkpoint
from unshortcut.training.folder import RunFolder
from unshortcut.training.machine import Machine
from unshortcut.training.pretraining import build_method, check_method, pretrain

SOURCE = Shapes("train", size=32, count=64)
ONE_EPOCH = "schedule.epochs=1"


def state_of(folder: Path) -> dict[str, Tensor]:
    state: dict[str, Tensor] = load_checkpoint(RunFolder(folder).checkpoint)["state_dict"]
    return state


def losses(method: Method, steps: int = 2) -> list[float]:
    """The losses of a few steps without an optimizer, on fixed random views."""
    found = []
    for step in range(steps):
        generator = torch.Generator().manual_seed(step)
        views = {
            name: torch.randint(256, (8, 3, 24, 24), dtype=torch.uint8, generator=generator)
            for name in load_recipe(TINY_RECIPE).view_plan().transforms
        }
        loss = method.training_step({"views": views}, step)
        method.backward(loss)
        method.on_after_backward()
        found.append(float(loss.detach()))
    return found


# Checkpointing


@pytest.mark.parametrize("recipe", ["moco-v2-shapes", "byol-shapes"])
def test_a_run_with_gradient_checkpointing_is_the_same_to_the_bit(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    forward = torch.nn.Conv2d.forward

    def counted(*arguments: Any) -> Tensor:
        calls[-1] += 1
        return forward(*arguments)

    monkeypatch.setattr(torch.nn.Conv2d, "forward", counted)
    for name in ("false", "true"):
        calls.append(0)
        sets = [ONE_EPOCH, f"training.gradient_checkpointing={name}"]
        small_run(recipe, tmp_path / name, sets)
    assert calls[1] > calls[0], "activations were made again"
    plain, less = state_of(tmp_path / "false"), state_of(tmp_path / "true")
    assert plain.keys() == less.keys()
    for name, value in plain.items():
        assert torch.equal(value, less[name]), name


def test_momentum_copies_have_no_graph_and_are_not_checkpointed() -> None:
    recipe = load_recipe(TINY_RECIPE, ["training.gradient_checkpointing=true"])
    method = build_method(recipe)
    check_method(method, recipe, Machine(1, 1, True))
    encoders = [module for module in method.modules() if isinstance(module, Encoder)]
    assert encoders[0] is method.encoder
    assert [encoder.model.grad_checkpointing for encoder in encoders] == [True, False]


def test_compiling_and_checkpointing_exclude_each_other() -> None:
    sets = ["training.compile=true", "training.gradient_checkpointing=true"]
    with pytest.raises(UsageError, match="exclude each other"):
        load_recipe(TINY_RECIPE, sets)


def test_an_encoder_without_checkpointing_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    sets = ["encoder={name: dla46_c}", "training.gradient_checkpointing=true", "views.size=64"]
    with pytest.raises(UsageError, match="timm cannot checkpoint 'dla46_c'"):
        pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=sets)
    assert not (tmp_path / "run").exists()


# Layout


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("channels_last", [True, False])
def test_channels_last_decides_the_layout_of_weights_and_images(
    channels_last: bool, split: bool
) -> None:
    recipe = load_recipe(
        TINY_RECIPE,
        [f"training.channels_last={channels_last}", f"encoder.color_split={split}"],
    )
    method = build_method(recipe)
    layout = torch.channels_last if channels_last else torch.contiguous_format
    other = torch.contiguous_format if channels_last else torch.channels_last
    seen: list[Tensor] = []
    for module in method.modules():
        if isinstance(module, Encoder):
            network: Any = module.model.color if split else module.model
            network.conv1.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
            weight = network.conv1.weight
            assert weight.is_contiguous(memory_format=layout)
            assert not weight.is_contiguous(memory_format=other)
    losses(method, steps=1)
    view = torch.zeros(2, 3, 8, 8, dtype=torch.uint8)
    for images in (*seen, method.normalize(view)):
        assert images.is_contiguous(memory_format=layout)
        assert not images.is_contiguous(memory_format=other)
    assert len(seen) == 2, "queries and keys"


def test_both_layouts_have_the_same_loss_and_load_alike(tmp_path: Path) -> None:
    first, second = (
        build_method(load_recipe(TINY_RECIPE, [f"training.channels_last={value}"]))
        for value in (True, False)
    )
    assert losses(second) == pytest.approx(losses(first), rel=1e-5)
    run = pretrain(
        TINY_RECIPE, SOURCE, tmp_path / "run", sets=[ONE_EPOCH, "training.channels_last=false"]
    )
    encoder, _ = load_encoder(RunFolder(run.folder).weights)
    assert encoder.memory_format == torch.channels_last
    trained = {
        name.removeprefix("encoder.model."): value
        for name, value in state_of(run.folder).items()
        if name.startswith("encoder.model.")
    }
    assert all(torch.equal(v, trained[k]) for k, v in encoder.model.state_dict().items())


# Resuming


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("training.channels_last=false", "training.channels_last True and now has False"),
        ("training.gradient_checkpointing=true", None),
    ],
)
def test_a_run_resumes_with_another_layout_or_with_checkpointing(
    change: str, said: str | None, tmp_path: Path
) -> None:
    pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=[ONE_EPOCH])
    text = StringIO()
    pretrain(
        TINY_RECIPE, SOURCE, tmp_path / "run", sets=[ONE_EPOCH, change], resume=True,
        console=Console(file=text, width=200),
    )  # fmt: skip
    assert ("differ in rounding" in text.getvalue()) == (said is not None)
    assert said is None or said in text.getvalue()


def test_a_run_does_not_resume_in_another_precision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=[ONE_EPOCH])
    monkeypatch.setattr(acceleration, "device_type", lambda: "mps")  # no check of the CPU
    sets = [ONE_EPOCH, "training.precision=16-mixed"]
    with pytest.raises(UsageError, match=r"training\.precision: '32-true' -> '16-mixed'"):
        pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=sets, resume=True)


# Compiling


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is compiled, with a backend that traces networks but needs no compiler."""
    found: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        found.append(graph)
        return graph.forward

    original = torch.compile
    monkeypatch.setattr(torch, "compile", lambda f, **_: original(f, backend=backend))
    return found


@pytest.mark.parametrize("name", ["mae-shapes", "can-shapes"])
def test_encoder_and_decoder_of_a_masked_method_are_compiled(name: str, graphs: list[Any]) -> None:
    recipe = load_recipe(name, ["views.size=24", *SMALL])
    plain, compiled = build_method(recipe), build_method(recipe)
    compile_encoders(compiled)
    assert losses(compiled) == pytest.approx(losses(plain), rel=1e-5)
    layers = {str(node.target) for graph in graphs for node in graph.graph.nodes}
    assert any("decoder" in one for one in layers) and any("encoder" in one for one in layers)


def test_all_encoders_are_compiled_in_place(graphs: list[Any]) -> None:
    recipe = load_recipe(TINY_RECIPE, ["method.batch_norm_groups=2"])
    plain, compiled = build_method(recipe), build_method(recipe)
    keys = list(compiled.state_dict())
    compile_encoders(compiled)
    assert list(compiled.state_dict()) == keys
    assert losses(compiled) == losses(plain)
    assert len(graphs) >= 2, "the encoder and its momentum copy"
    for name, value in plain.state_dict().items():
        assert torch.equal(compiled.state_dict()[name], value), name
    assert deepcopy(compiled.encoder).model._compiled_call_impl is None


def test_the_two_networks_of_cmc_are_compiled_which_it_calls_one_by_one() -> None:
    method = build_method(load_recipe("cmc-shapes", [f"encoder.options={TINY.options}"]))
    compile_encoders(method)
    model: Any = method.encoder.model
    networks = (model.lightness, model.color, model)
    assert [one._compiled_call_impl is None for one in networks] == [False, False, True]


@pytest.mark.slow
def test_a_compiled_run_has_the_loss_of_a_plain_one_and_is_exported(tmp_path: Path) -> None:
    plain, compiled = (
        pretrain(
            TINY_RECIPE, SOURCE, tmp_path / value, sets=[ONE_EPOCH, f"training.compile={value}"]
        )
        for value in ("false", "true")
    )
    assert compiled.metrics["loss"] == pytest.approx(plain.metrics["loss"], rel=1e-4)
    encoder, _ = load_encoder(RunFolder(compiled.folder).weights)
    assert encoder.settings == TINY


def test_without_a_compiler_compile_is_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(function: Any) -> Any:
        raise RuntimeError("InvalidCxxCompiler: No working C++ compiler found\nmore")

    monkeypatch.setattr(torch, "compile", broken)
    with pytest.raises(UsageError, match=r"No working C\+\+ compiler found\); on a CPU it needs"):
        check_compiler("cpu")
    with pytest.raises(UsageError, match=r"training\.compile"):
        check_hardware(TrainingSettings(compile=True), Machine(1, 1, True))
    check_hardware(TrainingSettings(), Machine(1, 1, True))


# Precision


def test_float16_on_a_cpu_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UsageError, match="16-mixed needs a GPU; on a CPU set it to 32-true"):
        pretrain(TINY_RECIPE, SOURCE, tmp_path / "run", sets=["training.precision=16-mixed"])
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("capabilities", "has"),
    [
        ({"avx2": True, "avx512_f": True, "avx512_bf16": False, "architecture": "x86_64"}, False),
        ({"avx512_bf16": True}, True),
        ({"amx_bf16": True}, True),
        ({"neon": True, "bf16": False}, False),
        ({"neon": True, "bf16": True}, True),
    ],
)
def test_bfloat16_on_a_cpu_needs_its_instructions(
    capabilities: dict[str, Any], has: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    monkeypatch.setattr(acceleration, "_survives", lambda program: True)
    assert cpu_has_bfloat16() is has
    if has:
        check_precision("bf16-mixed", "cpu")
    else:
        with pytest.raises(UsageError, match="this CPU has no working bfloat16 instructions"):
            check_precision("bf16-mixed", "cpu")


def test_without_the_query_of_torch_the_list_of_linux_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    monkeypatch.setattr(acceleration, "_survives", lambda program: True)
    for flags, has in ({"avx512f"}, False), ({"avx512f", "avx512_bf16"}, True), (set(), False):
        monkeypatch.setattr(acceleration, "_linux_flags", lambda flags=flags: flags)
        assert cpu_has_bfloat16() is has


@pytest.mark.parametrize(
    ("program", "survives"),
    [("pass", True), ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", False)],
)
def test_instructions_that_are_reported_and_do_not_work_are_found_in_another_process(
    program: str, survives: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True}, raising=False)
    monkeypatch.setattr(acceleration, "_TRIAL", program)
    assert cpu_has_bfloat16() is survives


def test_a_gpu_without_bfloat16_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence only: no GPU is needed for it."""
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: False)
    with pytest.raises(UsageError, match="this GPU has no bfloat16"):
        check_precision("bf16-mixed", "cuda")
    check_precision("16-mixed", "cuda")


def test_synchronized_batch_norm_on_cpus_is_refused() -> None:
    settings = TrainingSettings(sync_batch_norm=True)
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="synchronized batch norm needs GPUs"):
            check_hardware(settings, Machine(2, 1, True))
    check_hardware(settings, Machine(1, 1, True))
