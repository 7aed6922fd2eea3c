"""The function `unshortcut.audit`."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

from rich.console import Console
from rich.markup import escape

from unshortcut.auditing.request import AuditRequest

if TYPE_CHECKING:
    from unshortcut.report.report import Report

P = ParamSpec("P")


def _called_with(
    request_type: Callable[P, AuditRequest],
) -> Callable[[Callable[[AuditRequest], "Report"]], Callable[P, "Report"]]:
    """Let a function of a request be called with the fields of the request, and document them."""
    arguments = inspect.cleandoc(request_type.__doc__ or "").partition("Args:\n")[2]
    signature = inspect.signature(request_type).replace(return_annotation="Report")

    def decorate(function: Callable[[AuditRequest], "Report"]) -> Callable[P, "Report"]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> "Report":
            return function(request_type(*args, **kwargs))

        call.__doc__ = f"{inspect.getdoc(function)}\n\nArgs:\n{arguments}"
        call.__dict__["__signature__"] = signature
        return call

    return decorate


@_called_with(AuditRequest)
def audit(request: AuditRequest) -> "Report":
    """Measure what models look at, and return a report: a page, a table, or plain values.

    >>> report = audit("timm:resnet50", "photos", only=["corruptions"])  # doctest: +SKIP
    >>> report.write("report.html")  # doctest: +SKIP
    """
    console = request.console or Console(stderr=True)
    console.print(escape(request.summary()), highlight=False)
    # Imported after the first line is printed, because PyTorch takes seconds to import.
    from unshortcut.auditing.run import run_audit
    from unshortcut.report.report import Report

    report = Report(run_audit(request))
    if request.out is not None:
        report.write(request.out)
    return report
