"""Classes in words, and classifiers of them: a model of images and texts made by hand."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import unshortcut
from unshortcut.data.shapes import SHAPE_NAMES, Shapes
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.models.load import load_model
from unshortcut.models.loaded import LoadedModel, TextEncoder
from unshortcut.models.prompts import in_words, zero_shot
from unshortcut.models.wrapping import from_module


class Pool(nn.Module):
    """Colors of the quarters of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, images: Tensor) -> Tensor:
        return self.scale * nn.functional.adaptive_avg_pool2d(images, 2).flatten(1)


def by_hand() -> LoadedModel:
    """The embedding of a text of n letters is the n-th basis vector."""

    def embed(texts: Sequence[str]) -> Tensor:
        return torch.eye(12)[[len(text) % 12 for text in texts]]

    model = from_module("by hand", Pool(), Preprocessing(size=32, crop_share=1.0))
    return replace(model, texts=TextEncoder(embed, scale=10.0))


def test_logits_are_scaled_cosine_similarities() -> None:
    model = zero_shot(by_hand(), ["cat", "horse"], ["{}"])
    images = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    features = model.features(images).double()
    cosine = features / features.norm(dim=1, keepdim=True)
    assert model.logits is not None
    torch.testing.assert_close(model.logits(images).double(), 10 * cosine[:, [3, 5]])


def test_the_mean_of_several_templates_has_length_one_again() -> None:
    model = zero_shot(by_hand(), ["cat", "horse"], ["{}", "a {}"])  # lengths 3 and 5, 5 and 7
    images = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    features = model.features(images).double()
    cosine = features / features.norm(dim=1, keepdim=True)
    assert model.logits is not None
    expected = 10 * (cosine[:, [3, 5]] + cosine[:, [5, 7]]) / 2**0.5
    torch.testing.assert_close(model.logits(images).double(), expected)


def test_classes_are_named_in_words() -> None:
    assert in_words("n02099601") == "golden retriever"
    assert in_words("n02099601_golden_retriever") == "golden retriever"
    assert in_words("tie (n02883205 n04591157)") == "tie"
    assert in_words("golden_retriever") == "golden retriever"


def test_the_audit_names_the_classes_of_the_images_and_shows_the_prompts(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    report = unshortcut.audit(
        {"zero": by_hand()},
        Shapes("test", size=32, count=40),
        only=["confidence"],
        prompts=["a sketch of a <{}>"],
        out=page,
    )
    (info,) = report.findings.models.values()
    assert info.prompts == tuple(f"a sketch of a <{name}>" for name in SHAPE_NAMES)
    assert info.classifier.startswith("the similarity of image and text: zero-shot")
    assert "<li>a sketch of a &lt;arrow&gt;</li>" in page.read_text(encoding="utf-8")
    assert "accuracy" in report.findings.metrics("zero")


def test_conflicting_cues_are_named_by_prompts_too() -> None:
    """Their classes are others than those of the images, and no mapping is needed."""
    data = Shapes("test", size=32, count=40)
    data.classes = tuple(f"other {name}" for name in SHAPE_NAMES)
    report = unshortcut.audit(
        {"zero": by_hand()},
        data,
        conflict=Shapes("conflict", size=32, count=40),
        only=["confidence", "shape_bias"],
    )
    (info,) = report.findings.models.values()
    assert len(info.prompts) == 2 * len(SHAPE_NAMES)
    statuses = {name: one["zero"].status for name, one in report.findings.entries.items()}
    assert statuses == {"confidence": "done", "shape_bias": "done"}


def test_prompts_without_a_model_of_texts_are_refused() -> None:
    with pytest.raises(UsageError, match="none of the models is one"):
        unshortcut.audit("timm:resnet18@random", Shapes("test", size=32, count=8), prompts=["{}"])
    with pytest.raises(UsageError, match="it takes no texts"):
        load_model("timm:resnet18@random", classes=["a"], prompts=["{}"])
