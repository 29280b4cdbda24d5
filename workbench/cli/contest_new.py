"""`cardsharp contest new` and `plan`: where a contest is, found one, and say first what fits."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.acts import Desk
from cardsharp.contest.entries import DEFAULT_FORMAT
from cardsharp.contest.formats import FORMATS
from cardsharp.contest.practice import ladder
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import found_in, kept_in
from cardsharp.errors import ConfigError
from cardsharp.ratings import Rating
from workbench.contest.organiser import founded
from workbench.contest.planning import KINDS, Proposal, proposals
from workbench.contest.showing import Cells, print_table
from workbench.lab.plan import DEFAULT_GAME
from workbench.show.options import CommandOptions, Json
from workbench.show.output import print_json, results
from workbench.show.progress import each

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


DEFAULT_MATCHES = 5  # matches of a pairing unless said


def _is_known(_kind: object, name: str) -> None:
    if name not in FORMATS:
        raise ValueError(f"It must be one of {', '.join(FORMATS)}.")


@dataclass(frozen=True, kw_only=True)
class NewOptions(CommandOptions):
    """What a contest is founded with."""

    game: str = DEFAULT_GAME
    """Which game is played; the first has an arena."""
    format: Annotated[
        str, Parameter(validator=_is_known, help=f"Who meets whom: {', '.join(FORMATS)}.")
    ] = DEFAULT_FORMAT
    seats: Annotated[int | None, Parameter(validator=validators.Number(gte=2, lte=8))] = None
    """Teams at a table, for the format tables; 4 unless said."""
    matches: Annotated[int, Parameter(alias="-n", validator=validators.Number(gte=1, lte=99))] = (
        DEFAULT_MATCHES
    )
    """Matches of a pairing, an odd number but at tables; more only while it is level."""
    timeout: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 7.0
    """Seconds that a turn may take."""
    teams: Annotated[int | None, Parameter(validator=validators.Number(gte=2, lte=64))] = None
    """Take the format and the matches of a pairing that suit so many teams best."""
    minutes: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 180
    """How long it may take, with --teams."""


def new(
    folder: Folder | None = None, /, *, options: NewOptions = NewOptions(), where: Where = HERE
) -> None:
    """Create a contest in a new folder, or in a deployed stack; its name tags its matches.

    With --teams it proposes a format, and creates that one only where a FOLDER is named.
    """
    if options.teams is not None:
        if (options.format, options.matches) != (DEFAULT_FORMAT, DEFAULT_MATCHES):
            raise ConfigError("--teams takes what suits best; leave --format and --matches out.")
        best, rows = _proposed(options.minutes, proposals(options.teams, 60, 100))
        print_table(rows)
        options = replace(options, format=best.format, matches=best.matches)
    if folder is None:
        if options.teams is None:
            raise ConfigError("Name the contest's folder, as in `cardsharp contest new cup`.")
        kind = f"--format {options.format} --matches {options.matches}"
        results().print(f"Create it by: cardsharp contest new NAME {kind}", soft_wrap=True)
        return
    name = name_of(folder)
    settings = founded(
        name, options.format, options.matches, options.timeout, options.game, options.seats
    )
    there = where.contests()
    if there is None:
        found_in(folder, settings).close()
    elif not settings.has_arena:
        raise ConfigError(f"A stack has no arena of {options.game}; hold the contest in a folder.")
    else:
        there.kept.found(settings)
    number = "1 match" if options.matches == 1 else f"{options.matches} matches"
    results().print(f"contest {name}: {options.format}, {number} a pairing")
    played = "" if settings.has_arena else " --strategy STRATEGY"
    command = f"cardsharp contest teams add {where.arguments(folder)} NAME{played}"
    results().print(f"Enter teams by: {command}", style="dim", soft_wrap=True)


def plan(  # noqa: PLR0913 - each is a flag of its own
    folder: Annotated[
        Path | None, Parameter(help="A contest that has practised: its teams and their ratings.")
    ] = None,
    /,
    *,
    teams: Annotated[int, Parameter(validator=validators.Number(gte=2, lte=64))] = 8,
    minutes: Annotated[float, Parameter(help="How long the contest may take.")] = 180,
    match_seconds: Annotated[float, Parameter(help="How long a match takes.")] = 60,
    spread: Annotated[
        float, Parameter(help="How far apart the teams are: a standard deviation, in Elo.")
    ] = 100,
    as_json: Json = False,
) -> None:
    """Say which format fits the time, and how likely the best team wins it.

    Each kind is simulated 200 times. Without a FOLDER the teams' strengths are drawn.
    """
    known: list[Rating] = []
    if folder is not None:
        with kept_in(folder) as records:
            known = [row.rating for row in ladder(records) if row.rating is not None]
        if len(known) < 2:  # noqa: PLR2004 - nobody meets anybody
            raise ConfigError(f"Nobody has practised in {folder}; give --teams instead.")
    kinds = proposals(len(known) or teams, match_seconds, spread, known)
    (print_json if as_json else print_table)(_proposed(minutes, kinds)[1])


def _proposed(minutes: float, kinds: Iterable[Proposal]) -> tuple[Proposal, list[Cells]]:
    """The best kind of contest, and all: first those that fit, of them those the best team wins."""
    every = each(kinds, "simulating contests", KINDS)
    found = sorted(every, key=lambda one: (one.minutes > minutes, -one.best_wins, one.minutes))
    return found[0], [
        {
            "format": one.format,
            "matches a pairing": one.matches,
            "best wins": f"{one.best_wins:.0%}".replace("%", " %"),
            "minutes": round(one.minutes),
            "fits": "yes" if one.minutes <= minutes else "no",
        }
        for one in found
    ]
