"""The exception of a measurement that does not apply."""

from unshortcut.errors import UnshortcutError


class NotApplicable(UnshortcutError):  # noqa: N818 - not a failure
    """A measurement does not apply to a model or its data; the message gives the reason."""
