"""The page of carriers: every cue, the images that carry it, and what they are worth without it."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from markupsafe import Markup

from unshortcut.files import write_text
from unshortcut.fixing.carrier_list import Carrier, Carriers, Cue
from unshortcut.measuring.exhibits import Column, Exhibit, Note, Picture, Pictures, Table, picture
from unshortcut.measuring.wording import percent
from unshortcut.report.shell import ENVIRONMENT, render_page
from unshortcut.result import public_name

SHOWN = 12
"""Carriers of a cue that are shown."""
DEFINITION = (
    "The patches are those that take decisions with them in the transplant of the audit. What is "
    "the same in the best matches of a patch within its class is its steady part: a tag without "
    "what is around it. It is searched in every image by normalized cross-correlation, in three "
    "sizes and at every place. An image carries the cue if the correlation lies five robust "
    "standard deviations above the median of the images of other classes. A patch that occurs in "
    "fewer than three images of its class, or more often in other classes, is no cue of the data "
    "and is left out. To see what the cue is "
    "worth, it is filled from its surroundings in the test images that carry it. Intervals are "
    "Wilson's, 95 %."
)


def write_page(found: Carriers, path: Path, *, model: str, data: str) -> None:
    """Write the page of the carriers of a model in its data."""
    template = ENVIRONMENT.get_template("exhibits.html.j2")
    exhibits = Markup(template.render(exhibits=_exhibits(found), colors={}))  # escaped there
    command = ["unshortcut", "carriers", public_name(model), "--data", public_name(data)]
    page = render_page(
        "plain.html.j2",
        plots=False,
        title="Which images carry the cue?",
        brand="carriers",
        lead=f"{len(found.carriers)} of {found.num_images} images of {public_name(data)} carry "
        f"something that {public_name(model)} goes by.",
        sentences=[(one.name, _sentence(one)) for one in found.cues],
        exhibits=exhibits,
        definition=DEFINITION,
        command=shlex.join([*command, "--page", path.name]),
    )
    write_text(path, page)


def cue_picture(cue: Cue) -> Picture:
    """The steady part of a patch; what does not belong to it is gray."""
    template = cue.template
    shown = np.where(template.mask[:, :, None], template.pixels, 128).astype(np.uint8)
    large = cv2.resize(shown, None, fx=4, fy=4, interpolation=cv2.INTER_NEAREST)
    return picture(np.asarray(large, dtype=np.uint8), f"{cue.name}, cut from {cue.patch.image}")


def _sentence(cue: Cue) -> str:
    carried = sum(count for count, _ in cue.counts.values())
    return (
        f"is in {carried} images. On test images of '{cue.patch.label}' the model is right in "
        f"{percent(cue.carried.value)} of those that carry it, in {percent(cue.filled.value)} of "
        f"the same images without it, and in {percent(cue.without.value)} of the others."
    )


def _exhibits(found: Carriers) -> Sequence[Exhibit]:
    if not found.cues:
        text = "patches of the audit takes decisions with it and occurs in other images."
        return [Note(f"None of {found.tried} {text}")]
    shown: list[Exhibit] = [
        Pictures(
            "What was searched",
            tuple((one.name, (cue_picture(one),)) for one in found.cues),
            caption="Gray pixels differ from image to image and do not count.",
        ),
    ]
    columns = (
        Column("Cue"),
        Column("Split"),
        Column("Class"),
        Column("Carriers"),
        Column("Images"),
        Column("Share", percent=True),
    )
    rows = [
        (cue.name, split, label, carried, total, carried / total)
        for cue in found.cues
        for (split, label), (carried, total) in sorted(
            cue.counts.items(), key=lambda entry: -entry[1][0] / entry[1][1]
        )
    ]
    shown.append(Table("Carriers by split and class", columns, rows))
    for cue in found.cues:
        own = [one for one in found.carriers if one.group == cue.name and one.crop is not None]
        # The best matches, and those just above the threshold, where mistakes would be.
        few = [*own[: SHOWN // 2], *own[-SHOWN // 2 :]] if len(own) > SHOWN else own
        cells = tuple(_picture(one) for one in few)
        title = f"Images that carry {cue.name}: the surest, and the least sure"
        shown.append(Pictures(title, (("", cells),) if cells else ()))
    if found.unreadable:
        shown.append(Note(f"{found.unreadable} images could not be read.", warning=True))
    return shown


def _picture(one: Carrier) -> Picture:
    assert one.crop is not None
    return picture(one.crop, f"{one.label}, {one.score:.2f}: {one.image}")
