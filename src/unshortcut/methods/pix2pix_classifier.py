"""A classifier that sees photographs and what a generator makes of them, trained end to end.

Section 2.3.2 and figure 2.3 of the dissertation (Pix2Pix-Anisotropic): the generator is trained
alone by `pix2pix`, then together with the classifier, on labels.
"""

from collections.abc import Iterator
from dataclasses import field

from torch import Tensor, nn
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.fields import NonNegativeNumber
from unshortcut.methods.alternating import Turn
from unshortcut.methods.classification import build_classifier, classifier_and_labels
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.optimization import OptimizerSettings
from unshortcut.methods.pix2pix import Translation, TranslationSettings
from unshortcut.methods.step import Batch, DeviceBatch
from unshortcut.models.encoder import Encoder
from unshortcut.parts import settings
from unshortcut.translation.generator import GeneratorSettings
from unshortcut.translation.trained import load_weights_into


def _published() -> OptimizerSettings:
    """Pix2Pix's optimizer."""
    return OptimizerSettings(
        name="adam", lr=2e-4, weight_decay=0.0, options={"betas": [0.5, 0.999]}
    )


@settings
class Pix2PixClassifierSettings(TranslationSettings):
    """The weights of the losses are ours; the dissertation does not state its own."""

    name = "pix2pix_classifier"
    has_classifier = True

    weights: str = ""
    """The Pix2Pix run to start from: its folder, or its file `generator.safetensors`."""
    generated: NonNegativeNumber = 1.0
    """Weight of the cross-entropy of generated images, relative to that of photographs."""
    classification: NonNegativeNumber = 1.0
    """Weight of the classification in the generator's loss; 0 trains the two side by side."""
    generator_optimizer: OptimizerSettings = field(default_factory=_published)
    """Of generator and discriminator; the recipe's `optimizer` is that of the classifier."""

    def build(
        self, encoder: Encoder, training: TrainingContext | None = None
    ) -> "Pix2PixClassifier":
        # The generator pads images of other sizes than it was trained on, as the filter does.
        generator = self.generator.fitted(None if training is None else training.size)
        return Pix2PixClassifier(self, generator, encoder, training)

    def check(self, batch: DeviceBatch) -> None:
        if not self.weights:
            raise UsageError(
                f"method '{self.name}' starts from a trained generator: set method.weights to the "
                "folder of a Pix2Pix run"
            )


class Pix2PixClassifier(Translation):
    """Cross-entropy on the photograph and on the generated image, in two passes of the encoder.

    The encoder is trained by CE(photo) + generated · CE(generated), and the generator by
    gan · GAN + l1 · L1 + classification · generated · CE(generated). Encoder and classifier are
    exported as those of a supervised run, and the generator as that of a Pix2Pix run.
    """

    def __init__(
        self,
        settings: Pix2PixClassifierSettings,
        generator: GeneratorSettings,
        encoder: Encoder,
        training: TrainingContext | None = None,
    ) -> None:
        super().__init__(settings, generator, encoder, training)
        self.joint = settings
        self.classifier = build_classifier(encoder, self.training_context, settings.name)
        if self.training_context.num_images is not None and settings.weights:
            load_weights_into(self.generator, generator, settings.weights)

    def networks(self) -> dict[str, tuple[nn.Module, OptimizerSettings]]:
        trained = [self.encoder, *([] if self.classifier is None else [self.classifier])]
        found: dict[str, tuple[nn.Module, OptimizerSettings]] = {
            "classifier": (nn.ModuleList(trained), self.training_context.optimizer),
            "generator": (self.generator, self.joint.generator_optimizer),
        }
        if self.discriminator is not None:
            found["discriminator"] = (self.discriminator, self.joint.generator_optimizer)
        return found

    def turns(self, batch: Batch) -> Iterator[Turn]:
        classifier, label = classifier_and_labels(self.classifier, batch, self.joint.name)
        photo, target = self.signed(batch.views["input"]), self.signed(batch.views["target"])
        generated = self.generator(photo)
        yield from self.discriminator_turns(photo, generated, target)
        loss, metrics = self.translation_loss(photo, generated, target)
        features = self.encoder(batch.views["input"])  # (N, C)
        # A gradient of `classification` times its size reaches the generator.
        seen = _scale_gradient(generated, self.joint.classification)
        logits = {
            "photo": classifier(features),
            "generated": classifier(self.encoder(self.normalized(seen))),
        }  # (N, classes)
        entropy = {name: F.cross_entropy(values, label) for name, values in logits.items()}
        loss = loss + entropy["photo"] + self.joint.generated * entropy["generated"]
        for name, values in logits.items():
            ending = "" if name == "photo" else f"_{name}"
            metrics[f"cross_entropy{ending}"] = entropy[name].detach()
            metrics[f"accuracy{ending}"] = (values.argmax(dim=1) == label).float().mean()
        embeddings = F.normalize(features.detach(), dim=1)
        yield Turn(("classifier", "generator"), loss, metrics, embeddings)

    @property
    def linear_classifier(self) -> nn.Linear | None:
        return self.classifier

    def embed(self, images: Tensor) -> Tensor:
        """Unit features, the space in which the classifier is linear."""
        return F.normalize(self.encoder(images), dim=1)


def _scale_gradient(x: Tensor, factor: float) -> Tensor:
    """x itself, whose gradient is multiplied by a factor."""
    return factor * x + (1 - factor) * x.detach()
