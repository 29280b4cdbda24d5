"""What a game says of itself, once, in the `game.py` of its folder; everybody else reads it.

Each part is named by the place of what makes it, so that reading about a game imports nothing of
it: the worker that plays one game does not load another's. Tuples, because every function makes
these when it starts, and a dataclass takes five times as long to define.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

if TYPE_CHECKING:  # so that a list of games is there at once, whatever they are made of
    from random import Random

    from cardsharp.cloud.attended import Attended
    from cardsharp.cloud.messages import LookMessage
    from cardsharp.cloud.metrics import Meter
    from cardsharp.cloud.ports import MatchRecord, MoveRecord, Remaining
    from cardsharp.cloud.settings import Workplace
    from cardsharp.deciding import Decider
    from cardsharp.judge import Judge
    from cardsharp.replay import Asked, Restored, Step
    from cardsharp.simulation import Simulate
    from cardsharp.viewer.board import Board
    from cardsharp.web.asgi import AsgiService
    from cardsharp.web.service import Service

T = TypeVar("T")
W = TypeVar("W", bound="Workplace")


class Part(NamedTuple, Generic[T]):
    """A part of a game as `module:name`, imported when it is asked for.

    What `given` names is told to whatever lies there, which makes the part: so the house makes the
    parts that a game has not of its own.
    """

    place: str
    given: tuple[str, ...] = ()

    def load(self) -> T:
        """The part; raises `ImportError` or `AttributeError` where the place is wrong."""
        module, _, name = self.place.partition(":")
        found = import_module(module)
        part: Any = getattr(found, name) if name else found
        return cast("T", part(*self.given) if self.given else part)


class Job(NamedTuple):
    """What an invocation brings: settings, where figures go, the worker's name, and its time.

    `others` brings the names of the settings that any game may be told, so that no other takes
    them for mistakes.
    """

    environment: Mapping[str, str]
    meter: "Meter"
    worker: str
    remaining: "Remaining"
    others: Callable[[], Collection[str]] = tuple

    def settings(self, kind: type[W]) -> W:
        """The settings of that kind; raises `ConfigError`."""
        return kind.load(self.environment, self.others)


Attend = Callable[[str, Job], "Attended"]  # plays that match to its end, or the time's; how
Order = Callable[[Mapping[str, Any], Job], Sequence[str]]  # has the bot play; the matches' ids
Direct = Callable[[Mapping[str, str], str | None, str], bool]
"""Does what is due of a game's contests, which an environment describes, at the message of a tick
or, without one, at the schedule's, in the name of who was called; whether more ticks follow.
"""

Listen = Callable[[Job], int]  # asks until the time is nearly up; how many matches were queued
Look = Callable[["LookMessage", Job], int]  # asks once, as ordered; how many matches were queued
Visit = Callable[[str, "Random"], None]  # plays a typical match: what its cost is measured by


class OpenGame(NamedTuple):
    """A game at a service that anybody may join: its id, players, `most` of them, and room."""

    game: str
    players: tuple[str, ...]
    most: int
    room: int | None = None


Lobby = Callable[[str], "Sequence[OpenGame]"]  # those that can be joined; raises `ArenaError`
Replay = Callable[["MatchRecord", "Sequence[MoveRecord]"], "Iterable[Step]"]
"""The steps of a stored match, with our reasons beside them."""

Recorded = Callable[[bytes], "tuple[MatchRecord, list[MoveRecord]]"]
"""The match that somebody else's JSON tells; raises `Malformed` where it tells none."""

Decisions = Callable[["MatchRecord", "Sequence[MoveRecord]"], "Iterable[Asked]"]
"""The decisions of a stored match whose positions it tells whole."""


Restore = Callable[["MatchRecord", "Sequence[MoveRecord]", "Random"], "Iterable[Restored]"]
"""The states that a stored match went through, in the game's simulation.

What the log does not tell, such as cards that nobody has seen, is as the dice have it.
"""


class Game(NamedTuple):
    """A game, and what it has: `None` is what it has not.

    `about` is its line in the list of commands; `strategies` is the package in which each module
    registers the strategies that it defines, and which has their `names` and what is to be said
    `about` them.
    """

    name: str
    title: str
    about: str
    strategies: str
    default_strategy: str
    trained: Part[Callable[[str], Any]] | None = None
    """Makes the player of a file that training wrote, from its text; raises for any other text."""
    starter: str | None = None  # a module whose text a user's own strategy begins with
    ladder: tuple[str, ...] = ()  # from the weakest up, for a user's own to climb
    settings: Part[type["Workplace"]] | None = None
    attend: Part[Attend] | None = None
    order: Part[Order] | None = None
    check: Part[Callable[[Mapping[str, object]], None]] | None = None
    """Looks once at the match of an order, before a bot at home waits for what is none."""
    lobby: Part[Lobby] | None = None  # lists what can be joined at a service
    elsewhere: Part[Callable[[str], Any]] | None = None
    """Makes an application, a page by which matches at this service are played in a browser."""
    order_keys: frozenset[str] = frozenset()  # an order with any of them is for this game
    listen: Part[Listen] | None = None
    look: Part[Look] | None = None
    direct: Part[Direct] | None = None
    service: Part["Service[Any] | AsgiService"] | None = None
    simulation: Part["Simulate"] | None = None
    lab: Part[Any] | None = None
    """What it brings to duels at home beside its simulation, a kind of `Extras`."""
    replay: Part[Replay] | None = None
    recorded: Part[Recorded] | None = None  # reads a match as its arena or service tells it
    decisions: Part[Decisions] | None = None
    restore: Part[Restore] | None = None  # without it nothing can be tried from within a match
    decider: Part["Decider[Any, Any, Any]"] | None = None
    """Has a strategy decide such a position again."""
    judge: Part["Judge"] | None = None  # what options are worth: for `analysis` and `try`
    commands: Part[Any] | None = None  # sub-commands at home, a `cyclopts.App`
    visit: Part[Visit] | None = None
    encoding: Part[Any] | None = None  # positions and actions as numbers, an `Encoding`
    archive: Part[Any] | None = None  # opens what keeps its matches at home, a `MatchReader`
    program: Part[Any] | None = None  # how programs are told positions, a `Translation`
    board: Part["Board"] | None = None  # how its table is drawn on the page of a match
    words: Part[str] | None = None
    """A text of what its stored bodies have in common, against which each is packed. What was
    packed with it cannot be read with another, so it never changes."""
    drawing: Part[Any] | None = None  # how its matches are shown at home, a `StepByStep`
    terminal: Part[Any] | None = None  # how a person at home sees and plays it, a kind of `Screen`
