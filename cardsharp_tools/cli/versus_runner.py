"""Match of `cardsharp versus`: in this terminal, on a page, or at a service."""

import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from signal import SIGINT, SIGTERM
from threading import Thread
from types import FrameType

from rich.console import Console

from cardsharp.errors import ConfigError, MalformedResponse, RateLimited, Unreachable
from cardsharp.play.game import Game, JoinableMatch
from cardsharp_tools.cli.commands.versus import BrowserOptions, PlayVersusOptions
from cardsharp_tools.cli.commands.watch import open_page_if_interactive
from cardsharp_tools.cli.console import (
    message_console,
    print_command,
    print_error,
    print_json,
    print_json_or_lines,
    result_console,
)
from cardsharp_tools.cli.exit_codes import ExitCode, handle_signals
from cardsharp_tools.cli.game_commands import FIRST_GAME
from cardsharp_tools.executors.strategy_reference import StrategyReference
from cardsharp_tools.game_rooms.game_room import FinishedRoomMatch, GameRoom
from cardsharp_tools.game_rooms.local_match import HUMAN_NAME, screen_class
from cardsharp_tools.game_rooms.match_branch import parse_branch_point
from cardsharp_tools.game_rooms.match_config import MatchConfig, result_text, store_match_parts
from cardsharp_tools.game_rooms.room_server import is_loopback_host, serve_room
from cardsharp_tools.local_play.handler_environment import redirect_telemetry
from cardsharp_tools.local_server.http_server import HOST, BackgroundServer
from cardsharp_tools.match_sources.match_logs import data_folder
from cardsharp_tools.match_sources.match_names import LAST_MATCH
from cardsharp_tools.proxy_option import override_proxy_during_block
from cardsharp_tools.terminal.human_player import PlayerQuit, ReadLine, TerminalPlayer
from cardsharp_tools.terminal.screen import YOU_AS_NAME, Invitation

_REJOIN_HINT = "You have left the game. Run the same command to take your seat again."


def run_versus(
    game: Game,
    opponent: StrategyReference | None,
    options: PlayVersusOptions,
    browser: BrowserOptions,
) -> int:
    """Play the match that the options describe; return the exit code of `cardsharp versus`."""
    if not browser.browser and browser != BrowserOptions():
        raise ConfigError("--invite, --host, --port and --open are for a page. Add --browser.")
    if options.url is None and options.game is None:
        setting = _build_match_config(opponent, options, browser.invite, game)
        return (
            serve_in_browser(setting, options, browser)
            if browser.browser
            else play_in_terminal(setting, options)
        )
    if opponent or options.has_local_only_options:
        raise ConfigError(
            "A service decides who plays and what is dealt. Remove the options about that."
        )
    with override_proxy_during_block(options.proxy):
        return _play_at_service(game, options, browser)


def _play_at_service(
    game: Game, options: PlayVersusOptions, browser_options: BrowserOptions
) -> int:
    """Play in a browser, list the public games or join one; return the exit code."""
    if browser_options.browser:
        return serve_remote_game_in_browser(game, options, browser_options)
    if options.game is None and options.url is not None and game.list_open_games is not None:
        list_public_games(game.list_open_games.load()(options.url), options)
    else:
        join_and_play(game, options)
    return ExitCode.OK


def _build_match_config(
    opponent: StrategyReference | None,
    options: PlayVersusOptions,
    invited_count: int,
    game: Game,
) -> MatchConfig:
    if options.from_position is None:
        if options.same_cards:
            raise ConfigError(
                "--same-cards repeats the cards of a stored match. Name the match with "
                "--from-position."
            )
        return MatchConfig(
            game, opponent, options.partner, options.bots, 1 + invited_count, options.seed
        )
    if options.bots or invited_count:
        raise ConfigError("--from-position already fixes the players. Remove --bots and --invite.")
    is_last = options.from_position.partition("@")[0] == LAST_MATCH
    of = None if game == FIRST_GAME and not is_last else game
    branch_point = parse_branch_point(options.from_position, of, same_cards=options.same_cards)
    return MatchConfig(
        branch_point.game, opponent, options.partner, seed=options.seed, branch_point=branch_point
    )


def list_public_games(games: Sequence[JoinableMatch], options: PlayVersusOptions) -> None:
    """List the games at a service that can be joined."""
    lines = []
    for game in games:
        room = "" if game.room_number is None else f"  room {game.room_number}"
        players = (
            f"{len(game.players)} of {game.max_players}: {', '.join(game.players) or 'nobody yet'}"
        )
        lines.append(f"{game.game_id}{room}  {players}")
    none = f"No public game at {options.url} can be joined now."
    documents = [
        {
            "game": game.game_id,
            "players": game.players,
            "most": game.max_players,
            "room": game.room_number,
        }
        for game in games
    ]
    print_json_or_lines(documents, *(lines or [none]), as_json=options.as_json)
    if lines and not options.as_json:
        message_console().print("Join a game with --game ID. Set your name with --nickname.")


def join_and_play(game: Game, options: PlayVersusOptions) -> None:
    """Take a seat in a match at a service, and play it to its end."""
    screens = screen_class(game)
    if options.url is None or options.game is None:
        raise ConfigError("To join a game at a service, give both --url and --game.")
    invitation = Invitation(options.url, options.game, options.nickname)
    advisor = MatchConfig(game).build_advisor()
    console = message_console() if options.as_json else result_console()
    ask, winner = _build_line_reader(console, options), None
    try:
        with redirect_telemetry(data_folder() / "bot.log"):
            winner = screens.play_remote_match(
                invitation,
                lambda screen: TerminalPlayer(screen, ask, console, advisor, options.hints),
            )
    except (PlayerQuit, Unreachable, MalformedResponse, RateLimited) as error:
        console.print(_REJOIN_HINT)
        if not isinstance(error, PlayerQuit):
            raise
    else:
        console.print()
        console.print(result_text([winner], player_quit=False))
    if options.as_json:
        _print_outcome([winner] if winner else [], winner == YOU_AS_NAME, winner is None, None)


def play_in_terminal(config: MatchConfig, options: PlayVersusOptions) -> int:
    """Play in this terminal, store the match, and return the exit code for failed bot decisions."""
    sitting = config.make_match()
    console, you = message_console() if options.as_json else result_console(), sitting.host_seat
    screen = sitting.screen(you)
    ask, advisor = _build_line_reader(console, options), config.build_advisor()
    person = TerminalPlayer(
        screen, ask, console, advisor, options.hints, config.decision_class, can_undo=True
    )
    sitting.play({you: person}, show_reasons=options.explain, explain_rules=options.teach)
    match_id = store_match_parts(sitting.match_log_records())
    winner_names = [screen.names[seat] for seat in sitting.winning_seats]
    console.print()
    console.print(result_text(winner_names, player_quit=sitting.player_quit))
    if options.as_json:
        _print_outcome(winner_names, you in sitting.winning_seats, sitting.player_quit, match_id)
    elif match_id is not None:
        for command in (
            f"show {match_id}",
            f"analyse {match_id}",
            f"why {match_id} 1",
            f"versus --from-position {match_id}@1",
        ):
            print_command(command, console=console)
    return _report_bot_faults(sitting.always_failing_bots, sitting.fault_counts_by_bot)


def _print_outcome(
    winners: Sequence[str], won: bool, player_quit: bool, match_id: str | None
) -> None:
    names = (HUMAN_NAME if name == YOU_AS_NAME else name for name in winners)
    winner = " and ".join(names) or None
    print_json({"winner": winner, "won": won, "left": player_quit, "match": match_id})


def _report_bot_faults(always_failing: set[str], fault_counts: Mapping[str, int]) -> ExitCode:
    """Report the bots that failed, in all or in some decisions, and return the exit code."""
    for name in sorted(always_failing):
        print_error(f"Every decision of {name} failed.")
    for name, fault_count in fault_counts.items():
        if name not in always_failing:
            decisions = "A decision" if fault_count == 1 else f"{fault_count} decisions"
            print_error(f"{decisions} of {name} failed. A safe action was played instead.")
    if always_failing:
        return ExitCode.FAILED
    return ExitCode.REPLACED if fault_counts else ExitCode.OK


def serve_in_browser(
    config: MatchConfig, options: PlayVersusOptions, browser: BrowserOptions
) -> int:
    """Let people play in browsers until Ctrl-C; return the exit code for failed bot decisions."""
    console = message_console() if options.as_json else result_console()

    def on_match_end(match: FinishedRoomMatch, winner_names: list[str]) -> None:
        if options.as_json:
            _print_outcome(
                winner_names, YOU_AS_NAME in winner_names, match.match.player_quit, match.stored_id
            )
        else:
            console.print(result_text(winner_names, player_quit=match.match.player_quit))

    host = browser.host or HOST
    room = GameRoom(
        config, options.nickname, options.hints, options.explain, on_match_end, teach=options.teach
    )
    with serve_room(room, host, browser.port or 0) as links:
        host_link, *guest_links = links
        lines = [host_link, *(f"Link for a person that you invite: {link}" for link in guest_links)]
        if not is_loopback_host(host):
            lines.append(
                "Everybody in your network who has a link can play on its seat. Nothing is "
                "encrypted."
            )
        elif guest_links:
            lines.append(
                "The links work only on this machine. With --host 0.0.0.0 they work in your "
                "network."
            )
        for line in (*lines, "Press Ctrl-C to close the table."):
            console.print(line, soft_wrap=True)
        open_page_if_interactive(host_link, browser.open)
        run_room_until_interrupt(room)
    return _report_bot_faults(room.failing_bots, room.faults)


def serve_remote_game_in_browser(
    game: Game, options: PlayVersusOptions, browser: BrowserOptions
) -> int:
    """Let a person play a service's game in a browser until Ctrl-C."""
    if game.browser_client is None or options.url is None or browser.invite or browser.host:
        raise ConfigError(
            "At a service, only one person can play in a browser, and only Blef, with --url. "
            "Remove --browser, or remove --invite and --host."
        )
    app = game.browser_client.load()(options.url)
    server = BackgroundServer("The page", app, port=browser.port or 0)
    link = f"{server.url}/#{options.game or ''}"
    result_console().print(f"Play at {link}. Press Ctrl-C to stop.", soft_wrap=True)

    server.run_in_foreground(lambda: open_page_if_interactive(link, browser.open))
    return ExitCode.OK


def run_room_until_interrupt(room: GameRoom) -> None:
    """Run a room in this thread until Ctrl-C, because only here a decision can be interrupted.

    An exception may arise just after a lock was taken, which nobody then gives back. So only a
    second signal raises; the first has the room stopped by another thread.
    """

    def stop(signal_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal_number, signal.default_int_handler)
        Thread(target=room.stop, name="stopping").start()

    stop_signals = [
        signal_number
        for signal_number in (SIGINT, SIGTERM)
        if signal.getsignal(signal_number) is not signal.SIG_IGN
    ]
    with handle_signals(stop, *stop_signals), suppress(KeyboardInterrupt):
        room.run()


def _build_line_reader(console: Console, options: PlayVersusOptions) -> ReadLine:
    return partial(console.input, markup=False) if options.as_json else input
