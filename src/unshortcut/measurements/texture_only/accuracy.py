"""What a model decides of images of which only the texture is left, class by class."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from unshortcut.imaging.synthesis import example_patches, synthesize_texture
from unshortcut.imaging.tiling import sample_tiles, tile_patches
from unshortcut.measuring.estimates.estimate import Estimate
from unshortcut.measuring.exhibits import Picture, picture
from unshortcut.measuring.subjects.images import Pixels, Prepared, Transform
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.measuring.wording import percent
from unshortcut.progress import OnProgress, part_of
from unshortcut.randomness import generator
from unshortcut.views.transforms.tiled import patch_range

PATCH_SHARE = 96 / 224
"""Side of the patches that a texture is made of, as a share of the image's (NSN, section 2.2)."""
SOLVED = 0.5
"""Accuracy on textures from which a class counts as solved by them (NSN, figure 10)."""
ERROR = 0.05
"""Chance that any class at all is called solved where textures tell nothing."""
EXAMPLES = 6

Classes = NDArray[np.int64]
"""(N,) places among the classes."""


@dataclass(frozen=True)
class ClassTextures:
    """Decisions on the images of one class."""

    name: str
    n: int
    plain: Estimate
    synthesized: Estimate
    tiled: Estimate
    elsewhere: float
    """Share of the synthesized textures of other classes that are given this name, too."""
    solved: bool
    """Whether texture alone tells the class: see `solved_by_texture`."""


@dataclass(frozen=True)
class Example:
    """An image whose texture is decided right."""

    name: str
    pictures: tuple[Picture, Picture, Picture]
    """The image, its texture, its patches tiled, each with the decision on it."""


@dataclass(frozen=True)
class TextureOnlyResult:
    """One model's accuracy on textures."""

    n: int
    total: int
    """Images that could have been taken."""
    size: int
    """Side of the images in pixels."""
    chance: float
    plain: Estimate
    synthesized: Estimate
    tiled: Estimate
    classes: tuple[ClassTextures, ...]
    """Those that have images, the best on synthesized textures first."""
    examples: tuple[Example, ...]
    """Of the classes that are best on textures."""

    @property
    def solved(self) -> tuple[str, ...]:
        """Names of the classes that texture alone tells."""
        return tuple(one.name for one in self.classes if one.solved)


def texture_of(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """A synthesized texture of the size of a square image, out of its center and a random place."""
    side = pixels.shape[0]
    patches = example_patches(pixels, rng, max(1, round(PATCH_SHARE * side)))
    return synthesize_texture(patches, side, side, seed=int(rng.integers(2**62)))


def tiles_of(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Random patches of a square image, tiled to its size."""
    side = pixels.shape[0]
    tiles = sample_tiles(rng, side, side, patch=patch_range(side), size=(side, side))
    return tile_patches(pixels, tiles)


def solved_by_texture(decided: Classes, labels: Classes, classes: int) -> NDArray[np.bool_]:
    """(classes,): which classes texture alone tells, by decisions on textures.

    More than half of the class's textures are decided right, and textures of the class get its
    name more often than those of other classes do: Fisher's exact test, one-sided, at 5 % over the
    number of classes (Bonferroni). A model that gives all textures one name solves none.
    """
    solved = np.zeros(classes, np.bool_)
    for place in range(classes):
        own, named = labels == place, decided == place
        right = int((own & named).sum())
        chance = hypergeom.sf(right - 1, len(labels), int(named.sum()), int(own.sum()))
        solved[place] = right > SOLVED * own.sum() and chance < ERROR / classes
    return solved


def texture_accuracy(
    subject: Subject, images: Prepared, on_progress: OnProgress
) -> TextureOnlyResult:
    """Decisions on the textures of labeled images, made on the fly as the model sees them."""
    labels = images.required_labels()
    said = {
        name: subject.probabilities(
            images,
            _transform(make, subject, images),
            part_of(on_progress, number, len(_MAKERS)),
        )
        for number, (name, make) in enumerate(_MAKERS.items())
    }
    said["plain"] = subject.probabilities(images)
    decided = {name: probabilities.argmax(axis=1) for name, probabilities in said.items()}
    right = {name: one == labels for name, one in decided.items()}
    solved = solved_by_texture(decided["synthesized"], labels, len(images.classes))
    classes = []
    for place in np.unique(labels).tolist():
        own = labels == place
        kinds = {name: Estimate.share(one[own]) for name, one in right.items()}
        elsewhere = decided["synthesized"][~own] == place
        classes.append(
            ClassTextures(
                images.classes[place],
                int(own.sum()),
                **kinds,
                elsewhere=float(elsewhere.mean()) if len(elsewhere) else float("nan"),
                solved=bool(solved[place]),
            )
        )
    return TextureOnlyResult(
        n=len(images),
        total=images.total,
        size=images.pixels(0).shape[0],
        chance=1 / len(images.classes),
        **{name: Estimate.share(one) for name, one in right.items()},
        classes=tuple(sorted(classes, key=lambda one: -one.synthesized.value)),
        examples=_examples(subject, images, said),
    )


Make = Callable[[Pixels, np.random.Generator], Pixels]
_MAKERS: dict[str, Make] = {"synthesized": texture_of, "tiled": tiles_of}


def _transform(make: Make, subject: Subject, images: Prepared) -> Transform:
    return lambda pixels, position: make(pixels, _random(subject, images, position))


def _random(subject: Subject, images: Prepared, position: int) -> np.random.Generator:
    """The same for an image, whichever others are looked at."""
    return generator(subject.settings.seed, "texture only", int(images.indices[position]))


def _examples(
    subject: Subject, images: Prepared, said: dict[str, NDArray[np.float64]]
) -> tuple[Example, ...]:
    """The surest right decision on a texture of each class, the surest classes first."""
    labels = images.required_labels()
    textures = said["synthesized"]
    sure = textures[np.arange(len(labels)), labels] * (textures.argmax(axis=1) == labels)
    best = [int(np.where(labels == place, sure, -1).argmax()) for place in np.unique(labels)]
    chosen = sorted((at for at in best if sure[at] > 0), key=lambda at: -sure[at])[:EXAMPLES]
    examples = []
    for at in chosen:
        plain = images.pixels(at)
        made = {name: _transform(make, subject, images) for name, make in _MAKERS.items()}
        shown = {"plain": plain} | {name: one(plain, at) for name, one in made.items()}
        framed = [
            _decided(pixels, said[name][at], images, int(labels[at]))
            for name, pixels in shown.items()
        ]
        examples.append(Example(images.classes[labels[at]], (framed[0], framed[1], framed[2])))
    return tuple(examples)


def _decided(
    pixels: Pixels, probabilities: NDArray[np.float64], images: Prepared, label: int
) -> Picture:
    first = int(probabilities.argmax())
    caption = f"decides {images.classes[first]}, {percent(probabilities[first])} sure"
    return picture(pixels, caption, "good" if first == label else "bad")
