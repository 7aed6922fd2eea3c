"""Models of open_clip: embeddings, preprocessing and zero-shot classes are the library's own."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from unshortcut.errors import RunError, UsageError
from unshortcut.models.load import load_model

open_clip = pytest.importorskip("open_clip", reason="the extra unshortcut[clip] is missing")

CONFIG = {
    "embed_dim": 12,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 64, "patch_size": 8},
    "text_cfg": {
        "context_length": 77,
        "vocab_size": 49408,
        "width": 16,
        "heads": 2,
        "layers": 1,
    },
}
PREPARED = {"size": 32, "mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.4], "resize_mode": "squash"}
IMAGES = torch.randn(3, 3, 32, 32, generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def own() -> Any:
    torch.manual_seed(0)
    return open_clip.CLIP(**CONFIG).eval()


@pytest.fixture
def folder(tmp_path: Path, own: Any) -> Path:
    save_file(own.state_dict(), tmp_path / "open_clip_model.safetensors")
    write_config(tmp_path, CONFIG)
    return tmp_path


def write_config(folder: Path, model: dict[str, Any]) -> None:
    text = json.dumps({"model_cfg": model, "preprocess_cfg": PREPARED})
    (folder / "open_clip_config.json").write_text(text)


def test_features_are_the_embeddings_of_images(folder: Path, own: Any) -> None:
    model = load_model(f"open_clip:{folder}")
    with torch.no_grad():
        torch.testing.assert_close(model.features(IMAGES), own.encode_image(IMAGES))
    assert model.name == f"open_clip:{folder.name}" and model.logits is None
    stated = model.preprocessing
    assert stated.size == 32 and stated.stretch and stated.mean == (0.4, 0.5, 0.6)
    asked = load_model(f"open_clip:{folder}", mean=(0.1, 0.2, 0.3)).preprocessing
    assert asked.mean == (0.1, 0.2, 0.3) and asked.stretch


def test_zero_shot_logits_are_those_of_the_library(folder: Path, own: Any) -> None:
    templates = ["a photo of a {}.", "a drawing of the {}."]
    model = load_model(f"open_clip:{folder}", classes=["cat", "sea_lion"], prompts=templates)
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    with torch.no_grad():
        weights = open_clip.build_zero_shot_classifier(
            own, tokenizer, ["cat", "sea lion"], templates
        )
        expected = own.logit_scale.exp() * own.encode_image(IMAGES, normalize=True) @ weights
    assert model.logits is not None and model.classes == ("cat", "sea_lion")
    torch.testing.assert_close(model.logits(IMAGES), expected)
    assert model.prompts[:2] == ("a photo of a cat.", "a drawing of the cat.")
    torch.testing.assert_close(model.outputs(IMAGES)[0], own.encode_image(IMAGES).detach())


def test_other_prompts_are_another_classifier(folder: Path) -> None:
    one = load_model(f"open_clip:{folder}", classes=["cat", "dog"])
    other = load_model(f"open_clip:{folder}", classes=["cat", "dog"], prompts=["{}"])
    assert one.prompts == ("a photo of a cat.", "a photo of a dog.")
    assert other.prompts == ("cat", "dog") and one.fingerprint != other.fingerprint
    assert one.logits is not None and other.logits is not None
    assert not torch.allclose(one.logits(IMAGES), other.logits(IMAGES))


def test_published_weights_get_the_activation_they_were_trained_with(
    monkeypatch: pytest.MonkeyPatch, own: Any
) -> None:
    """open_clip only warns that OpenAI's weights need another one than `ViT-B-32` has."""
    asked: dict[str, Any] = {}

    def create(name: str, tag: str, **options: Any) -> Any:
        asked.update(options, name=name, tag=tag)
        own.visual.preprocess_cfg = PREPARED
        return own

    monkeypatch.setattr(open_clip, "create_model", create)
    assert load_model("open_clip:ViT-B-32").name == "open_clip:ViT-B-32@openai"
    assert asked["force_quick_gelu"] and asked["weights_only"] and asked["tag"] == "openai"
    load_model("open_clip:ViT-B-32@laion2b_s34b_b79k")
    assert not asked["force_quick_gelu"]


class _Executed:
    """What an attacker would pickle."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("executed"),)


def test_pickled_objects_in_the_weights_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "open_clip_model.safetensors").unlink()
    torch.save({"state_dict": _Executed()}, folder / "open_clip_pytorch_model.bin")
    with pytest.raises(RunError, match="not plain tensors"):
        load_model(f"open_clip:{folder}")
    assert not (folder / "executed").exists()


def test_code_for_the_text_network_is_never_executed(folder: Path) -> None:
    pytest.importorskip("transformers", reason="the extra unshortcut[hf] is missing")
    (folder / "text").mkdir()
    config = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Config"}}
    (folder / "text" / "config.json").write_text(json.dumps(config))
    (folder / "text" / "mine.py").write_text("open('executed', 'w').close()\n")
    write_config(folder, {**CONFIG, "text_cfg": {"hf_model_name": str(folder / "text")}})
    with pytest.raises(RunError, match="custom code"):
        load_model(f"open_clip:{folder}")
    assert not Path("executed").exists()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("./nowhere", "there is no folder './nowhere'"),
        ("ViT-B-33", "unknown model of open_clip 'ViT-B-33'; did you mean 'ViT-B-32'"),
        ("ViT-B-32@nothing", "unknown weights of open_clip:ViT-B-32 'nothing'"),
        ("ViT-H-14", "several weights of open_clip:ViT-H-14; choose one as @TAG: laion2b"),
    ],
)
def test_a_wrong_spec_is_one_sentence(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_model(f"open_clip:{spec}")


def test_a_folder_that_is_no_model_is_said(tmp_path: Path, folder: Path) -> None:
    (folder / "open_clip_model.safetensors").unlink()
    with pytest.raises(RunError, match=r"the folder must have open_clip_config\.json and the we"):
        load_model(f"open_clip:{folder}")
    (folder / "open_clip_config.json").unlink()
    with pytest.raises(UsageError, match=r"there is no open_clip_config\.json in the folder"):
        load_model(f"open_clip:{folder}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompts": ["a photo"], "classes": ["cat"]}, "'a photo' has no {} in the place"),
        ({"prompts": ["a {}"]}, "no classes are given"),
        ({"classes": []}, "needs the names of classes"),
    ],
)
def test_wrong_prompts_are_said(folder: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        load_model(f"open_clip:{folder}", **options)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "open_clip", None)
    with pytest.raises(UsageError, match=re.escape("pip install 'unshortcut[clip]'")):
        load_model("open_clip:ViT-B-32")
