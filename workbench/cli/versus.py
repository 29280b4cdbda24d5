"""`cardsharp versus`: you at the table, in the terminal, against any player of any game."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from random import Random, SystemRandom
from secrets import token_hex
from typing import Annotated, Any

from cyclopts import Parameter, validators
from rich.console import Console

from cardsharp.errors import ConfigError, Garbled, RateLimited, StoreError, Unreachable
from cardsharp.game import Game
from cardsharp.games import game as game_called
from cardsharp.simulation import Simulate, Simulation
from cardsharp.strategy import Decision
from workbench.cli.each import for_each_game
from workbench.lab.extras import Told, extras_of
from workbench.lab.guard import guarded
from workbench.lab.sitting import PERSON, Bot, Sitting
from workbench.show.keeping import keep_match
from workbench.show.lookup import data_folder, open_log, own_store
from workbench.show.output import messages, print_error, print_json, program, results
from workbench.show.person import Advisor, Ask, Invitation, Left, Person
from workbench.stage.surroundings import telemetry_in
from workbench.strategy_file import called, strategy_named

_SEAT_KEPT = "You have left; the same command takes your seat again."

_SIDES = 2
"""Of a game with partners."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Who else sits at the table, and what is told."""

    bots: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=1, lte=7),
            help="How many play against you, where a game leaves that open.",
        ),
    ] = None
    partner: Annotated[
        str | None,
        Parameter(help="Who plays with you, in a game of partners: the same."),
    ] = None
    hints: Annotated[
        bool, Parameter(negative=(), help="Say at each turn what our best player would do.")
    ] = False
    why: Annotated[
        bool, Parameter(negative=(), help="Tell the bots' reasons when a round is over.")
    ] = False
    seed: Annotated[
        str | None, Parameter(help="The same seed deals the same cards; without it, chance.")
    ] = None
    url: Annotated[
        str | None, Parameter(help="Join a game at the service of that address, with --game.")
    ] = None
    game: Annotated[str | None, Parameter(help="That game's uuid; it must not have started.")] = (
        None
    )
    nickname: Annotated[str, Parameter(help="What you are called there.")] = "Guest"
    as_json: Annotated[
        bool,
        Parameter(name="--json", negative=(), help="Talk on stderr; the result as JSON at last."),
    ] = False

    @property
    def decides(self) -> bool:
        """Whether anything is given that only a match of our own can heed."""
        return bool(self.bots or self.partner or self.why or self.seed)

    def dice(self, purpose: str = "") -> Random:
        """What deals, or what a bot has; one changes nothing of another."""
        return SystemRandom() if self.seed is None else Random(f"{self.seed}/{purpose}")


Opponent = Annotated[
    str | None,
    Parameter(
        name=("--opponent", "--opponents", "--strategy"),
        help="Who plays against you: a strategy, FILE.py, or 'command'; else our best.",
    ),
]


def versus_of(game: Game) -> Callable[..., None]:
    """The command for a game."""

    def versus(opponent: Opponent = None, *, options: TableOptions = TableOptions()) -> None:
        """Play yourself, in this terminal, against any player; type help at the table."""
        if options.url is None and options.game is None:
            play(game, opponent or game.default_strategy, options)
        elif opponent or options.decides:
            raise ConfigError("Who plays at a service, and what is dealt, is decided there.")
        else:
            join(game, options)

    return versus


def join(game: Game, options: TableOptions) -> None:
    """Take a seat in a match at a service, and play it to its end."""
    if game.terminal is None or game.simulation is None:
        raise ConfigError(f"{game.title} cannot be played in a terminal.")
    if options.url is None or options.game is None:
        raise ConfigError("A game at a service is named by both --url and --game; give both.")
    wanted = Invitation(options.url, options.game, options.nickname)
    advisor = _advisor(game, game.simulation.load()(None))
    console = messages() if options.as_json else results()
    ask, winner = _ask(console, options), None
    try:
        with telemetry_in(data_folder() / "bot.log"):
            winner = game.terminal.load().join(
                wanted, lambda screen: Person(screen, ask, console, advisor, options.hints)
            )
    except Left:
        console.print(_SEAT_KEPT)
    except (Unreachable, Garbled, RateLimited):
        console.print(_SEAT_KEPT)
        raise
    else:
        for line in _ending([winner], left=False):
            console.print(line)
    if options.as_json:
        won = winner == PERSON
        print_json({"winner": winner, "won": won, "left": winner is None, "match": None})


def play(game: Game, opponent: str, options: TableOptions) -> None:
    """Play a match with a person at the table, and keep it where the game keeps matches."""
    if game.terminal is None or game.simulation is None:
        raise ConfigError(f"{game.title} cannot be played in a terminal.")
    simulation = _simulation(game, game.simulation.load(), options)
    you = options.dice("seats").randrange(simulation.seats)
    bots = _bots(game, simulation, you, opponent, options)
    console = messages() if options.as_json else results()
    screen = game.terminal.load()(_names(bots, you), you)
    names = screen.names
    advisor = _advisor(game, simulation)
    make = Decision if game.decider is None else game.decider.load().make
    person = Person(screen, _ask(console, options), console, advisor, options.hints, make)
    sitting = Sitting(simulation, you, person, bots, options.why)
    began = datetime.now(UTC)
    state = sitting.play(options.dice())
    kept = _keep(game, sitting, state, began)
    winners = [] if sitting.left else _winners(simulation, state)
    for line in _ending([names[seat] for seat in winners], left=sitting.left):
        console.print(line)
    if options.as_json:
        won = you in winners
        print_json(
            {
                "winner": " and ".join(names[seat] for seat in winners) or None,
                "won": won,
                "left": sitting.left,
                "match": kept,
            }
        )
    elif kept is not None:
        _print_next_steps(console, kept)


def _simulation(game: Game, simulate: Simulate, options: TableOptions) -> Simulation[Any, Any, Any]:
    """The game for as many as are to play."""
    usual: Simulation[Any, Any, Any] = simulate(None)
    partners = max(map(len, usual.sides)) > 1
    if options.partner is not None and not partners:
        raise ConfigError(f"{game.title} has no partners; leave --partner out.")
    if options.bots is None or (partners and options.bots == usual.seats // _SIDES):
        return usual
    chosen: Simulation[Any, Any, Any] = simulate(1 + options.bots)
    return chosen


def _bots(
    game: Game,
    simulation: Simulation[Any, Any, Any],
    you: int,
    opponent: str,
    options: TableOptions,
) -> dict[int, Bot]:
    """The other seats' players, each with dice of its own."""
    ours = next(side for side in simulation.sides if you in side)
    bots = {}
    for seat in range(simulation.seats):
        if seat == you:
            continue
        wanted = (options.partner or game.default_strategy) if seat in ours else opponent
        name = strategy_named(wanted, game)
        strategy = simulation.strategy(name, options.dice(f"bot {seat}"))
        bots[seat] = Bot(called(wanted), guarded(wanted, strategy))
    return bots


def _names(bots: Mapping[int, Bot], you: int) -> list[str]:
    """What the players are called at the table, by seat."""
    numbers = count(1)
    if len(bots) == 1:
        return [PERSON if seat == you else bots[seat].name for seat in range(2)]
    return [PERSON if seat == you else f"bot {next(numbers)}" for seat in range(len(bots) + 1)]


def _ask(console: Console, options: TableOptions) -> Ask:
    """Reads a line from the keyboard, the prompt where everything else is told."""
    if not options.as_json:
        return input

    def ask(prompt: str) -> str:
        console.print(prompt, end="", soft_wrap=True)
        return input("")

    return ask


def _advisor(game: Game, simulation: Simulation[Any, Any, Any]) -> Advisor[Any]:
    """The game's best player; its hints do not depend on the match's dice."""
    name = game.default_strategy
    return Advisor(name, simulation.strategy(name, Random(0)))


def _winners(simulation: Simulation[Any, Any, Any], state: Any) -> list[int]:  # noqa: ANN401
    """The seats of those who have won; nobody where it is a tie."""
    points = simulation.points(state)
    best = [seat for seat, made in enumerate(points) if made == max(points)]
    return best if len(best) < simulation.seats else []


def _ending(winners: Sequence[str], *, left: bool) -> Iterator[str]:
    """How it ended, in words."""
    yield ""
    if left:
        yield "You have left the table."
    elif PERSON in winners:
        yield "You have won!"
    elif winners:
        yield f"{' and '.join(winners)} {'has' if len(winners) == 1 else 'have'} won."
    else:
        yield "A tie."


def _keep(game: Game, sitting: Sitting[Any, Any, Any], state: object, at: datetime) -> str | None:
    """The id of the match in our match log, or of its last part; None where it is not kept."""
    extras, simulation = extras_of(game.name), sitting.simulation
    ended = sitting.person.screen.given_up(state) if sitting.left else state
    if ended is None or not sitting.taken or not extras.keeps:
        return None
    names = tuple(
        PERSON if seat == sitting.you else sitting.bots[seat].name
        for seat in range(simulation.seats)
    )
    ours = next(side for side in simulation.sides if sitting.you in side)
    name = f"versus-{token_hex(4)}"
    told = Told(name, at, ours, names, sitting.taken, ended, tag="versus")
    kept = None
    try:
        with open_log(own_store()) as log:
            for record, moves in extras.kept(told):
                keep_match(record, moves, log)
                kept = record.match_id
    except StoreError as error:
        print_error(f"The match could not be kept. {error}")
    return kept


def _print_next_steps(console: Console, match_id: str) -> None:
    """Commands that tell of the match, ready to be copied."""
    for command in (f"show {match_id}", f"why {match_id} 1"):
        console.print(f"  {program()} {command}", style="dim", soft_wrap=True)


__getattr__ = for_each_game(versus_of)
versus = versus_of(game_called(None))
