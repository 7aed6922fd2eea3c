"""The command `unshortcut`; a file of this folder with a function `command` is a subcommand.

`GROUP` in such a file is the panel of `unshortcut --help` in which the command is listed.
"""

import importlib
import pkgutil
import sys
import warnings
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from unshortcut.cli.renamed import renamed
from unshortcut.errors import UnshortcutError, UsageError

_GROUPS = ("Train", "Evaluate", "Data", "Papers")
"""Order of the panels in `unshortcut --help`."""

app = typer.Typer(
    name="unshortcut",
    help="Pretrain vision encoders that do not take shortcuts, and audit what any model relies on.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exit status 2 for a usage error, 1 for a failed run."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    _add_commands()
    if not debug:
        warnings.showwarning = _warn
    try:
        _check_command(arguments)
        status = app(arguments, standalone_mode=False)
    except UnshortcutError as error:
        if debug:
            raise
        _say(str(error))
        status = error.exit_status
    except KeyboardInterrupt:
        _say("interrupted")
        status = 130
    except Exception as error:
        # The parser's own errors, whichever click Typer brings along, can show themselves.
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            if message := _renamed_flag(error):
                _say(message)
            else:
                error.show()
            sys.exit(error.exit_code)
        if debug:
            raise
        _say(f"unexpected {type(error).__name__}: {error} (--debug shows where)")
        status = 1
    sys.exit(status if isinstance(status, int) else 0)


@app.callback(invoke_without_command=True)
def options(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
    debug: bool = typer.Option(False, "--debug", help="Show a traceback when something fails."),
) -> None:
    """Options of `unshortcut` itself."""
    if version:
        from unshortcut.result import package_version

        print(package_version())


def _add_commands() -> None:
    if app.registered_commands:
        return
    package = importlib.import_module("unshortcut.cli")
    found: dict[str, Any] = {}
    for module_info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"unshortcut.cli.{module_info.name}")
        if hasattr(module, "command"):
            found[module_info.name.replace("_", "-")] = module
    for group in (*_GROUPS, None):
        for name, module in found.items():
            if getattr(module, "GROUP", None) == group:
                app.command(name, rich_help_panel=group)(module.command)


def _check_command(arguments: list[str]) -> None:
    name = next((word for word in arguments if not word.startswith("-")), "")
    if message := renamed(None, name):
        raise UsageError(message)


def _renamed_flag(error: Any) -> str | None:
    """What to say where the parser met a flag under its old name."""
    context, flag = getattr(error, "ctx", None), getattr(error, "option_name", None)
    return None if context is None or flag is None else renamed(context.info_name, flag)


def _warn(
    message: Warning | str, category: type[Warning], filename: str, *rest: Any, **more: Any
) -> None:
    """Print warnings of this package in one line; those of libraries are shown with --debug."""
    if Path(filename).is_relative_to(Path(__file__).parent.parent):
        _say(str(message), "[bold yellow]warning:[/]")


def _say(message: str, label: str = "[bold red]error:[/]") -> None:
    console = Console(stderr=True)
    console.print(f"{label} {escape(message)}", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
