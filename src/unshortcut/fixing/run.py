"""Fix a model: refit its head on frozen features, and audit it before and after."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from unshortcut.data.naming import Data, data_name
from unshortcut.data.source import ImageSource
from unshortcut.errors import UsageError, unknown
from unshortcut.files import write_text
from unshortcut.fixing.changes_page import PAGE as CHANGES
from unshortcut.fixing.changes_page import write_changes
from unshortcut.fixing.cues import Cues, names_of, read_cues
from unshortcut.fixing.first_head import Frozen, load_frozen, probe_head
from unshortcut.fixing.images import FixImages, open_fix_images, was_fitted_on
from unshortcut.fixing.methods import (
    METHODS,
    Component,
    FixMethod,
    balanced_candidates,
    component_candidates,
    pasted_candidates,
    reweighted_candidates,
)
from unshortcut.fixing.outcome import Candidate, Outcome, choose
from unshortcut.fixing.pasting import WithCue, WithoutCue
from unshortcut.fixing.samples import CellAccuracies, Samples, cells_of
from unshortcut.inference.features import Features, compute_features
from unshortcut.measuring.linear_head import Head, Indices
from unshortcut.models.card import WEIGHTS_FILE
from unshortcut.models.loaded import ModelLike
from unshortcut.progress import bar
from unshortcut.result import RESULT_FILE, commit, versions, write_result
from unshortcut.transfer.saving import save_with_head
from unshortcut.transfer.task import About

if TYPE_CHECKING:
    from unshortcut.report.report import Report

PAGE = "report.html"
BEFORE, AFTER = "before", "after"
AUDITED = ("transplant", "texture_only", "frequency", "confidence", "saliency")
"""Measurements of the page, which need nothing but images."""
_README = """\
A run of `unshortcut fix`. Files in this folder:
  encoder.safetensors    the encoder, unchanged, with its refitted head, and its card encoder.json
  changes.html           the accuracy of every group before and after
  report.html            the audit of the model before and after
  result.json            accuracies before and after, and what was chosen
"""


@dataclass(frozen=True)
class FixRun:
    """A fixed model."""

    folder: Path
    outcome: Outcome
    before: CellAccuracies
    """On the test images."""
    after: CellAccuracies
    """On the test images."""
    report: "Report | None"
    """The audit of both; None if there was nothing to fix."""


def fix(
    model: ModelLike,
    data: Data,
    out: str | Path = "fixed",
    *,
    groups: str | Path | None = None,
    components: Sequence[str] = (),
    method: FixMethod | None = None,
    test: Data | None = None,
    only: Sequence[str] = AUDITED,
    seed: int = 0,
    workers: int | None = None,
    console: Console | None = None,
) -> FixRun:
    """Refit the head of a model so that it relies less on a shortcut; the encoder stays as it is.

    Settings are chosen by the accuracy of the worst group (or class, if no groups are known) on a
    half of the images that the head is refitted on; nothing is chosen on the test images.

    Args:
        model: as in `load_model`; it must have weights. A model whose head does not know the
            classes of the data gets a linear probe, which is then fixed.
        data: labeled images that the model was not fitted on. Without a split, `val` is used to
            refit and `test` to test; see `open_fix_images`.
        out: folder to write the fixed model, the audit and the result to.
        groups: CSV file with the columns image and group: which images carry a cue; with x0, y0,
            x1 and y1, where. The audit writes such a file.
        components: principal components of classes to subtract from their logits, such as
            `dog:2`; the audit shows them.
        method: `balanced` (needs groups), `pasted` (needs groups with boxes), `reweighted` (needs
            nothing) or `components`. By default what the other arguments allow, the surest first.
        test: images to test on.
        only: measurements of the audit.
    """
    shown, folder = console or Console(stderr=True), Path(out)
    if folder.is_file():
        raise UsageError(f"'{folder}' is a file; --out must be a folder")
    cues = None if groups is None else read_cues(groups)
    chosen = _method(method, cues, components)
    images = open_fix_images(data, test, seed)
    wanted = [Component.parse(text, images.classes) for text in components]
    frozen = load_frozen(model)
    work = _Fixing(frozen, images, cues, seed, workers, shown)
    if images.remark:
        shown.print(images.remark, highlight=False)
    if was_fitted_on(model, images.refit):
        shown.print(
            "The model was fitted on just these images; it errs less on them than on new ones, so "
            "that refitting finds less to fix.",
            highlight=False,
        )
    first = work.first_head()
    samples = work.samples(chosen)
    candidates = _candidates(chosen, first, wanted, images.classes, seed)
    with bar(shown, "refitting", unit="heads") as on_progress:
        outcome = choose(samples, first, candidates, seed=seed, on_progress=on_progress)
    if outcome.word == "nothing to fix":
        outcome = replace(outcome, head=first)
    tested = work.tested()
    before, after = tested.accuracies(first), tested.accuracies(outcome.head)
    report = None
    folder.mkdir(parents=True, exist_ok=True)
    if outcome.word != "nothing to fix":
        about = About(images.classes, frozen.preprocessing, _origin(chosen, outcome, seed))
        save_with_head(frozen.encoder, outcome.head.layer(), folder / WEIGHTS_FILE, about)
        report = work.audit(first, outcome.head, folder / PAGE, only)
        lists = [] if cues is None else ["--groups", cues.path.name]
        words = ["unshortcut", "fix", frozen.name, "--data", data_name(data), *lists]
        write_changes(folder / CHANGES, outcome, before, after, command=words)
        write_text(folder / "README.txt", _README)
    metrics = _metrics(chosen, outcome, before, after)
    write_result(
        folder / RESULT_FILE,
        "fix",
        metrics=metrics,
        seed=seed,
        data=images.refit_name,
        model=frozen.name,
    )
    return FixRun(folder, outcome, before, after, report)


@dataclass(frozen=True)
class _Fixing:
    """What is needed to compute features of every kind."""

    frozen: Frozen
    images: FixImages
    cues: Cues | None
    seed: int
    workers: int | None
    console: Console

    def first_head(self) -> Head:
        """The model's own head for the classes, or else a linear probe."""
        own = self.frozen.own_head(self.images.classes)
        if own is not None:
            return own
        source, name = self.images.refit, self.images.refit_name
        if self.images.probe is not None:
            source, name = self.images.probe, "the split train"
        self.console.print(
            f"{self.frozen.name} has no head for these classes: a linear probe on {name} is fixed "
            "instead.",
            highlight=False,
        )
        return probe_head(self.features(source, name), len(self.images.classes), self.seed)

    def features(self, source: ImageSource, name: str) -> Features:
        with bar(self.console, f"features of {name}", unit="images") as on_progress:
            return compute_features(
                self.frozen.features, source, workers=self.workers, on_progress=on_progress
            )

    def samples(self, method: FixMethod) -> Samples:
        """The images to refit on; for `pasted`, each without the cue and with it."""
        source = self.images.refit
        if method != "pasted":
            return self._samples([source], self._groups(source) if self.cues else None)
        assert self.cues is not None
        boxes = self.cues.boxes
        versions = [WithoutCue(source, boxes), WithCue(source, boxes, self.seed)]
        count = len(source)
        return self._samples(versions, (np.repeat([0, 1], count), ("without", "with the cue")))

    def tested(self) -> Samples:
        """The test images, with groups if the file knows any of them."""
        source = self.images.test
        known = self.cues is not None and any(name in self.cues.groups for name in names_of(source))
        return self._samples([source], self._groups(source) if known else None)

    def _groups(self, source: ImageSource) -> tuple[Indices, tuple[str, ...]]:
        assert self.cues is not None
        return self.cues.groups_of(names_of(source))

    def _samples(
        self, versions: Sequence[ImageSource], groups: tuple[Indices, tuple[str, ...]] | None
    ) -> Samples:
        found = [self.features(one, "the images") for one in versions]
        count = len(versions[0])
        rows = np.concatenate([one.indices + count * at for at, one in enumerate(found)])
        labels = np.concatenate([one.required_labels() for one in found])
        of_all, names = groups or (np.zeros(count * len(versions), dtype=np.int64), ("",))
        cells, cell_names = cells_of(labels, self.images.classes, of_all[rows], names)
        features = np.concatenate([one.values for one in found]).astype(np.float64)
        return Samples(features, labels, cells, cell_names, rows % count)

    def audit(self, first: Head, last: Head, page: Path, only: Sequence[str]) -> "Report":
        """Audit the model before and after on the test images, as one page."""
        from unshortcut.auditor import audit

        classes = self.images.classes
        models = {
            name: self.frozen.with_head(head, classes, name)
            for name, head in ((BEFORE, first), (AFTER, last))
        }
        return audit(
            models,
            self.images.test,
            classifier="head",
            only=tuple(only),
            seed=self.seed,
            workers=self.workers,
            out=page,
            console=self.console,
        )


def _method(method: FixMethod | None, cues: Cues | None, components: Sequence[str]) -> FixMethod:
    """The method to use; `UsageError` where it lacks what it needs."""
    if method is None:
        if components:
            return "components"
        if cues is None:
            return "reweighted"
        return "pasted" if cues.boxes else "balanced"
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    if method in ("balanced", "pasted") and cues is None:
        raise UsageError(f"the method '{method}' needs --groups, a CSV file of images and groups")
    if method == "pasted" and cues is not None and not cues.boxes:
        raise UsageError(
            f"the method 'pasted' needs the columns x0, y0, x1 and y1 in '{cues.path}'"
        )
    if (method == "components") != bool(components):
        raise UsageError("--components and the method 'components' belong together")
    return method


def _candidates(
    method: FixMethod,
    first: Head,
    components: Sequence[Component],
    classes: tuple[str, ...],
    seed: int,
) -> list[Candidate]:
    if method == "reweighted":
        return reweighted_candidates(first)
    if method == "components":
        return component_candidates(first, components, classes)
    if method == "pasted":
        return pasted_candidates(first)
    return balanced_candidates(len(classes), seed)


def _origin(method: FixMethod, outcome: Outcome, seed: int) -> dict[str, Any]:
    made = {"command": "fix", "method": method, "chosen": outcome.description, "seed": seed}
    return {"recipe": made, "versions": versions(), "commit": commit()}


def _metrics(
    method: FixMethod, outcome: Outcome, before: CellAccuracies, after: CellAccuracies
) -> dict[str, Any]:
    def described(one: CellAccuracies) -> dict[str, Any]:
        by_cell = dict(zip(one.names, one.by_cell().tolist(), strict=True))
        return {"accuracy": one.mean(), "worst": one.worst(), "by_group": by_cell}

    return {
        "outcome": outcome.word,
        "method": method,
        "chosen": outcome.description,
        "held_out": {
            "before": described(outcome.before),
            "after": described(outcome.after),
            "gain_of_the_worst": asdict(outcome.gain),
            "gain_of_the_mean_over_groups": asdict(outcome.balanced),
            "change_of_accuracy": asdict(outcome.change),
        },
        "test": {"before": described(before), "after": described(after)},
    }
