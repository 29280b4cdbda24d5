"""`cardsharp versus`: you at the table, in the terminal or a browser, against any player."""

import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from signal import SIGINT, SIGTERM
from threading import Thread
from types import FrameType
from typing import Annotated

from cyclopts import Parameter, validators
from rich.console import Console

from cardsharp.errors import ConfigError, Garbled, RateLimited, Unreachable
from cardsharp.game import Game, OpenGame
from workbench.cli.games import FIRST, OneGame
from workbench.cli.watch import open_page
from workbench.listening import HOST, Background
from workbench.show.exits import Exit, signals_to
from workbench.show.http_session import proxy_option
from workbench.show.lookup import LAST, data_folder
from workbench.show.options import CommandOptions, Opening, ProxyAddress
from workbench.show.output import messages, print_command, print_error, print_json, results, tell
from workbench.show.person import Ask, Left, Person
from workbench.show.screen import Invitation
from workbench.stage.surroundings import telemetry_in
from workbench.table.branch import point_named
from workbench.table.room import EndedMatch, Room
from workbench.table.served import is_local, table_served
from workbench.table.setting import Setting, ending, keep
from workbench.table.sitting import PERSON, screens_of

_SEAT_KEPT = "You have left; the same command takes your seat again."


@dataclass(frozen=True, kw_only=True)
class BrowserOptions(CommandOptions):
    """Whether it is played in a browser, and who else reaches the page."""

    browser: bool = False
    """Play in a browser instead of this terminal."""
    invite: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=7))] = 0
    """In a browser: how many people you invite; each gets a link to a seat."""
    host: Annotated[
        str | None,
        Parameter(
            help="In a browser: the address to listen on, so that people in your network reach "
            "it; 0.0.0.0 for any. Else only this machine does."
        ),
    ] = None
    port: Annotated[int | None, Parameter(validator=validators.Number(gte=0, lte=65535))] = None
    """In a browser: the page's port."""
    open: Opening = None


@dataclass(frozen=True, kw_only=True)
class TableOptions(CommandOptions):
    """Who else sits at the table, and what is told."""

    bots: Annotated[int | None, Parameter(validator=validators.Number(gte=1, lte=7))] = None
    """How many play against you, where a game leaves that open."""
    partner: str | None = None
    """Who plays with you, in a game of partners: the same."""
    hints: bool = False
    """Say at each turn what our best player would do."""
    why: bool = False
    """Tell the bots' reasons when a round is over."""
    teach: bool = False
    """Your first match? Explain the rules, and each card or bet when it first comes up."""
    seed: str | None = None
    """The same seed deals the same cards; without it, chance."""
    branch: Annotated[
        str | None,
        Parameter(
            name="--from",
            help="Take another option in a stored match, and play on: MATCH@STEP, as watch counts "
            "steps. What you did not know then is dealt anew.",
        ),
    ] = None
    same_cards: bool = False
    """With --from, of a match that is over: the cards come as they came there."""
    url: str | None = None
    """Join a game at the service of that address, with --game; else list the public ones there."""
    game: str | None = None
    """That game's uuid; it must not have started."""
    proxy: ProxyAddress = None
    nickname: str = "Guest"
    """What you are called there."""
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """Talk on stderr; the result as JSON at last."""

    @property
    def decides(self) -> bool:
        """Whether anything is given that only a match of our own can heed."""
        given = (self.bots, self.partner, self.why, self.teach, self.seed, self.branch)
        return any(given) or self.same_cards


Opponent = Annotated[
    str | None,
    Parameter(
        name=("--opponent", "--opponents", "--strategy"),
        help="Who plays against you: a strategy, FILE.py, or 'command'; else our best.",
    ),
]


def versus(
    opponent: Opponent = None,
    *,
    options: TableOptions = TableOptions(),
    page: BrowserOptions = BrowserOptions(),
    game: OneGame = FIRST,
) -> int:
    """Play yourself, in this terminal or a browser, against any player."""
    if not page.browser and page != BrowserOptions():
        raise ConfigError("Only a page is served and has links; add --browser.")
    if options.url is None and options.game is None:
        setting = _setting(opponent, options, page.invite, game)
        return serve(setting, options, page) if page.browser else play(setting, options)
    if opponent or options.decides:
        raise ConfigError("Who plays at a service, and what is dealt, is decided there.")
    with proxy_option(options.proxy):
        return _play_at_service(game, options, page)


def _play_at_service(game: Game, options: TableOptions, page: BrowserOptions) -> int:
    """Play in a browser, list the public games, or join one; the exit code."""
    if page.browser:
        return serve_elsewhere(game, options, page)
    if options.game is None and options.url is not None and game.lobby is not None:
        show_public(game.lobby.load()(options.url), options)
    else:
        join(game, options)
    return Exit.OK


def _setting(opponent: str | None, options: TableOptions, invited: int, game: Game) -> Setting:
    if options.branch is None:
        if options.same_cards:
            raise ConfigError("Which cards came is known of a stored match; add --from.")
        return Setting(game, opponent, options.partner, options.bots, 1 + invited, options.seed)
    if options.bots or invited:
        raise ConfigError("Who plays is decided with --from; leave out --bots and --invite.")
    is_last = options.branch.partition("@")[0] == LAST
    of = None if game == FIRST and not is_last else game
    point = point_named(options.branch, of, same=options.same_cards)
    return Setting(point.game, opponent, options.partner, seed=options.seed, point=point)


def show_public(games: Sequence[OpenGame], options: TableOptions) -> None:
    """List the games at a service that can be joined."""
    lines = []
    for one in games:
        room = "" if one.room is None else f"  room {one.room}"
        there = f"{len(one.players)} of {one.most}: {', '.join(one.players) or 'nobody yet'}"
        lines.append(f"{one.game}{room}  {there}")
    none = f"No public game at {options.url} can be joined now."
    tell([one._asdict() for one in games], *(lines or [none]), as_json=options.as_json)
    if lines and not options.as_json:
        messages().print("Join one by --game and its id; --nickname says who you are.")


def join(game: Game, options: TableOptions) -> None:
    """Take a seat in a match at a service, and play it to its end."""
    screens = screens_of(game)
    if options.url is None or options.game is None:
        raise ConfigError("A game at a service is named by both --url and --game; give both.")
    wanted = Invitation(options.url, options.game, options.nickname)
    advisor = Setting(game).advisor()
    console = messages() if options.as_json else results()
    ask, winner = _ask(console, options), None
    try:
        with telemetry_in(data_folder() / "bot.log"):
            winner = screens.join(
                wanted, lambda screen: Person(screen, ask, console, advisor, options.hints)
            )
    except (Left, Unreachable, Garbled, RateLimited) as error:
        console.print(_SEAT_KEPT)
        if not isinstance(error, Left):
            raise
    else:
        console.print()
        console.print(ending([winner], left=False))
    if options.as_json:
        _print_outcome([winner] if winner else [], winner == PERSON, winner is None, None)


def play(setting: Setting, options: TableOptions) -> int:
    """Play with a person here, and keep it; 1 or 4 where all or some decisions of a bot failed."""
    sitting = setting.sitting()
    console, you = messages() if options.as_json else results(), sitting.host
    screen = sitting.screen(you)
    ask, advisor = _ask(console, options), setting.advisor()
    person = Person(screen, ask, console, advisor, options.hints, setting.make, undoes=True)
    sitting.play({you: person}, whys=options.why, teach=options.teach)
    kept = keep(sitting.told())
    names = [screen.names[seat] for seat in sitting.winners]
    console.print()
    console.print(ending(names, left=sitting.left))
    if options.as_json:
        _print_outcome(names, you in sitting.winners, sitting.left, kept)
    elif kept is not None:
        for command in (f"show {kept}", f"why {kept} 1", f"versus --from {kept}@1"):
            print_command(command, console=console)
    return _exit(sitting.useless, sitting.faults)


def _print_outcome(winners: Sequence[str], won: bool, left: bool, kept: str | None) -> None:
    winner = " and ".join(winners) or None
    print_json({"winner": winner, "won": won, "left": left, "match": kept})


def _exit(useless: set[str], faults: Mapping[str, int]) -> Exit:
    """Say which bots failed, in all their decisions or in some, and return the exit code."""
    for name in sorted(useless):
        print_error(f"Every decision of {name} failed.")
    for name, number in faults.items():
        if name not in useless:
            decisions = "A decision" if number == 1 else f"{number} decisions"
            print_error(f"{decisions} of {name} failed; a safe action was played instead.")
    if useless:
        return Exit.FAILED
    return Exit.REPLACED if faults else Exit.OK


def serve(setting: Setting, options: TableOptions, page: BrowserOptions) -> int:
    """Let people play in browsers until Ctrl-C; 1 where a bot failed all through a match."""
    console = messages() if options.as_json else results()

    def ended(match: EndedMatch, names: list[str]) -> None:
        if options.as_json:
            _print_outcome(names, PERSON in names, match.sitting.left, match.kept)
        else:
            console.print(ending(names, left=match.sitting.left))

    host = page.host or HOST
    room = Room(setting, options.nickname, options.hints, options.why, ended, teach=options.teach)
    with table_served(room, host, page.port or 0) as links:
        own, *others = links
        said = [own, *(f"For somebody you invite: {link}" for link in others)]
        if not is_local(host):
            said += [
                "Whoever in your network has a link can play on its seat; nothing is encrypted."
            ]
        elif others:
            said.append("Only this machine reaches them; with --host 0.0.0.0 your network does.")
        for line in (*said, "Ctrl-C closes the table."):
            console.print(line, soft_wrap=True)
        open_page(own, page.open)
        until_stopped(room)
    return _exit(room.useless, room.faults)


def serve_elsewhere(game: Game, options: TableOptions, page: BrowserOptions) -> int:
    """Let people play a service's matches in a browser here, until Ctrl-C."""
    if game.elsewhere is None or options.url is None or page.invite or page.host:
        raise ConfigError(
            "Only games of Blef at the service that --url names are played in a browser, and by "
            "one person; leave --browser out, or --invite and --host."
        )
    app = game.elsewhere.load()(options.url)
    server = Background("The page", app, port=page.port or 0)
    link = f"{server.url}/#{options.game or ''}"
    results().print(f"Play at {link} (Ctrl-C ends).", soft_wrap=True)

    server.run(lambda: open_page(link, page.open))
    return Exit.OK


def until_stopped(room: Room) -> None:
    """Play in this thread, in which alone a file's decision can be cut short, until Ctrl-C.

    An exception may arise just after a lock was taken, which nobody then gives back. So only a
    second signal raises; the first has the room stopped by another thread.
    """

    def stop(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.default_int_handler)
        Thread(target=room.stop, name="stopping").start()

    asked = [one for one in (SIGINT, SIGTERM) if signal.getsignal(one) is not signal.SIG_IGN]
    with signals_to(stop, *asked), suppress(KeyboardInterrupt):
        room.run()


def _ask(console: Console, options: TableOptions) -> Ask:
    return partial(console.input, markup=False) if options.as_json else input
