"""An earlier audit, with which another one is compared (`--previous`)."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unshortcut.auditing.audit_files import AuditContent, read_audit_file
from unshortcut.measurements.measurement import Metric
from unshortcut.measuring.settings import Settings
from unshortcut.result import public_name

_SETTINGS = {
    "profile": "the profile",
    "max_images": "a maximum number of images of",
    "seed": "the seed",
    "aggregate": "the aggregate",
    "severities": "the severities of",
}
"""Settings that results depend on, as parts of a sentence."""


@dataclass(frozen=True)
class Difference:
    """What an earlier audit used in another way, so that its results cannot be compared."""

    what: str
    """`data`, `settings`, or an input: `conflict`, `shift`, `hierarchy`, `corrupted`, `mapping`."""
    text: str
    """A clause, such as `the previous audit used the data 'a', and this one 'b'`."""


@dataclass(frozen=True)
class PreviousAudit:
    """The result of an earlier audit."""

    name: str
    """Name of its file."""
    content: AuditContent

    def counterpart(self, model: str, models: Collection[str]) -> str | None:
        """The model that one of the present `models` is compared with.

        It has the same name, or any name if both audits have a single model.
        """
        known = list(self.content.models)
        if model in known:
            return model
        return known[0] if len(known) == len(models) == 1 else None

    def metrics(self, model: str) -> dict[str, Metric]:
        """The metrics of one of its models, by name."""
        return self.content.models[model].read_metrics()

    def without_model(self, model: str) -> str:
        """A clause that says that it has no such model."""
        return f"the previous audit has no model '{model}', but {_listed(self.content.models)}"

    def differences(
        self,
        data: str,
        settings: Settings,
        inputs: Mapping[str, str],
        num_images: int | None = None,
    ) -> tuple[Difference, ...]:
        """What it used in another way than an audit with these arguments."""
        return tuple(self._differences(data, settings, inputs, num_images))

    def _differences(
        self, data: str, settings: Settings, inputs: Mapping[str, str], num_images: int | None
    ) -> Iterator[Difference]:
        before, now = public_name(self.content.data), public_name(data)
        if before != now:
            yield _difference("data", "the data", before, now)
        elif num_images is not None and num_images != self.content.num_images:
            text = f"the previous audit had {self.content.num_images:,} images of '{now}'"
            yield Difference("data", f"{text}, and this one has {num_images:,}")
        present, earlier = plain_settings(settings), self._settings()
        for key, phrase in _SETTINGS.items():
            if key in earlier and earlier[key] != present[key]:
                yield _difference("settings", phrase, earlier[key], present[key])
        for key in ("conflict", "shift", "hierarchy", "corrupted", "mapping"):
            first, second = (
                None if one.get(key) is None else public_name(one[key])
                for one in (self.content.inputs, inputs)
            )
            if first != second:
                yield _difference(key, f"--{key}", first, second)

    def _settings(self) -> dict[str, Any]:
        """Its settings; files of version 0.1 say `full` in the place of a profile."""
        found = dict(self.content.settings)
        if "full" in found:
            found.setdefault("profile", "full" if found.pop("full") else "standard")
            if found["profile"] == "full":
                found["max_images"] = None
        return found


def read_previous(path: str | Path) -> PreviousAudit:
    """Read the JSON file of an audit; a `UsageError` if it is none."""
    return PreviousAudit(Path(path).name, read_audit_file(path))


def plain_settings(settings: Settings) -> dict[str, Any]:
    """Settings as they are written to JSON, with the limit that was in force."""
    return {
        "profile": settings.profile,
        "max_images": settings.most_images,
        "seed": settings.seed,
        "aggregate": settings.aggregate,
        "severities": settings.severities,
    }


def _difference(what: str, phrase: str, before: Any, now: Any) -> Difference:
    first, second = (_value(one) for one in (before, now))
    return Difference(what, f"the previous audit used {phrase} {first}, and this one {second}")


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return f"'{value}'" if isinstance(value, str) else f"{value:,}"


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none at all"
