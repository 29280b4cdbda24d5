"""Where a contest of `cardsharp contest` is: in a folder here, or in a deployed stack."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.acts import Desk
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import kept_in
from cardsharp.errors import ConfigError
from workbench.show.options import CommandOptions

if TYPE_CHECKING:
    from workbench.operate.contests import Contests

Folder = Annotated[Path, Parameter(help="The contest's folder; with --stack its name there.")]


@dataclass(frozen=True, kw_only=True)
class Where(CommandOptions):
    """A deployed stack, or none for a folder."""

    stack: str | None = None
    """The contest is in this deployed stack, not in a folder."""
    region: str | None = None
    """The stack's region; else AWS_DEFAULT_REGION."""

    def contests(self) -> "Contests | None":
        """Those of the stack, None for a folder."""
        if self.stack is None:
            return None
        from workbench.operate.contests import Contests  # noqa: PLC0415 - boto3 is slow to import
        from workbench.operate.stack import account_clients, find_stack  # noqa: PLC0415 - as above

        return Contests(find_stack(self.stack, account_clients(self.region)))

    def arguments(self, folder: Path) -> str:
        """What names the contest on a command line."""
        stack = "" if self.stack is None else f" --stack {self.stack}"
        return f"{shlex.quote(str(folder))}{stack}"

    def records(self, folder: Path) -> Records:
        """The records of the contest."""
        there = self.contests()
        return kept_in(folder) if there is None else there.kept.named(name_of(folder))

    @contextmanager
    def desk(self, folder: Path) -> Iterator[Desk]:
        """The organiser's desk of the contest, which then goes on with what was decided there."""
        with self.records(folder) as records:
            yield Desk(records, utc_now)
        self.go_on()

    def go_on(self) -> None:
        """Have a stack see at once what has changed; at home the contest's process looks itself."""
        there = self.contests()
        if there is not None:
            there.go_on()


HERE = Where()  # in a folder


def name_of(folder: Path) -> str:
    """A contest's name, its folder's; raises `ConfigError` for one that cannot be part of a tag."""
    name = folder.resolve().name
    if not name.replace("-", "").replace("_", "").isalnum():
        raise ConfigError(f"{name} is no name for a contest; use letters, digits, - and _.")
    return name
