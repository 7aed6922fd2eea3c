"""Commands and flags that were renamed: the error for an old name gives the new one."""

COMMANDS = {"neighbours": "neighbors"}
"""New names of commands by their old names."""

FLAGS = {
    "audit": {
        "--readout": "--classifier",
        "--images": "--max-images",
        "--full": "--profile full",
    },
    "filter": {"--double": "--keep-originals"},
    "neighbors": {"--neighbours": "--neighbors", "--images": "--query-names"},
    "reproduce": {"--readout": "--probe-data"},
    "show": {"--draws": "--samples", "--images": "--num-images"},
    "similarity": {"--images": "--num-images"},
    "texturize": {"--double": "--keep-originals"},
}
"""By command: new names of flags by their old names."""


def renamed(command: str | None, name: str) -> str | None:
    """The sentence that gives the new name of a command, or of a flag of `command`, if any."""
    new = (COMMANDS if command is None else FLAGS.get(command, {})).get(name)
    return None if new is None else f"unknown {name!r}; it is called {new!r} now"
