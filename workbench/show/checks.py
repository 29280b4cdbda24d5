"""Things that are looked at one after another, each with what was found and what to do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from rich.text import Text

from cardsharp.errors import CardsharpError
from workbench.show.exits import Exit
from workbench.show.output import plain_table, print_json, results


class Finding(StrEnum):
    """What a check found."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


_STYLES = {Finding.OK: "green", Finding.FAILED: "bold red", Finding.SKIPPED: "dim"}


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One thing that was looked at; `text` says what is so and, if need be, what to do."""

    name: str
    finding: Finding
    text: str


class Skipped(CardsharpError):
    """There is nothing to check; the message says why."""


def attempt(name: str, look: Callable[[], str]) -> DoctorCheck:
    """What `look` found, or why it failed, as a check."""
    try:
        return DoctorCheck(name, Finding.OK, look())
    except Skipped as skipped:
        return DoctorCheck(name, Finding.SKIPPED, str(skipped))
    except CardsharpError as error:
        return DoctorCheck(name, Finding.FAILED, str(error))


def report(checks: Iterable[DoctorCheck], *, as_json: bool) -> int:
    """Print what was checked; the exit code, which is 1 if anything failed."""
    found = list(checks)
    if as_json:
        print_json([{"check": c.name, "finding": c.finding, "text": c.text} for c in found])
    else:
        table = plain_table("", "", "")
        table.show_header = False
        for check in found:
            first, *more = check.text.splitlines()
            table.add_row(check.name, Text(check.finding, style=_STYLES[check.finding]), first)
            for line in more:
                table.add_row("", "", line)
        results().print(table)
    failed = any(check.finding is Finding.FAILED for check in found)
    return Exit.FAILED if failed else Exit.OK
