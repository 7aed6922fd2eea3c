"""How files were made is read as it was written: qualities, subsampling, EXIF data, formats."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from unshortcut.properties.file_facts import file_facts
from unshortcut.properties.jpeg_file import jpeg_file

PIXELS = np.random.default_rng(0).integers(0, 256, (24, 40, 3), dtype=np.uint8)


def encoded(kind: str = "JPEG", mode: str = "RGB", **options: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(PIXELS).convert(mode).save(file, kind, **options)
    return file.getvalue()


def test_the_quality_of_every_standard_table_is_found() -> None:
    assert [jpeg_file(encoded(quality=q)).quality for q in range(1, 101)] == list(range(1, 101))


def test_a_table_that_differs_by_rounding_has_the_nearest_quality() -> None:
    image = Image.open(io.BytesIO(encoded(quality=75)))
    tables = image.quantization  # type: ignore[attr-defined]
    tables[0][5] += 1
    assert jpeg_file(encoded(qtables=tables)).quality == 75


def test_other_tables_have_a_hash_and_no_quality() -> None:
    flat = jpeg_file(encoded(qtables=[[9] * 64, [9] * 64]))
    other = jpeg_file(encoded(qtables=[[30] * 64, [9] * 64]))
    assert flat.quality is None and other.quality is None
    assert len({flat.table, other.table, jpeg_file(encoded(quality=80)).table}) == 3


@pytest.mark.parametrize(("number", "name"), [(0, "4:4:4"), (1, "4:2:2"), (2, "4:2:0")])
def test_chroma_subsampling(number: int, name: str) -> None:
    assert jpeg_file(encoded(subsampling=number)).subsampling == name
    assert jpeg_file(encoded(mode="L")).subsampling == "gray"


def test_camera_and_software_come_from_exif_data() -> None:
    tags = Image.Exif()
    tags[0x010F], tags[0x0110], tags[0x0131] = "Canon", "Canon EOS 5D", "Editor 3"
    facts = file_facts(encoded(exif=tags))
    assert (facts.camera, facts.software, facts.has_exif) == ("Canon EOS 5D", "Editor 3", True)
    plain = file_facts(encoded())
    assert (plain.camera, plain.software, plain.has_exif) == ("", "", False)
    png = file_facts(encoded("PNG", exif=tags))
    assert (png.format, png.camera, png.jpeg) == ("PNG", "Canon EOS 5D", None)


def test_broken_exif_data_do_not_stop_the_inspection() -> None:
    facts = file_facts(encoded(exif=b"Exif\x00\x00MM\x00*\xff\xff\xff\xff rubbish"))
    assert facts.has_exif and facts.camera == ""


@pytest.mark.parametrize("size", [0, 3, 12, 40, 300])
def test_a_header_that_ends_early_is_read_as_far_as_it_goes(size: int) -> None:
    assert jpeg_file(encoded()[:size]).exif == b""
