"""Findings with everything that a page can show, and with hostile names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unshortcut.auditing.findings import Entry, Findings, ModelInfo
from unshortcut.measurements.measurement import Finding, Measurement, Metric
from unshortcut.measuring.errors import NotApplicable
from unshortcut.measuring.estimates import Estimate
from unshortcut.measuring.exhibits import (
    MODEL,
    Cell,
    Column,
    Exhibit,
    Note,
    Picture,
    Pictures,
    Plot,
    Table,
    picture,
)
from unshortcut.measuring.glance import Axis, AxisMark, GlancePart, TellingPicture
from unshortcut.measuring.plots import Bars, Curve, bars, curves
from unshortcut.measuring.settings import Settings
from unshortcut.measuring.subjects.subject import Subject
from unshortcut.progress import OnProgress

SCRIPT = "<script>alert(1)</script>"
IMAGE = '<img src=x onerror="alert(2)">'
LINK = '<a href="javascript:alert(3)">press</a>'
CLOSING = '</script><svg onload="alert(4)">&amp;\u2028'
HOSTILE = (SCRIPT, IMAGE, LINK, CLOSING)
LONG = "runs/" + "a-very-long-name-of-a-run-that-somebody-gave-" * 3 + "final"
GOOD, PLAIN = "timm:resnet50", "moco-v2-patch-a2-k8192"
MODELS = (GOOD, PLAIN, f"{LONG}{LINK}")
COLOR_NOTE = "Frost and snow are drawn here, so that it cannot be compared with published numbers."


@dataclass(frozen=True)
class Shares:
    """The result of the measurements in this file: a share and its interval."""

    share: float
    low: float
    high: float
    n: int = 1200


class Example(Measurement[Shares]):
    """The common parts of the measurements; `measure` is never called."""

    definition = (
        "Decisions for the shape over decisions for the shape or the texture, on images whose "
        "cues disagree (Geirhos et al. 2019, section 2).\nImages whose cues agree are left out."
    )
    result = Shares

    def measure(self, subject: Subject, on_progress: OnProgress) -> Shares:
        raise NotApplicable("only shown")

    def metrics(self, result: Shares, baseline: Shares | None) -> dict[str, Metric]:
        return {self.name: Metric(self.title, result.share, result.low, result.high)}

    def exhibits(self, results: Mapping[str, Shares], baseline: Shares | None) -> list[Exhibit]:
        return []


class ShapeBias(Example):
    name, title, order = "shape_bias", "Shape against texture", 10
    question = "Where shape and texture disagree, which of them decides?"

    def metrics(self, result: Shares, baseline: Shares | None) -> dict[str, Metric]:
        def metric(label: str, value: float, **more: object) -> Metric:
            return Metric(label, value, value - 0.03, value + 0.03, **more)  # type: ignore[arg-type]

        note = "Of 812 decisions only." if result.share < 0.5 else ""
        return {
            "shape_bias": metric("Shape bias", result.share, better="higher", note=note),
            "shape_accuracy": metric("Accuracy on shape", result.share / 2, headline=False),
            "coverage": Metric("Coverage", float("nan")),
        }

    def exhibits(self, results: Mapping[str, Shares], baseline: Shares | None) -> Sequence[Exhibit]:
        classes = ("airplane", "bear", *HOSTILE, "keyboard", LONG)
        random = np.random.default_rng(0)
        heights = {name: random.uniform(0.1, 0.8, len(classes)) for name in results}
        series = {
            name: Bars(list(at), list(at - 0.05), list(at + 0.05)) for name, at in heights.items()
        }
        columns = (Column("Class"), Column("Images"), Column("Shape", percent=True, tip="A share"))
        more = (Column("Margin"), Column("Far", digits=1))
        rows: list[tuple[Cell, ...]] = [
            (name, 75 + 1000 * at, at / 9, 0.5 - at, -at * 1234.5)
            for at, name in enumerate(classes)
        ]
        rows.append(("nothing", None, float("nan"), None, None))
        return (
            Note("A model that knows neither cue has a shape bias all the same: see the coverage."),
            Plot(
                "Shape bias by class",
                bars(classes, series, "shape bias", levels={"all classes": 0.4}),
                "Bars are 95 % intervals.",
            ),
            Table("By class", (*columns, *more), tuple(rows), f"The worst is {SCRIPT}."),
            Table(
                "Decisions",
                (MODEL, Column("Images")),
                tuple((name, one.n) for name, one in results.items()),
            ),
            Table(
                "All classes",
                (Column("Class"), Column("Shape bias", percent=True)),
                tuple((f"class {at}", (37 * at % 100) / 100) for at in range(100)),
                folded=True,
            ),
        )

    def finding(self, result: Shares) -> Finding | None:
        share = 1 - result.share
        text = f"decides by texture in {100 * share:.0f} % of conflicts"
        return Finding(text, share, "decides mostly by texture") if share > 0.25 else None

    def glance(self, results: Mapping[str, Shares]) -> Sequence[GlancePart]:
        return (
            Axis(
                "texture",
                "shape",
                "decisions by shape",
                {name: Estimate(one.share, one.low, one.high) for name, one in results.items()},
                marks=(AxisMark("humans", 0.96), AxisMark(SCRIPT, 0.3)),
            ),
            TellingPicture(
                "decided by texture",
                {name: picture(_pixels(at), IMAGE) for at, name in enumerate(results) if at != 1},
                "no conflict decided by texture",
            ),
        )


class Corruptions(Example):
    name, title, order = "corruptions", "Corruptions", 50
    question = "How much does it lose when images are noisy, blurred or badly stored?"

    def metrics(self, result: Shares, baseline: Shares | None) -> dict[str, Metric]:
        error = 100 * (1 - result.share)
        return {
            "mce": Metric(
                "Mean corruption error", error, error - 2, error + 2,
                percent=False, better="lower", note=COLOR_NOTE,
            ),
        }  # fmt: skip

    def exhibits(self, results: Mapping[str, Shares], baseline: Shares | None) -> Sequence[Exhibit]:
        severities = [1, 2, 3, 4, 5]
        lines = {}
        for name, one in results.items():
            for kind, dash in (("noise", None), ("blur", "dash"), ("weather", "dot")):
                y = [one.share * 0.9**at - 0.02 * len(kind) for at in severities]
                lines[f"{name}, {kind}"] = Curve(
                    severities, y, [at - 0.02 for at in y], [at + 0.02 for at in y], dash, name
                )
        figure = curves(lines, "severity", "accuracy", levels={"chance": 0.1})
        return (
            Note(f"An image could not be read: {IMAGE}.jpg", warning=True),
            Plot("Accuracy by severity", figure, "As severe as ImageNet-C."),
        )

    def finding(self, result: Shares) -> Finding | None:
        return Finding("loses 41 points under noise", 0.4) if result.share < 0.5 else None


class Neighbors(Example):
    name, title, order = "neighbors", "Nearest neighbors", 120
    question = "Which images does it take for the same?"

    def metrics(self, result: Shares, baseline: Shares | None) -> dict[str, Metric]:
        return {}

    def exhibits(self, results: Mapping[str, Shares], baseline: Shares | None) -> Sequence[Exhibit]:
        def sheet(start: int, captions: Sequence[str]) -> tuple[Picture, ...]:
            marks = ("good", "bad", "")
            return tuple(
                picture(_pixels(start + at), caption, marks[at % 3])
                for at, caption in enumerate(captions)
            )

        titles = ("val/cat/0001.png", "nearest", "second", "third", "fourth", "fifth")
        rows = tuple((name, sheet(7 * at, titles)) for at, name in enumerate(results))
        return (
            Pictures("Side by side", rows, titles, "The same query for all models."),
            Pictures("Loose", ((SCRIPT, sheet(50, [*HOSTILE, *titles])),)),
            Pictures("Large", (("", (picture(_pixels(3, 200, 320), LINK, side=320),)),)),
        )


class Broken(Example):
    name, title, order = "broken", "Cannot be shown", 200
    question = "What happens to a measurement that raises while it is shown?"

    def exhibits(self, results: Mapping[str, Shares], baseline: Shares | None) -> list[Exhibit]:
        raise ValueError(f"no class is called {SCRIPT}")

    def glance(self, results: Mapping[str, Shares]) -> Sequence[GlancePart]:
        raise ValueError("nothing to see")


class Saliency(Example):
    name, title, order = "saliency", "Where it looks", 40
    question: ClassVar[str] = "Which part of the image decides?"

    def glance(self, results: Mapping[str, Shares]) -> Sequence[GlancePart]:
        return (Axis("patch", "whole", "decisions that stay"),)


def findings(models: Sequence[str] = MODELS, only: Sequence[str] = ()) -> Findings:
    """Findings that an audit of a few models could have."""
    parts: list[Measurement] = [ShapeBias(), Saliency(), Corruptions(), Neighbors(), Broken()]
    known = {one.name: one for one in parts if not only or one.name in only}
    shares = (0.24, 0.61, 0.81)

    def entry(measurement: str, place: int) -> Entry:
        if measurement == "saliency":
            kinds = ("not applicable", "failed")
            reasons = ("an ONNX file has no gradients", f"RuntimeError: no layer {SCRIPT}")
            return Entry(kinds[place % 2], reason=reasons[place % 2])  # type: ignore[arg-type]
        share = shares[place]
        result = Shares(share, share - 0.03, share + 0.03)
        return Entry("done", result, seconds=0.31 + 77 * place, cached=place == 1)

    return Findings(
        measurements=known,
        models={
            name: ModelInfo(f"its own head of {1000 + at} classes", 64 * (at + 1))
            for at, name in enumerate(models)
        }
        | ({"broken.onnx": ModelInfo("", 0, "not an ONNX file")} if len(models) > 1 else {}),
        entries={
            one: {name: entry(one, at) for at, name in enumerate(models)} for one in known
        },
        data="shapes@test",
        num_images=1234,
        settings=Settings(),
        inputs={"conflict": f"/somewhere/secret/{SCRIPT.replace('/', '')}"},
        baseline=models[0],
        warnings=("3 images cannot be read: cat/a.jpg", f"{IMAGE}.jpg cannot be read"),
        command="unshortcut audit /somewhere/secret/run 'b c' --data shapes --only shape_bias",
    )  # fmt: skip


def _pixels(seed: int, height: int = 64, width: int = 64) -> np.ndarray:
    random = np.random.default_rng(seed)
    small = random.integers(0, 255, (4, 4, 3), dtype=np.uint8)
    return np.kron(small, np.ones((height // 4, width // 4, 1), dtype=np.uint8))
