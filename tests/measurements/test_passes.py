"""How often measurements run a model: what they state is what is counted."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from torch import Tensor, nn

from tests.measurements.painted_scenes import Painted, painted_subject
from tests.measuring.made import arrays, subject_of
from unshortcut.measurements.measurement import measurements
from unshortcut.measuring.passes import Passes
from unshortcut.measuring.settings import PROFILES, Settings
from unshortcut.measuring.subjects.conflict import Conflict
from unshortcut.measuring.subjects.subject import Subject

CLASSES = ("dark", "gray", "light")
SIDE = 32
SPECIAL = ("backgrounds", "components", "weak_slices", "scene_norm", "out_of_context")
"""Measurements that need other data, a linear head, or errors."""


class Brightness(nn.Module):
    """Decides by brightness, is right about every image, and counts the images that it sees."""

    def __init__(self, levels: int) -> None:
        super().__init__()
        self.same = nn.Conv2d(3, 3, 1, groups=3, bias=False)
        nn.init.ones_(self.same.weight)
        self.levels, self.passed = levels, 0

    def forward(self, images: Tensor) -> Tensor:
        self.passed += len(images)
        bright = self.same(images).mean((1, 2, 3))[:, None] * self.levels
        centers = Tensor([at + 0.5 for at in range(self.levels)])
        return -((bright - centers) ** 2)


def brightness(each: int, classes: tuple[str, ...] = CLASSES) -> Subject:
    """So many images of each class, and everything else that measurements need."""
    random, num = np.random.default_rng(0), len(classes)
    labels = np.repeat(np.arange(num), each)
    levels = (labels + 0.5) / num * 255
    noise = random.integers(-9, 10, (len(labels), SIDE, SIDE, 3))
    pixels = np.clip(levels[:, None, None, None] + noise, 0, 255).astype(np.uint8)
    source = arrays(pixels, labels, classes)
    shapes = np.tile(labels, 2)
    stimuli = arrays(np.concatenate([pixels, pixels]), shapes, classes)
    module = Brightness(num)
    subject = subject_of(module, source)

    def both(images: Tensor) -> tuple[Tensor, Tensor]:
        logits = module(images)
        return logits, logits

    return replace(
        subject,
        model=replace(subject.model, both=both),
        conflict=Conflict(stimuli, classes, shapes, (shapes + 1) % num),
        shifts={"other": arrays(255 - pixels, labels, classes)},
        hierarchy={name: "first" if name == classes[0] else "rest" for name in classes},
    )


@pytest.fixture(scope="module", params=("quick", "standard"))
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    yield replace(brightness(20), settings=Settings(request.param))


@pytest.mark.parametrize("name", [name for name in measurements() if name not in SPECIAL])
def test_every_measurement_states_the_passes_that_it_makes(name: str, subject: Subject) -> None:
    one, alone = measurements([name])[name], replace(subject)  # which knows no outputs yet
    stated = one.passes(alone)
    assert stated is not None
    module = alone.model.module
    assert isinstance(module, Brightness)
    module.passed = 0
    one.measure(alone, lambda done, total: None)
    assert module.passed == stated.count() > 0
    assert alone.num_known == stated.plain


@pytest.mark.parametrize("name", ["scene_norm", "out_of_context"])
def test_measurements_of_scenes_state_their_cutouts(name: str) -> None:
    subject = painted_subject(Painted([("red", "red", "GREEN"), ("BLUE", "green"), ("red",)]))
    passed = 0

    def counted(images: Tensor) -> Tensor:
        nonlocal passed
        passed += len(images)
        return subject.model.features(images)

    counting = replace(subject, model=replace(subject.model, features=counted))
    one = measurements([name])[name]
    stated = one.passes(counting)
    one.measure(counting, lambda done, total: None)
    assert stated is not None
    assert passed == stated.count() > 0


def test_a_larger_profile_never_makes_fewer_passes() -> None:
    subject = brightness(20)
    counts = {}
    for one in PROFILES:
        settled = replace(subject, settings=Settings(one))
        counts[one] = {
            name: (measurement.passes(settled) or Passes()).count()
            for name, measurement in measurements().items()
            if name not in SPECIAL
        }
    for name in counts["quick"]:
        assert counts["quick"][name] <= counts["standard"][name] <= counts["full"][name]


def test_a_quick_audit_of_200_images_makes_at_most_2000_passes() -> None:
    for classes in (2, 3, 8, 10, 16, 40):
        names = tuple(f"class {number:02}" for number in range(classes))
        subject = replace(brightness(-(-200 // classes), names), settings=Settings("quick"))
        chosen = measurements(profile="quick")
        verdict = {"shape_bias", "texture_only", "transplant", "corruptions"}
        assert verdict < set(chosen)
        stated = [chosen[name].passes(subject) or Passes() for name in sorted(verdict)]
        assert sum(one.changed for one in stated) + max(one.plain for one in stated) <= 1950


def test_gradients_cost_more_and_known_images_nothing() -> None:
    passes = Passes(changed=10, plain=5, with_gradient=2)
    assert (passes.count(), passes.cost()) == (17, 21)
    assert (passes.count(known=3), passes.count(known=9)) == (14, 12)
