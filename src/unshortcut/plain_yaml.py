"""Reads YAML that contains plain values only, for recipes and `--set key=value`."""

from typing import Any

import yaml

from unshortcut.errors import UsageError


class PlainLoader(yaml.SafeLoader):
    """A loader without tags, which create objects, and aliases, which can grow without limit."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed in a recipe")
        return super().compose_node(parent, index)


def parse_set(assignment: str) -> dict[str, Any]:
    """Parse `key=value` as a mapping with one key; the value is read as YAML."""
    path, equals, text = assignment.partition("=")
    if not equals or not path:
        raise UsageError(f"--set wants key=value, got '{assignment}'")
    try:
        return {path: yaml.load(text, Loader=PlainLoader)}
    except yaml.YAMLError:
        return {path: text}
