"""Pictures of a run of fine-tuning: what the network sees in training, and what it predicts."""

from collections.abc import Sequence

from PIL import Image as PillowImage

from unshortcut.data.regions import Regions
from unshortcut.data.source import AnnotatedImage
from unshortcut.transfer.data import TaskData
from unshortcut.transfer.evaluation import Evaluation
from unshortcut.transfer.task import Task
from unshortcut.transfer.views import TrainingView
from unshortcut.views.annotation_sheet import class_names, region_sheet, sample_images
from unshortcut.views.sheet import view_sheet

_IMAGES = 8


def training_sheet(data: TaskData, view: TrainingView, seed: int) -> PillowImage.Image:
    """Images with the views of them that the network is trained on, boxes and masks drawn."""
    source = data.train
    if source.box_classes is None and source.mask_classes is None:
        return view_sheet(source, view, seed)
    images, regions = [], []
    for one in sample_images(source, seed, _IMAGES):
        annotated = source.image(one.index)
        views = view(AnnotatedImage(annotated, source.regions(one.index)), seed, 0, one.index)
        assert views.regions is not None
        images.append(views["image"])
        regions.append(views.regions)
    return region_sheet(images, regions, class_names(source))


def prediction_sheet(
    evaluation: Evaluation,
    task: Task,
    classes: Sequence[str],
    *,
    seed: int = 0,
    num_images: int = _IMAGES,
) -> PillowImage.Image:
    """Images with what a task predicts for them, beside their annotations.

    Annotations of other classes than those of the task are left out.
    """
    source = evaluation.source
    sampled = sample_images(source, seed, num_images)
    names = task.class_names(classes)
    predicted = [task.drawn(evaluation.predict(task, one.index)) for one in sampled]
    known = class_names(source)
    same_boxes, same_masks = known.boxes == names.boxes, known.masks == names.masks
    regions = [
        Regions(
            *((r.boxes, r.box_labels, r.ignored) if same_boxes else (None, None, None)),
            mask=r.mask if same_masks else None,
        )
        for r in (one.regions for one in sampled)
    ]
    return region_sheet(
        [one.pixels for one in sampled],
        regions,
        names,
        predictions=[shown for shown, _ in predicted],
        scores=[scores for _, scores in predicted],
        captions=[one.caption for one in sampled],
    )
