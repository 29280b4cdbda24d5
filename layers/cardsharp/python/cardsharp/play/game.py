"""Definition of a game, in the `game.py` of its package; everything else reads it from there.

Each part is an import path, so that reading a definition imports nothing of the game: the
worker that plays one game does not load another's. The classes are named tuples because every
function creates them when it starts, and a dataclass takes five times as long to define.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

if TYPE_CHECKING:  # so that a list of games is there at once, whatever they are made of
    from random import Random

    from cardsharp.analysis.judge import Judge
    from cardsharp.analysis.replay import DecisionPoint, ReplayStep, RestoredState
    from cardsharp.bot.queueing.messages import PollMessage
    from cardsharp.bot.session_result import SessionResult
    from cardsharp.bot.settings import WorkerSettings
    from cardsharp.core.clock import RemainingTime
    from cardsharp.core.metrics import Metrics
    from cardsharp.pages.board_renderer import BoardRenderer
    from cardsharp.play.decision_runner import DecisionRunner
    from cardsharp.play.simulation import SimulationFactory
    from cardsharp.server.asgi_service import AsgiService
    from cardsharp.server.http_service import HttpService
    from cardsharp.store.match_log import MatchRecord, MoveRecord

T = TypeVar("T")
W = TypeVar("W", bound="WorkerSettings")


class LazyImport(NamedTuple, Generic[T]):
    """A part of a game as `module:name`, imported on first use.

    If `args` are given, the imported object is a factory and is called with them. This way
    shared modules create the parts that a game does not define itself.
    """

    import_path: str
    args: tuple[str, ...] = ()

    def load(self) -> T:
        """Return the part; raise `ImportError` or `AttributeError` if the path is wrong."""
        module, _, name = self.import_path.partition(":")
        imported = import_module(module)
        part: Any = getattr(imported, name) if name else imported
        return cast("T", part(*self.args) if self.args else part)


class InvocationContext(NamedTuple):
    """Context of one invocation: environment, metrics, worker id and remaining time.

    `other_setting_names` returns the names of the settings of all games, so that a game's
    settings do not report them as unknown.
    """

    env: Mapping[str, str]
    metrics: "Metrics"
    worker_id: str
    remaining_time: "RemainingTime"
    other_setting_names: Callable[[], Collection[str]] = tuple

    def load_settings(self, settings_type: type[W]) -> W:
        """Return the settings of this type; raise `ConfigError` if they are invalid."""
        return settings_type.load(self.env, self.other_setting_names)


RunSession = Callable[
    [str, InvocationContext], "SessionResult"
]  # plays that match to its end, or the time's; how
PlaceOrder = Callable[
    [Mapping[str, Any], InvocationContext], Sequence[str]
]  # has the bot play; the matches' ids
RunDirector = Callable[[Mapping[str, str], str | None, str], bool]
"""Does what is due of a game's contests, which an environment describes, at the message of a tick
or, without one, at the schedule's, in the name of who was called; whether more ticks follow.
"""

RunPoller = Callable[
    [InvocationContext], int
]  # asks until the time is nearly up; how many matches were queued
PollOnce = Callable[
    ["PollMessage", InvocationContext], int
]  # asks once, as ordered; how many matches were queued
PlayTypicalMatch = Callable[
    [str, "Random"], None
]  # plays a typical match: what its cost is measured by


class OpenGame(NamedTuple):
    """A game at a service that anybody may join: its id, players, `max_players` and room."""

    game_id: str
    players: tuple[str, ...]
    max_players: int
    room_number: int | None = None


ListOpenGames = Callable[
    [str], "Sequence[OpenGame]"
]  # those that can be joined; raises `ArenaError`
Replay = Callable[["MatchRecord", "Sequence[MoveRecord]"], "Iterable[ReplayStep]"]
"""The steps of a stored match, with our reasons beside them."""

ImportMatch = Callable[[bytes], "tuple[MatchRecord, list[MoveRecord]]"]
"""The match that somebody else's JSON tells; raises `Malformed` where it tells none."""

ListDecisions = Callable[["MatchRecord", "Sequence[MoveRecord]"], "Iterable[DecisionPoint]"]
"""The decisions of a stored match whose positions it tells whole."""


RestoreStates = Callable[
    ["MatchRecord", "Sequence[MoveRecord]", "Random"], "Iterable[RestoredState]"
]
"""The states that a stored match went through, in the game's simulation.

What the log does not tell, such as cards that nobody has seen, is as the dice have it.
"""


class Game(NamedTuple):
    """A game and its parts; `None` means that it lacks the part.

    `summary` is its line in the list of commands. `strategy_package` is the package in which
    each module registers the strategies that it defines.
    """

    name: str
    title: str
    summary: str
    strategy_package: str
    default_strategy: str
    load_trained_strategy: LazyImport[Callable[[str], Any]] | None = None
    """Makes the player of a file that training wrote, from its text; raises for any other text."""
    starter_module: str | None = None  # a module whose text a user's own strategy begins with
    ladder_strategies: tuple[str, ...] = ()  # from the weakest up, for a user's own to climb
    settings_type: LazyImport[type["WorkerSettings"]] | None = None
    run_session: LazyImport[RunSession] | None = None
    place_order: LazyImport[PlaceOrder] | None = None
    check_order: LazyImport[Callable[[Mapping[str, object]], None]] | None = None
    """Looks once at the match of an order, before a bot at home waits for what is none."""
    list_open_games: LazyImport[ListOpenGames] | None = (
        None  # lists what can be joined at a service
    )
    browser_client: LazyImport[Callable[[str], Any]] | None = None
    """Makes an application, a page by which matches at this service are played in a browser."""
    order_keys: frozenset[str] = frozenset()  # an order with any of them is for this game
    run_poller: LazyImport[RunPoller] | None = None
    poll_once: LazyImport[PollOnce] | None = None
    run_director: LazyImport[RunDirector] | None = None
    http_service: LazyImport["HttpService[Any] | AsgiService"] | None = None
    simulation: LazyImport["SimulationFactory"] | None = None
    duel_extras: LazyImport[Any] | None = None
    """The game's additions to duels in the lab beside its simulation, a kind of `LabAdapter`."""
    replay: LazyImport[Replay] | None = None
    import_match: LazyImport[ImportMatch] | None = (
        None  # reads a match as its arena or service tells it
    )
    list_decisions: LazyImport[ListDecisions] | None = None
    restore_states: LazyImport[RestoreStates] | None = (
        None  # without it nothing can be tried from within a match
    )
    decision_runner: LazyImport["DecisionRunner[Any, Any, Any]"] | None = None
    """Has a strategy decide such a position again."""
    judge: LazyImport["Judge"] | None = (
        None  # what options are worth: for `analysis` and `backtest`
    )
    cli_app: LazyImport[Any] | None = None  # sub-commands at home, a `cyclopts.App`
    play_typical_match: LazyImport[PlayTypicalMatch] | None = None
    rl_encoding: LazyImport[Any] | None = None  # positions and actions as numbers, an `Encoding`
    open_archive: LazyImport[Any] | None = (
        None  # opens what keeps its matches at home, a `MatchReader`
    )
    program_protocol: LazyImport[Any] | None = (
        None  # how programs are told positions, a `Translation`
    )
    board_renderer: LazyImport["BoardRenderer"] | None = (
        None  # how its table is drawn on the page of a match
    )
    compression_dictionary: LazyImport[str] | None = None
    """A text of what its stored bodies have in common, against which each is packed. What was
    packed with it cannot be read with another, so it never changes."""
    text_renderer: LazyImport[Any] | None = (
        None  # how its matches are shown at home, a `StepByStep`
    )
    terminal_ui: LazyImport[Any] | None = (
        None  # how a person at home sees and plays it, a kind of `Screen`
    )
