"""What an organiser founds and enters, checked: shared by the commands and the organiser's page."""

from collections import Counter
from collections.abc import Iterator, Sequence

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.acts import Desk
from cardsharp.contest.entries import Entrant, Settings
from cardsharp.contest.formats import FORMATS
from cardsharp.contest.records import Records
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.games import game
from workbench.contest.table import tabled
from workbench.sandbox import check_sandbox
from workbench.strategy_file import is_own, lasting, strategy_named
from workbench.submission import SANDBOXED, TRUSTED

Wanted = Sequence[tuple[str, str | None]]  # teams to enter, and who plays them here
BY_ITSELF = (None, SANDBOXED, TRUSTED)  # of teams that sign in, to play or to submit


def founded(  # noqa: PLR0913, PLR0917 - what a contest is founded with
    name: str, form: str, matches: int, timeout: float, of: str, seats: int | None = None
) -> Settings:
    """The settings of a contest that can be held; raises `ConfigError` where it cannot."""
    found = FORMATS[form]
    if seats is not None and found.given(seats=seats).seats != seats:
        raise ConfigError(f"In {form} two meet; give --format tables for more at a table.")
    if matches % 2 == 0 and not found.by_points:
        raise ConfigError("An odd number of matches decides a pairing, such as --matches 5.")
    settings = Settings(
        name=name,
        format=form,
        matches=matches,
        most=3 * matches,
        timeout=timeout,
        game=of,
        seats=seats or found.seats,
    )
    for teams_at_table in range(settings.seats, 1, -1):
        tabled(settings.game, teams_at_table)
    return settings


def check_teams(records: Records, wanted: Wanted, *, here: bool = True) -> Game:
    """The game of a contest that those teams can enter; `here` is whether it can play any itself.

    Raises:
        ConfigError: one cannot be played, or must be and has no strategy, or a name is taken.
    """
    of = game(records.settings.game)
    for name, strategy in wanted:
        if strategy is None and not records.settings.has_arena:
            raise ConfigError(
                f"{of.title} has no arena where {name} could play: give its --strategy, a name of "
                "ours, a FILE.py or a 'command'."
            )
        if strategy is not None and is_own(strategy) and not here:
            raise ConfigError(
                f"A stack plays strategies of ours by name. Enter {name} without a strategy, and "
                "play it on any machine: cardsharp bot --url URL --user ID --strategy STRATEGY"
            )
        if strategy == SANDBOXED:
            check_sandbox()
        elif strategy not in {None, TRUSTED}:
            strategy_named(str(strategy), of)
    taken = Counter([team.name for team in records.teams()] + [name for name, _ in wanted])
    twice = next((name for name, times in taken.items() if times > 1), None)
    if twice is not None:
        raise ConfigError(f"There is a team called {twice} already.")
    return of


def entered_teams(records: Records, wanted: Wanted) -> Iterator[tuple[Entrant, str | None]]:
    """Enter teams that were checked; yields each with its password where it needs one."""
    desk = Desk(records, utc_now)
    for name, strategy in wanted:
        team, password = desk.enter(name, None if strategy is None else lasting(strategy))
        yield team, password if strategy in BY_ITSELF else None
