"""Components of models whose weights are known."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.measuring.made import arrays, subject_of
from unshortcut.auditing.result_cache import from_json, to_json
from unshortcut.measurements.components import Components, ComponentsResult
from unshortcut.measuring.errors import NotApplicable

SIDE, COUNT = 16, 120


class ByColors(nn.Module):
    """A linear layer on the mean colors."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)
        with torch.no_grad():
            self.fc.weight.copy_(torch.tensor([[8.0, 4.0, 0.0], [0.0, 0.0, 8.0]]))
            self.fc.bias.zero_()

    def get_classifier(self) -> nn.Linear:
        return self.fc

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.fc(images.mean(dim=(2, 3)))
        return logits


def images() -> tuple[np.ndarray, np.ndarray]:
    """Class 0 is red, and green to a varying degree; class 1 is blue, and dark ones are red too."""
    rng = np.random.default_rng(0)
    labels = np.arange(COUNT) % 2
    pixels = np.zeros((COUNT, SIDE, SIDE, 3), np.uint8)
    pixels[labels == 0, ..., 0] = 120
    pixels[labels == 0, ..., 1] = rng.integers(0, 200, COUNT // 2)[:, None, None]
    pixels[labels == 1, ..., 2] = 120
    weak = (labels == 1) & (rng.random(COUNT) < 0.3)
    pixels[weak, ..., 0] = 200
    return pixels, labels


def measured_components() -> ComponentsResult:
    model = ByColors().eval()
    source = arrays(*images(), ("warm", "cold"))
    subject = subject_of(model, source, features=lambda x: x.mean(dim=(2, 3)))
    return Components().measure(subject, lambda done, total: None)


def test_the_first_component_of_a_class_is_what_varies_in_its_logit() -> None:
    result = measured_components()
    first = result.components[0]
    assert first.name == "warm:1" and first.share == pytest.approx(1, abs=1e-6)
    by_class = [one for one in result.components if one.label == "warm"]
    assert sum(one.share for one in by_class) == pytest.approx(1, abs=1e-6)
    pixels, _ = images()
    greenest = f"{int(np.argmax(pixels[:, 0, 0, 1]))}.png"
    assert first.own[0].caption == greenest
    assert to_json(from_json(ComponentsResult, to_json(result))) == to_json(result)
    assert len(Components().exhibits({"it": result}, None)) == 4


def test_a_classifier_that_is_not_linear_has_no_components() -> None:
    source = arrays(*images(), ("warm", "cold"))
    subject = subject_of(lambda x: x.mean(dim=(2, 3))[:, :2] ** 2, source)
    with pytest.raises(NotApplicable, match="not a linear layer"):
        Components().measure(subject, lambda done, total: None)
