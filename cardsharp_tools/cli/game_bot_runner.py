"""Run of our bot at a service: it plays one game, or the public games as they open."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

from cardsharp.analysis.replay import UNKNOWN, header_of, step_json
from cardsharp.bot.service_seats import SeatDependencies
from cardsharp.errors import ConfigError, Unreachable
from cardsharp.play.game import Game, ListOpenGames
from cardsharp.store.match_log import Body, MatchLog
from cardsharp_tools.cli.commands.game_bot import JoinGameOptions
from cardsharp_tools.cli.console import (
    print_json,
    print_json_or_lines,
    print_notice,
    result_console,
)
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.local_play.handler_environment import redirect_telemetry
from cardsharp_tools.local_play.seat_orders import (
    SEAT_LOG_POLL_INTERVAL,
    match_outcome,
    place_join_game_order,
    run_workers,
)
from cardsharp_tools.match_sources.match_logs import data_folder
from cardsharp_tools.terminal.display import DisplayErrorGuard
from cardsharp_tools.terminal.match_printer import printer_for

_POLL_INTERVAL = timedelta(seconds=2)  # how often the list of public games is looked at


def play_games(game: Game, options: JoinGameOptions) -> int:
    """Play one game, or public ones; return the exit code."""
    store_name = "matches" if game.open_archive is None else game.name
    store = options.store or data_folder() / f"{store_name}.db"
    if options.game is None:
        _attend_public_games(game, options, store)
        return ExitCode.OK
    seat_order = options.join_game_order(game, options.game)
    if game.check_order is not None:
        game.check_order.load()(seat_order)
    with (
        redirect_telemetry(data_folder() / "bot.log"),
        run_workers(store, print_notice, 1, is_user_code=options.is_user_code) as dependencies,
    ):
        match = place_join_game_order(game, seat_order)
        location = f"in game {options.game} at {options.url}"
        print_notice(f"{options.nickname} plays {location}; Ctrl-C stops it.")
        step_printer = _StepPrinter(
            game, dependencies.dispatcher.match_log, match, as_json=options.as_json
        )
        outcome = None
        while outcome is None:
            dependencies.dispatcher.clock.sleep(SEAT_LOG_POLL_INTERVAL)
            outcome = match_outcome(
                dependencies, match
            )  # before the steps, so that the last is told
            step_printer.print_new_steps()
        print_json_or_lines(
            outcome, _describe_outcome(outcome), as_json=options.as_json, style="bold"
        )
        return ExitCode.FAILED if outcome["result"] == UNKNOWN else ExitCode.OK


def _attend_public_games(game: Game, options: JoinGameOptions, store: Path) -> None:
    if game.list_open_games is None:
        raise ConfigError(
            f"Services of {game.title} list no public games. Name the game with --game."
        )
    lobby = game.list_open_games.load()
    options.join_game_order(game, None)
    lobby(options.url)  # before anybody waits for what is none
    print_notice(f"{options.nickname} plays in public games at {options.url}; Ctrl-C stops it.")
    seats = run_workers(store, print_notice, options.concurrency, is_user_code=options.is_user_code)
    with redirect_telemetry(data_folder() / "bot.log"), seats as dependencies:
        for _ in poll_and_join_public_games(game, options, dependencies, lobby):
            dependencies.dispatcher.clock.sleep(_POLL_INTERVAL)


def poll_and_join_public_games(
    game: Game, options: JoinGameOptions, clients: SeatDependencies, list_games: ListOpenGames
) -> Iterator[None]:
    """Join public games as they open, each once, up to the limit; yield after each poll."""
    playing, joined_games, guard = dict[str, str](), set[str](), DisplayErrorGuard()
    while True:
        for name, match in [*playing.items()]:
            if (outcome := match_outcome(clients, match)) is not None:
                del playing[name]
                line, document = f"{name}: {_describe_outcome(outcome)}", {"game": name, **outcome}
                guard.run(
                    partial(print_json_or_lines, document, line, as_json=options.as_json),
                    f"Game {name}",
                )
        try:
            open_games = list_games(options.url)
        except Unreachable as error:
            print_notice(f"{error} Trying again.")
            open_games = []
        for open_game in open_games:
            is_eligible = open_game.game_id not in joined_games and (
                not options.rooms or open_game.room_number in options.rooms
            )
            if is_eligible and len(playing) < options.concurrency:
                print_notice(
                    f"Joining {open_game.game_id}. Players there: "
                    f"{', '.join(open_game.players) or 'none yet'}."
                )
                playing[open_game.game_id] = place_join_game_order(
                    game, options.join_game_order(game, open_game.game_id)
                )
                joined_games.add(open_game.game_id)
        yield


def _describe_outcome(outcome: Body) -> str:
    if outcome["result"] == UNKNOWN:
        return f"We got no seat: {outcome.get('reason')}."
    return f"We have {outcome['result']}."


class _StepPrinter:
    """Printer that prints each step of a match once.

    A step that cannot be printed is reported, and the match continues.
    """

    def __init__(self, game: Game, log: MatchLog, match: str, *, as_json: bool) -> None:
        self._game, self._log, self._match_id, self._as_json = game, log, match, as_json
        self._printed_count = 0
        self._display_guard = DisplayErrorGuard()

    def print_new_steps(self) -> None:
        """Print the steps since the last call; report a failure without raising it."""
        self._display_guard.run(self._print_unseen_steps, f"Match {self._match_id}")

    def _print_unseen_steps(self) -> None:
        record = self._log.match(self._match_id)
        if record is None or self._game.replay is None:
            return
        moves = [move for move in self._log.moves(self._match_id) if move.facts is not None]
        for step in [*self._game.replay.load()(record, moves)][self._printed_count :]:
            self._printed_count += 1
            if self._as_json:
                print_json(step_json(step))
            else:
                row = printer_for(self._game).step_row(step, header_of(record))
                result_console().print(row)
