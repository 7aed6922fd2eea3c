"""Fine-tuning for images that show several classes: loss, summed crops, score, a whole run."""

from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from sklearn.metrics import average_precision_score

from tests.small import TINY, PlainEncoder
from tests.transfer.made import QUICK, tiny_model
from unshortcut.auditor import audit
from unshortcut.augmentations.augmentation import Pipeline
from unshortcut.augmentations.random_resized_crop import RandomResizedCrop
from unshortcut.data.regions import MultiLabels
from unshortcut.data.shapes import Shapes
from unshortcut.data.source import ArrayImage, BadImageError, ImageSource
from unshortcut.errors import UsageError
from unshortcut.inference.preprocessing import Preprocessing
from unshortcut.methods.method import TrainingContext
from unshortcut.methods.step import Batch
from unshortcut.models.encoder import create_encoder
from unshortcut.models.load import load_model
from unshortcut.models.logits import compute_logits
from unshortcut.transfer.evaluation import Evaluation
from unshortcut.transfer.finetuning import finetune
from unshortcut.transfer.task import About, Example
from unshortcut.transfer.tasks.multilabel import Multilabel, MultilabelSettings, multilabel_loss
from unshortcut.transfer.views import TrainingView

CLASSES = ("red", "green", "blue")
SIDE = 16


class Colored(ImageSource):
    """Each quarter of an image is gray or has one color, and a color may be unknown."""

    def __init__(self, count: int, seed: int, bad: tuple[int, ...] = ()) -> None:
        rng = np.random.default_rng(seed)
        shown = rng.random((count, 3)) < 0.4
        self.pixels = np.full((count, SIDE, SIDE, 3), 60, np.uint8)
        self.pixels += rng.integers(0, 40, self.pixels.shape, np.uint8)
        for number, (top, left) in enumerate([(0, 0), (0, SIDE // 2), (SIDE // 2, 0)]):
            part = self.pixels[:, top : top + SIDE // 2, left : left + SIDE // 2, number]
            part[shown[:, number]] = 255
        values = shown.astype(np.int8)
        values[rng.random(values.shape) < 0.05] = -1
        self.multilabels = MultiLabels(CLASSES, values)
        self.key, self.bad = f"colored {count} {seed}", bad

    def __len__(self) -> int:
        return len(self.pixels)

    def image(self, index: int) -> ArrayImage:
        if index in self.bad:
            raise BadImageError("broken on purpose")
        return ArrayImage(self.pixels[index])

    def identity(self, index: int) -> str:
        return f"{index}.png"

    def fingerprint(self) -> str:
        return self.key


def small(settings: MultilabelSettings | None = None) -> Multilabel:
    torch.manual_seed(0)
    chosen = settings or MultilabelSettings(head_std=1.0)
    return Multilabel(PlainEncoder(), chosen, 3, TrainingContext())


def test_the_loss_is_the_sum_over_known_classes_by_hand() -> None:
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0]], dtype=torch.float64)
    values = torch.tensor([[1, 0, -1], [-1, 1, 1]], dtype=torch.int8)
    probability = torch.sigmoid(logits)
    terms = [
        -torch.log(probability[0, 0]),
        -torch.log(1 - probability[0, 1]),
        -torch.log(probability[1, 1]),
        -torch.log(probability[1, 2]),
    ]
    assert multilabel_loss(logits, values).item() == pytest.approx(sum(map(float, terms)) / 2)
    changed = logits.clone()
    changed[0, 2], changed[1, 0] = 50.0, -50.0
    assert multilabel_loss(changed, values) == multilabel_loss(logits, values)


def test_the_mean_over_classes_is_that_of_torch() -> None:
    views = torch.randn(5, 3, 4, 4, generator=torch.Generator().manual_seed(1))
    values = torch.tensor([[1, 0, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 1]]).to(torch.int8)
    batch = Batch({"image": views}, multilabel=values)
    task = small(MultilabelSettings(class_reduction="mean", head_std=1.0))
    expected = torch.nn.BCEWithLogitsLoss()(task.classifier(task.encoder(views)), values.float())
    assert task.loss(batch).loss.item() == pytest.approx(expected.item())
    assert small().loss(batch).loss.item() == pytest.approx(3 * expected.item())


def test_the_score_is_over_the_data_set_however_it_is_added() -> None:
    rng = np.random.default_rng(2)
    logits = rng.standard_normal((30, 3)).astype(np.float32)
    values = rng.choice(np.array([1, 0, -1], np.int8), (30, 3), p=[0.4, 0.5, 0.1])
    score = small().score()
    for part in (slice(0, 7), slice(7, 30)):
        examples = [Example(multilabel=one) for one in values[part]]
        score.add(list(logits[part]), examples)
    found = score.result()
    expected = [
        average_precision_score(truth[truth >= 0], one[truth >= 0])
        for truth, one in zip(values.T, logits.T, strict=True)
    ]
    assert found["map"] == pytest.approx(100 * np.mean(expected))
    assert found["map_mean_over_batches"] == pytest.approx(found["map"]), "30 images: one batch"
    assert found["map_interpolated"] >= found["map"]
    with pytest.raises(UsageError, match="not known which classes"):
        small().score().result()


def test_scores_of_random_crops_are_summed() -> None:
    """Each image keeps its own crops, whatever it shares a batch with and whatever is bad."""
    view = TrainingView(Pipeline([RandomResizedCrop(4, (0.1, 0.5))]))
    task, ready = small(), Preprocessing(size=4)
    source = Colored(9, 3)
    evaluation = Evaluation(source, view, ready, crops=3, workers=0)
    views, _ = evaluation.read(5)
    assert len(views) == 3
    assert not (views[0] == views[1]).all()
    pixels = torch.from_numpy(np.stack(views)) / 255
    images = ((pixels - torch.tensor(ready.mean)) / torch.tensor(ready.std)).permute(0, 3, 1, 2)
    by_hand = task.classifier(task.encoder(images)).sum(0).detach().numpy()
    assert evaluation.predict(task, 5) == pytest.approx(by_hand, abs=1e-4)

    kept = [index for index in range(9) if index != 4]
    assert source.multilabels is not None
    score = task.score()
    score.add(
        [evaluation.predict(task, index) for index in kept],
        [Example(multilabel=source.multilabels.values[index]) for index in kept],
    )
    with pytest.warns(UserWarning, match="1 of 9 images cannot be read"):
        found = Evaluation(Colored(9, 3, bad=(4,)), view, ready, crops=3, workers=0).score(task)
    assert found == pytest.approx(score.result(), abs=1e-3)


def test_a_run_learns_which_colors_images_show(tmp_path: Path) -> None:
    sets = [
        *QUICK,
        "schedule={steps: 40, head_first: 0}",
        "data={batch_size: 16, validation: 0.2, workers: 0}",
        "optimizer.lr=0.01",
        "train.encoder_lr=1.0",
        "views.augmentations=[{name: random_resized_crop, scale: [0.8, 1.0]}]",
        "task.crops=2",
        "training.checkpoint_steps=1000",
    ]
    model = tiny_model(tmp_path, size=SIDE)
    run = finetune(
        model,
        Colored(96, 0),
        "multilabel",
        tmp_path / "run",
        tests={"test": Colored(60, 1)},
        sets=sets,
        console=Console(quiet=True),
    )
    assert run.metrics["test map"] > 80, "chance is about 40"
    assert {"test map_11pt", "test map_mean_over_batches", "validation map"} <= set(run.metrics)
    loaded = load_model(str(run.folder))
    assert loaded.multilabel and loaded.classes == CLASSES
    assert loaded.logits is not None


def test_an_audit_does_not_take_several_labels_for_one(tmp_path: Path) -> None:
    """The head has the classes of the images, so that a softmax would be taken for an answer."""
    images = Shapes("test", size=SIDE, count=40)
    task = Multilabel(create_encoder(TINY, 0), MultilabelSettings(), 8, TrainingContext())
    about = About(images.classes, Preprocessing(size=SIDE))
    task.save(tmp_path / "encoder.safetensors", about)
    quiet = Console(quiet=True)
    request = {"only": ["confidence"], "train": Shapes("train", size=SIDE, count=40)}
    report = audit(tmp_path, images, console=quiet, **request)
    (values,) = report.to_dict()["models"].values()
    assert values["classifier"].startswith("a linear probe")
    with pytest.raises(UsageError, match="its head is for several classes per image"):
        audit(tmp_path, images, console=quiet, classifier="head", only=["confidence"])
    loaded = load_model(tmp_path)
    with pytest.raises(UsageError, match="is for several classes per image"):
        compute_logits(loaded, images)
    task.eval()
    batch = torch.randn(2, 3, SIDE, SIDE)
    assert loaded.logits is not None
    torch.testing.assert_close(loaded.logits(batch), task.classifier(task.encoder(batch)))


def test_what_the_task_needs_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="task 'multilabel' needs to know which classes each"):
        MultilabelSettings().classes(Shapes("train", size=16, count=4))
    with pytest.raises(UsageError, match="'crops' must be an integer of at least 1, got 0"):
        MultilabelSettings(crops=0)
    assert MultilabelSettings().classes(Colored(4, 0)) == CLASSES
    assert MultilabelSettings(crops=10).crops == 10
