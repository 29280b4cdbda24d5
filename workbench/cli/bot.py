"""`cardsharp GAME bot`: our bot takes a seat at a service of any game and plays it to the end.

Without a game it takes a seat in each public one that comes, until Ctrl-C.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.cloud.ports import Body, MatchLog
from cardsharp.errors import ConfigError, Unreachable
from cardsharp.game import Game, Lobby
from cardsharp.replay import UNKNOWN, document, header_of
from cardsharp.seats import Places
from workbench.cli.games import FIRST, OneGame
from workbench.show.display import DisplayGuard
from workbench.show.drawing import step_row
from workbench.show.exits import Exit
from workbench.show.http_session import proxy_option
from workbench.show.lookup import data_folder
from workbench.show.options import CommandOptions, ProxyAddress, StoreFile
from workbench.show.output import print_aside, print_json, results, tell
from workbench.stage.ordered import GLANCE, ordered, outcome_in, workers
from workbench.stage.surroundings import telemetry_in
from workbench.strategy_file import strategy_named

_PAUSE = timedelta(seconds=2)  # how often the list of public games is looked at


@dataclass(frozen=True, kw_only=True)
class SeatOptions(CommandOptions):
    """Which game to join, and how to play it."""

    url: str
    """The service's address, e.g. http://127.0.0.1:8000."""
    game: str | None = None
    """The game's id there; else it takes a seat in public games as they come, until Ctrl-C."""
    at_once: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=100))] = 4
    """Without --game: how many games it plays at once."""
    proxy: ProxyAddress = None
    rooms: Annotated[
        tuple[int, ...],
        Parameter(negative=(), help="Without --game: only games in this room; repeatable."),
    ] = ()
    nickname: str = "Cardsharp"
    """What the bot is called there."""
    strategy: str | None = None
    """A strategy, FILE.py, or 'command'; else the game's best."""
    store: StoreFile = None
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """Print one JSON document a line."""

    def order(self, game: Game, match: str | None) -> Mapping[str, object]:
        """What is ordered of that game; raises `ConfigError` for a strategy it has not."""
        strategy = strategy_named(self.strategy or game.default_strategy, game)
        return {"url": self.url, "game": match, "nickname": self.nickname, "strategy": strategy}


def bot(*, options: SeatOptions, game: OneGame = FIRST) -> int:
    """Join a game and play it, each step explained; the same again takes it up."""
    with proxy_option(options.proxy):
        return _played(game, options)


def _played(game: Game, options: SeatOptions) -> int:
    """Play one game, or public ones; the exit code."""
    own = "matches" if game.archive is None else game.name
    store = options.store or data_folder() / f"{own}.db"
    if options.game is None:
        _attend_public(game, options, store)
        return Exit.OK
    order = options.order(game, options.game)
    if game.check is not None:
        game.check.load()(order)
    with telemetry_in(data_folder() / "bot.log"), workers(store, print_aside, 1) as places:
        match = ordered(game, order)
        where = f"in game {options.game} at {options.url}"
        print_aside(f"{options.nickname} plays {where}; Ctrl-C stops it.")
        steps = _Steps(game, places.offering.log, match, as_json=options.as_json)
        outcome = None
        while outcome is None:
            places.offering.clock.sleep(GLANCE)
            outcome = outcome_in(places, match)  # before the steps, so that the last is told
            steps.tell()
        tell(outcome, _ending(outcome), as_json=options.as_json, style="bold")
        return Exit.FAILED if outcome["result"] == UNKNOWN else Exit.OK


def _attend_public(game: Game, options: SeatOptions, store: Path) -> None:
    if game.lobby is None:
        raise ConfigError(f"No service lists public games of {game.title}; give one by --game.")
    lobby = game.lobby.load()
    options.order(game, None)
    lobby(options.url)  # before anybody waits for what is none
    print_aside(f"{options.nickname} plays in public games at {options.url}; Ctrl-C stops it.")
    seats = workers(store, print_aside, options.at_once)
    with telemetry_in(data_folder() / "bot.log"), seats as places:
        for _ in taking_seats(game, options, places, lobby):
            places.offering.clock.sleep(_PAUSE)


def taking_seats(game: Game, options: SeatOptions, places: Places, lobby: Lobby) -> Iterator[None]:
    """Take seats in public games, no more than so many at once, each game once; look by look."""
    playing, taken, guard = dict[str, str](), set[str](), DisplayGuard()
    while True:
        for name, match in [*playing.items()]:
            if (outcome := outcome_in(places, match)) is not None:
                del playing[name]
                line, told = f"{name}: {_ending(outcome)}", {"game": name, **outcome}
                guard.run(partial(tell, told, line, as_json=options.as_json), f"Game {name}")
        try:
            there = lobby(options.url)
        except Unreachable as error:
            print_aside(f"{error} It is asked again.")
            there = []
        for one in there:
            wanted = one.game not in taken and (not options.rooms or one.room in options.rooms)
            if wanted and len(playing) < options.at_once:
                print_aside(f"Joins {one.game}, where {', '.join(one.players) or 'nobody'} is.")
                playing[one.game] = ordered(game, options.order(game, one.game))
                taken.add(one.game)
        yield


def _ending(outcome: Body) -> str:
    if outcome["result"] == UNKNOWN:
        return f"No seat for us: {outcome.get('reason')}."
    return f"We have {outcome['result']}."


class _Steps:
    """Tells each step of a match once; what cannot be told is reported, and playing goes on."""

    def __init__(self, game: Game, log: MatchLog, match: str, *, as_json: bool) -> None:
        self._game, self._log, self._match, self._as_json = game, log, match, as_json
        self._count = 0
        self._guard = DisplayGuard()

    def tell(self) -> None:
        """Tell what is new."""
        self._guard.run(self._tell, f"Match {self._match}")

    def _tell(self) -> None:
        record = self._log.match(self._match)
        if record is None or self._game.replay is None:
            return
        moves = [move for move in self._log.moves(self._match) if move.facts is not None]
        for step in [*self._game.replay.load()(record, moves)][self._count :]:
            self._count += 1
            if self._as_json:
                print_json(document(step))
            else:
                results().print(step_row(step, header_of(record)))
