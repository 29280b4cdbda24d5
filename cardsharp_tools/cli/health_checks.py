"""Things that are looked at one after another, each with what was found and what to do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from rich.text import Text

from cardsharp.errors import CardsharpError
from cardsharp_tools.cli.console import borderless_table, print_json, result_console
from cardsharp_tools.cli.exit_codes import ExitCode


class CheckStatus(StrEnum):
    """Status of a health check."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


_STYLES = {CheckStatus.OK: "green", CheckStatus.FAILED: "bold red", CheckStatus.SKIPPED: "dim"}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of a health check; `message` gives the finding and, if needed, the remedy."""

    name: str
    status: CheckStatus
    message: str


class CheckSkipped(CardsharpError):
    """Raised by a check that does not apply; the message says why."""


def run_check(name: str, check: Callable[[], str]) -> CheckResult:
    """Run `check` and return what it reports, or why it failed, as a `CheckResult`."""
    try:
        return CheckResult(name, CheckStatus.OK, check())
    except CheckSkipped as skipped:
        return CheckResult(name, CheckStatus.SKIPPED, str(skipped))
    except CardsharpError as error:
        return CheckResult(name, CheckStatus.FAILED, str(error))


def print_checks(checks: Iterable[CheckResult], *, as_json: bool) -> int:
    """Print the results of checks; return the exit code, 1 if a check failed."""
    results = list(checks)
    if as_json:
        print_json([{"check": c.name, "finding": c.status, "text": c.message} for c in results])
    else:
        table = borderless_table("", "", "")
        table.show_header = False
        for check in results:
            first_line, *more = check.message.splitlines()
            table.add_row(check.name, Text(check.status, style=_STYLES[check.status]), first_line)
            for line in more:
                table.add_row("", "", line)
        result_console().print(table)
    failed = any(check.status is CheckStatus.FAILED for check in results)
    return ExitCode.FAILED if failed else ExitCode.OK
