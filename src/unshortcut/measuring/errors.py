"""What a measurement raises where it has nothing to say."""

from unshortcut.errors import UnshortcutError


class NotApplicable(UnshortcutError):  # noqa: N818 - a state of affairs, not an error
    """A measurement that does not apply to a model or its data; the message is the reason."""
