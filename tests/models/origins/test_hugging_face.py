"""Models of transformers: what is computed is what the library computes, from a folder as it is."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unshortcut.errors import RunError, UsageError
from unshortcut.models.image_processor import image_processing
from unshortcut.models.load import load_model

transformers = pytest.importorskip("transformers", reason="the extra unshortcut[hf] is missing")

TINY = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "image_size": 32,
    "patch_size": 8,
}
NAMES = {0: "cat", 1: "dog", 2: "fox"}
IMAGES = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
SQUARE = {"size": {"height": 32, "width": 32}}
Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Saves a network, with an image processor unless it is None."""

    def save(network: Any, processor: Any = "vit", **options: Any) -> Path:
        folder = tmp_path / "model"
        network.save_pretrained(folder, **options)
        if processor == "vit":
            processor = transformers.ViTImageProcessor(**SQUARE)
        if processor is not None:
            processor.save_pretrained(folder)
        return folder

    return save


def network(name: str, config: Any) -> Any:
    torch.manual_seed(0)
    return getattr(transformers, name)(config).eval()


def vit(**changes: Any) -> Any:
    config = transformers.ViTConfig(**{**TINY, "id2label": NAMES, **changes})
    return network("ViTForImageClassification", config)


def test_a_classifier_has_the_librarys_logits_classes_and_features(save: Save) -> None:
    own = vit()
    model = load_model(f"hf:{save(own)}")
    assert model.name == "hf:model" and model.classes == ("cat", "dog", "fox")
    assert model.logits is not None and model.fingerprint is not None
    with torch.no_grad():
        torch.testing.assert_close(model.logits(IMAGES), own(IMAGES).logits)
        tokens = own.vit(IMAGES).last_hidden_state
    torch.testing.assert_close(model.features(IMAGES), tokens[:, 0])
    assert model.module is not None and not model.features(IMAGES).requires_grad


def test_half_precision_weights_are_used_in_single_precision(save: Save) -> None:
    model = load_model(f"hf:{save(vit().half())}")
    assert model.features(IMAGES).dtype == torch.float32


def test_names_that_say_nothing_are_no_classes(save: Save) -> None:
    model = load_model(f"hf:{save(vit(id2label={0: 'LABEL_0', 1: 'LABEL_1'}))}")
    assert model.classes is None and model.logits is not None
    assert model.logits(IMAGES).shape == (2, 2)


def test_an_untrained_model_needs_no_weights_and_is_always_the_same(save: Save) -> None:
    folder = save(vit())
    (folder / "model.safetensors").unlink()
    one, other = (load_model(f"hf:{folder}@random") for _ in range(2))
    assert one.fingerprint == other.fingerprint


def test_a_pooler_whose_weights_are_missing_is_not_used(save: Save) -> None:
    """As in the checkpoints of DINO, whose pooler transformers would fill with random numbers."""
    config = transformers.ViTConfig(**TINY)
    torch.manual_seed(0)
    own = transformers.ViTModel(config, add_pooling_layer=False).eval()
    model = load_model(f"hf:{save(own)}")
    with torch.no_grad():
        expected = own(IMAGES).last_hidden_state[:, 0]
    torch.testing.assert_close(model.features(IMAGES), expected)
    assert model.logits is None
    assert model.feature_maps(IMAGES).shape == (2, 17, 16)


def test_a_convolutional_encoder_has_its_pooled_features_and_its_maps(save: Save) -> None:
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic"
    )
    own = network("ResNetModel", config)
    processor = transformers.ConvNextImageProcessor(size={"shortest_edge": 224})
    model = load_model(f"hf:{save(own, processor)}")
    with torch.no_grad():
        torch.testing.assert_close(model.features(IMAGES), own(IMAGES).pooler_output.flatten(1))
    assert model.feature_maps(IMAGES).shape == (2, 16, 4, 4)
    assert (model.preprocessing.size, model.preprocessing.crop_share) == (224, 0.875)
    smaller = load_model(f"hf:{save(own, processor)}", size=96).preprocessing
    assert (smaller.size, smaller.crop_share) == (96, 0.875)


def test_an_mae_sees_the_whole_image_in_order(save: Save) -> None:
    config = transformers.ViTMAEConfig(**TINY)
    folder = save(network("ViTMAEModel", config))
    model = load_model(f"hf:{folder}")
    assert torch.equal(model.features(IMAGES), model.features(IMAGES))
    assert model.feature_maps(IMAGES).shape == (2, 17, 16)


def test_a_model_of_images_and_texts_has_the_embeddings_of_images(save: Save) -> None:
    text = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
            "intermediate_size": 16, "vocab_size": 64}  # fmt: skip
    config = transformers.CLIPConfig(text_config=text, vision_config=TINY, projection_dim=12)
    own = network("CLIPModel", config)
    model = load_model(f"hf:{save(own)}")
    with torch.no_grad():
        vision = own.vision_model(IMAGES).pooler_output
        torch.testing.assert_close(model.features(IMAGES), own.visual_projection(vision))


@pytest.mark.parametrize(
    ("processor", "settings"),
    [
        ("ViTImageProcessor", {}),  # stretched
        ("CLIPImageProcessor", {}),  # the shorter side, then a crop of the same size
        ("DeiTImageProcessor", {}),  # stretched, then cropped
        ("ConvNextImageProcessor", {"size": {"shortest_edge": 224}}),  # crop_pct
        ("MobileNetV2ImageProcessor", {}),  # a larger shorter side
        ("EfficientNetImageProcessor", {"rescale_offset": True, "rescale_factor": 1 / 127.5}),
        ("MobileViTImageProcessor", {"size": {"shortest_edge": 288}}),  # blue first, not normalized
    ],
)
def test_images_are_prepared_as_the_processor_does(
    processor: str, settings: dict[str, Any], recwarn: pytest.WarningsRecorder
) -> None:
    theirs = getattr(transformers, processor)(**settings)
    found = image_processing(theirs, "hf:x", {})
    assert not recwarn.list
    rows, columns = np.mgrid[0:300, 0:400] / 400
    image = np.uint8(255 * np.stack([rows, columns, 1 - rows * columns], axis=-1))
    from unshortcut.inference.images import ImageTransform

    ours = ImageTransform(found.preprocessing)(image)
    ours = ours.flip(0) if found.blue_first else ours
    expected = torch.as_tensor(np.asarray(theirs(image, return_tensors="np")["pixel_values"][0]))
    assert ours.shape == expected.shape
    assert (ours - expected).abs().mean() < 0.01 * expected.std()


def test_a_processor_that_does_something_else_is_said() -> None:
    theirs = transformers.LevitImageProcessor()  # resizes to 256/224 of its size
    with pytest.warns(UserWarning, match=r"only approximated \(LevitImageProcessor\)"):
        image_processing(theirs, "hf:x", {})


def test_images_that_are_no_squares_are_refused() -> None:
    theirs = transformers.ViTImageProcessor(size={"height": 32, "width": 64})
    with pytest.raises(UsageError, match="32 × 64 pixels, and only squares"):
        image_processing(theirs, "hf:x", {})


def test_a_folder_without_preprocessing_takes_what_the_user_states(save: Save) -> None:
    folder = save(vit(), None)
    with pytest.warns(UserWarning, match="as for ImageNet at 32 px is assumed"):
        assert load_model(f"hf:{folder}").preprocessing.size == 32
    assert load_model(f"hf:{folder}", mean=(0.1, 0.2, 0.3)).preprocessing.mean == (0.1, 0.2, 0.3)


def test_code_in_the_folder_is_never_executed(save: Save) -> None:
    folder = save(vit())
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Config"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "mine.py").write_text("open('executed', 'w').close()\nclass Config: pass\n")
    with pytest.raises(UsageError, match="code of its own, which is never executed"):
        load_model(f"hf:{folder}")
    assert not Path("executed").exists() and "mine" not in sys.modules


class _Executed:
    """What an attacker would pickle."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("executed"),)


def test_pickled_objects_in_the_weights_are_refused(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save(vit())
    monkeypatch.chdir(folder)
    (folder / "model.safetensors").unlink()
    torch.save({"weight": _Executed()}, folder / "pytorch_model.bin")
    with pytest.raises(RunError, match="not plain tensors"):
        load_model(f"hf:{folder}")
    assert not (folder / "executed").exists()


def test_weights_that_are_not_complete_are_refused(save: Save) -> None:
    from safetensors.torch import load_file, save_file

    file = save(vit()) / "model.safetensors"
    tensors = load_file(file)
    del tensors["classifier.weight"]
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(UsageError, match=r"not complete: 1 tensors are missing, such as classif"):
        load_model(f"hf:{file.parent}")


def test_a_model_of_texts_is_refused(save: Save) -> None:
    config = transformers.BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        vocab_size=32,
    )  # fmt: skip
    folder = save(network("BertModel", config), None)
    with pytest.raises(UsageError, match="takes no images: its model type is 'bert'"):
        load_model(f"hf:{folder}")


def test_a_missing_folder_and_one_without_a_config_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no folder '\./nowhere'"):
        load_model("hf:./nowhere")
    with pytest.raises(UsageError, match=r"there is no config\.json in the folder"):
        load_model(f"hf:{tmp_path}")


def test_a_name_that_cannot_be_loaded_says_what_to_give_instead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def offline(*arguments: Any, **options: Any) -> Any:
        assert options["trust_remote_code"] is False and options["revision"] == "v2"
        raise OSError("cannot connect. Check your connection")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", offline)
    expected = re.escape("'hf:some/name@v2' could not be loaded (cannot connect); give a folder")
    with pytest.raises(RunError, match=expected):
        load_model("hf:some/name@v2")


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UsageError, match=re.escape("pip install 'unshortcut[hf]'")):
        load_model("hf:some/name")


def test_the_size_of_a_processor_that_states_none_is_the_users(
    recwarn: pytest.WarningsRecorder,
) -> None:
    theirs = transformers.ViTImageProcessor(do_resize=False)
    with pytest.raises(UsageError, match="give --size"):
        image_processing(theirs, "hf:x", {})
    assert image_processing(theirs, "hf:x", {"size": 48}).preprocessing.size == 48
    assert not recwarn.list  # it prepares an image of this size as we do
