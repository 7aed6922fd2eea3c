"""Copy shards: each tar file of samples becomes a tar file of the same name."""

import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from unshortcut.build.copy_settings import CopySettings
from unshortcut.build.destination import Writer
from unshortcut.build.inputs import Shards
from unshortcut.build.job import Job, Outcome, attempt, is_outdated
from unshortcut.data.decode import EncodedImage
from unshortcut.data.failures import Failure
from unshortcut.data.shards import sample_key
from unshortcut.data.tarfile_source import Member, index_tar, read_range
from unshortcut.data.tree import IMAGE_EXTENSIONS
from unshortcut.errors import UsageError


@dataclass(frozen=True)
class ShardSample:
    """The members of a shard that share a key; the first image among them is the sample's image."""

    key: str
    members: tuple[Member, ...]
    """In their order in the shard."""

    @property
    def image(self) -> Member | None:
        images = (m for m in self.members if _ending(self, m).lower() in IMAGE_EXTENSIONS)
        return next(images, None)


class ShardJob(Job):
    """Copies shards; a unit is a shard, which is visible only once it is complete.

    Only the image of a sample is replaced; its other members, and samples without an image, are
    kept. A sample whose image cannot be read is left out.
    """

    def __init__(self, shards: Shards, settings: CopySettings, writer: Writer) -> None:
        super().__init__(writer)
        self.settings = settings
        self.copies = 2 if settings.keep_originals else 1
        self.shards = shards

    def __len__(self) -> int:
        return len(self.shards)

    def num_images(self) -> int:
        """Estimated from the first readable shard; reading all of them would take too long."""
        for path in self.shards.paths:
            samples = attempt(path.name, partial(read_samples, path))
            if not isinstance(samples, Failure):
                return len(self) * sum(sample.image is not None for sample in samples)
        return 0

    def size(self, unit: int) -> int | None:
        return self.shards.paths[unit].stat().st_size

    def check(self) -> None:
        pass  # open_inputs rejects shards with the same name, `run` members with the same name

    def earlier(self, unit: int) -> Outcome | None:
        path = self.shards.paths[unit]
        target = self.writer.destination / path.name
        if not target.is_file() or is_outdated(target.stat().st_mtime_ns, path.stat().st_mtime_ns):
            return None
        there = attempt(path.name, lambda: {member.name for member in index_tar(target)})
        samples = attempt(path.name, partial(read_samples, path))
        if isinstance(there, Failure) or isinstance(samples, Failure):
            return None
        made, failures = 0, []
        for sample in samples:
            if sample.image is None:
                continue
            if self._copy_name(sample, sample.image) in there:
                made += 1
                continue
            # The image could not be read then; if it can be read now, the shard is made again.
            again = self._make(path, sample)
            if not isinstance(again, Failure):
                return None
            failures.append(again)
        return Outcome(made=made, failures=tuple(failures))

    def run(self, unit: int) -> Iterator[Outcome]:
        path = self.shards.paths[unit]
        samples = attempt(path.name, partial(read_samples, path))
        if isinstance(samples, Failure):
            yield Outcome(seen=1, failures=(samples,))
            return
        self._check_names(path, samples)
        made, failures = 0, []
        with self.writer.open(path.name) as aside, aside.open("wb") as file:
            with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
                for sample in samples:
                    contents = self._make(path, sample)
                    if isinstance(contents, Failure):
                        failures.append(contents)
                        yield Outcome(seen=1)
                        continue
                    for name, content in zip(self._names(sample), contents, strict=True):
                        _add(archive, name, content)
                    if sample.image is not None:
                        made += 1
                        yield Outcome(seen=1)
            file.flush()
            os.fsync(file.fileno())
        yield Outcome(made=made, failures=tuple(failures))

    def _names(self, sample: ShardSample) -> list[str]:
        """The names of the members written for a sample; kept originals come first."""
        originals = [member.name for member in sample.members]
        image = sample.image
        if image is None:
            return originals
        marked = self.settings.marked_key(sample.key)
        copies = [
            self._copy_name(sample, image)
            if member == image
            else marked + member.name[len(sample.key) :]
            for member in sample.members
        ]
        return originals + copies if self.settings.keep_originals else copies

    def _make(self, path: Path, sample: ShardSample) -> list[bytes] | Failure:
        """The contents of the members, in the order of `_names`."""
        image = sample.image
        name = os.fsencode((image or sample.members[0]).name).decode(errors="replace")
        identity = f"{path.name}/{name}"

        def make() -> list[bytes]:
            originals = [read_range(path, m.offset, m.size) for m in sample.members]
            if image is None:
                return originals
            index = sample.members.index(image)
            copy = self.settings.copy(EncodedImage(originals[index]).pixels(), identity)
            encoded = self.settings.encode(copy, self._copy_name(sample, image))
            copies = [*originals[:index], encoded, *originals[index + 1 :]]
            return originals + copies if self.settings.keep_originals else copies

        return attempt(identity, make)

    def _copy_name(self, sample: ShardSample, image: Member) -> str:
        return self.settings.member_name(sample.key, _ending(sample, image))

    def _check_names(self, path: Path, samples: list[ShardSample]) -> None:
        """Raise `UsageError` if two members would have the same name."""
        known: set[str] = set()
        for name in (name for sample in samples for name in self._names(sample)):
            if name in known:
                raise UsageError(
                    f"two members of {path.name} would be called {name}: rename one in the source "
                    "or choose another --format"
                )
            known.add(name)


def read_samples(path: Path) -> list[ShardSample]:
    """The samples of a shard in the order of their first members."""
    members: dict[str, list[Member]] = {}
    for member in index_tar(path):
        members.setdefault(sample_key(member.name), []).append(member)
    return [ShardSample(key, tuple(group)) for key, group in members.items()]


def _ending(sample: ShardSample, member: Member) -> str:
    return member.name[len(sample.key) + 1 :]


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a member without time and owner, so that the bytes are reproducible."""
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))
