"""Definition of a game, as the `game.py` of its package declares it.

All other code reads the game's parts from its definition. Each part is an import path, so that
reading a definition imports nothing of the game: the worker that plays one game does not load
another.

The classes are named tuples, because every function creates them when it starts and a dataclass
takes five times as long to define.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

if TYPE_CHECKING:  # so that listing the games imports none of their parts
    from random import Random

    from cardsharp.analysis.judge import Judge
    from cardsharp.analysis.replay import DecisionPoint, ReplayStep, RestoredState
    from cardsharp.bot.session_result import SessionResult
    from cardsharp.bot.settings import WorkerSettings
    from cardsharp.core.clock import RemainingTime
    from cardsharp.core.metrics import Metrics
    from cardsharp.pages.board_renderer import BoardRenderer
    from cardsharp.play.decision_runner import DecisionRunner
    from cardsharp.play.simulation import SimulationFactory
    from cardsharp.server.http_service import HttpService
    from cardsharp.store.match_log import MatchRecord, MoveRecord, Summaries

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
        """Import the part and return it.

        Raises `ImportError` or `AttributeError` if the path is wrong.
        """
        module, _, name = self.import_path.partition(":")
        imported = import_module(module)
        target: Any = getattr(imported, name) if name else imported
        return cast("T", target(*self.args) if self.args else target)


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


RunSession = Callable[[str, InvocationContext], "SessionResult"]
"""Function that plays the match with this id until it ends or the time is up."""

PlaceOrder = Callable[[Mapping[str, Any], InvocationContext], Sequence[str]]
"""Function that starts the matches of an order and returns their ids."""

RunDirector = Callable[[Mapping[str, str], str | None, str], bool]
"""Function that does what is due in a game's contests.

Its arguments are the environment, the message of a tick (None if the schedule called it), and
the id of the invocation. It returns True if more ticks must follow.
"""

RunPoller = Callable[[InvocationContext], int]
"""Function that polls until the time is nearly up and returns how many matches it queued."""

PlayTypicalMatch = Callable[[str, "Random"], None]
"""Function that plays a typical match, by which the cost of a match is measured."""


class JoinableMatch(NamedTuple):
    """Match at a service that anybody may still join: id, players, `max_players`, room number."""

    game_id: str
    players: tuple[str, ...]
    max_players: int
    room_number: int | None = None


ListOpenGames = Callable[[str], "Sequence[JoinableMatch]"]
"""Function that returns the games that can be joined; raises `ArenaError`."""

Replay = Callable[["MatchRecord", "Sequence[MoveRecord]"], "Iterable[ReplayStep]"]
"""Function that returns the steps of a stored match, with our reasons beside them."""

ImportMatch = Callable[[bytes], "tuple[MatchRecord, list[MoveRecord]]"]
"""Function that reads a match from the JSON of an arena or a service.

Raises `InvalidInput` if the JSON has no match.
"""

SummarizeMoves = Callable[["MatchRecord", "Sequence[MoveRecord]"], "Summaries"]
"""Function that returns the summaries of the moves that have facts.

Raises `StoreError` if a move cannot be read.
"""

ListDecisions = Callable[["MatchRecord", "Sequence[MoveRecord]"], "Iterable[DecisionPoint]"]
"""Function that returns the decisions of a stored match whose positions are completely known."""


RestoreStates = Callable[
    ["MatchRecord", "Sequence[MoveRecord]", "Random"], "Iterable[RestoredState]"
]
"""Function that returns the states of a stored match, in the game's simulation.

Anything that the log does not have, such as cards that nobody has seen, is drawn at random.
"""


class Game(NamedTuple):
    """Definition of a game: its names and its parts. `None` means that the game lacks a part.

    `summary` is the game's line in the list of commands. Each module of `strategy_package`
    registers the strategies that it defines.
    """

    name: str
    title: str
    summary: str
    strategy_package: str
    default_strategy: str
    load_trained_strategy: LazyImport[Callable[[str], Any]] | None = None
    """Function that loads a player from the text of a file that training wrote.

    It raises an exception for any other text.
    """
    starter_module: str | None = None  # the module whose text a new strategy file begins with
    ladder_strategies: tuple[str, ...] = ()  # from the weakest to the strongest, for `climb`
    settings_type: LazyImport[type["WorkerSettings"]] | None = None
    run_session: LazyImport[RunSession] | None = None
    place_order: LazyImport[PlaceOrder] | None = None
    check_order: LazyImport[Callable[[Mapping[str, object]], None]] | None = None
    """Function that checks that the match of an order exists.

    So a bot that runs locally does not wait for a match that does not exist.
    """
    list_open_games: LazyImport[ListOpenGames] | None = None
    browser_client: LazyImport[Callable[[str], Any]] | None = None
    """Factory of a web page on which a person plays matches at this service in a browser."""
    order_keys: frozenset[str] = frozenset()  # an order that has one of these keys is for this game
    run_poller: LazyImport[RunPoller] | None = None
    run_director: LazyImport[RunDirector] | None = None
    http_service: LazyImport["HttpService"] | None = None
    simulation: LazyImport["SimulationFactory"] | None = None
    duel_extras: LazyImport[Any] | None = None
    """Factory of the game's `LabAdapter`: what duels in the lab need beside the simulation."""
    replay: LazyImport[Replay] | None = None
    import_match: LazyImport[ImportMatch] | None = None
    list_decisions: LazyImport[ListDecisions] | None = None
    label_action: LazyImport[Callable[[str], str]] | None = None
    """Returns the name that an action has at the table from its name in the log."""
    restore_states: LazyImport[RestoreStates] | None = None
    """Without it nobody can continue a stored match from the middle."""
    decision_runner: LazyImport["DecisionRunner[Any, Any, Any]"] | None = None
    """Has a strategy decide such a position again."""
    judge: LazyImport["Judge"] | None = (
        None  # what options are worth: for `analysis` and `backtest`
    )
    cli_app: LazyImport[Any] | None = None  # sub-commands at home, a `cyclopts.App`
    play_typical_match: LazyImport[PlayTypicalMatch] | None = None
    rl_encoding: LazyImport[Any] | None = None  # numbers of positions and actions: `Encoding`
    open_archive: LazyImport[Any] | None = None  # opens the game's own archive, a `MatchReader`
    program_protocol: LazyImport[Any] | None = None  # messages for programs, a `ProtocolCodec`
    board_renderer: LazyImport["BoardRenderer"] | None = None  # draws its board on pages of matches
    summarize_moves: LazyImport[SummarizeMoves] | None = None
    """Summarizes the moves of a stored match, for people who look into the store."""
    text_renderer: LazyImport[Any] | None = None  # shows its matches in a terminal
    terminal_ui: LazyImport[Any] | None = None  # lets a person play in a terminal
