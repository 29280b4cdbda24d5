"""The parts of a hosted game, found by the name of its folder."""

from functools import cache, cached_property
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from cardsharp.deciding import Decider
from cardsharp.errors import Garbled
from cardsharp.game import Game, Part
from cardsharp.host.rules import Drawing, Rules
from cardsharp.strategy import Decision


class House:
    """A hosted game's parts, and its values as JSON; `folder` is its package."""

    def __init__(self, folder: str) -> None:
        self.game: Game = Part[Game](f"{folder}.game:GAME").load()
        self.folder = folder

    def rules(self, seats: int | None = None) -> Rules[Any, Any, Any]:
        """The rules for so many seats."""
        made: Rules[Any, Any, Any] = Part[Any](f"{self.folder}.simulation:RULES").load()(seats)
        return made

    @cached_property
    def drawing(self) -> Drawing[Any, Any]:
        """How it is shown."""
        made: Drawing[Any, Any] = Part[Any](f"{self.folder}.drawing:DRAWING").load()
        return made

    @cached_property
    def codec(self) -> "Codec":
        """How they are written and read."""
        rules = self.rules()
        return Codec(*(Written(TypeAdapter(kind)) for kind in (rules.kind, rules.seen, rules.done)))


class Written(NamedTuple):
    """What a game has of one kind, as JSON values."""

    adapter: TypeAdapter[Any]

    def dump(self, thing: object) -> Any:  # noqa: ANN401 - any JSON
        """It as JSON."""
        return self.adapter.dump_python(thing, mode="json")

    def load(self, body: object) -> Any:  # noqa: ANN401 - the game's own
        """What was written so; raises `Garbled` if nothing was."""
        try:
            return self.adapter.validate_python(body)
        except ValidationError:
            raise Garbled("This is no state, position or action of the game.") from None


class Codec(NamedTuple):
    """States, positions and actions of a game as JSON."""

    states: Written
    positions: Written
    actions: Written


house = cache(House)  # the parts of the game in a folder, found once


def decider_of(folder: str) -> Decider[Any, Any, Decision[Any]]:
    """What may be sent: what the rules allow; the first of it is safe."""
    rules = house(folder).rules()

    def refusal(position: Any, action: Any) -> str | None:  # noqa: ANN401 - the game's own
        return None if action in rules.options(position) else f"the rules refuse {action}"

    def safe(position: Any, refused: frozenset[Any]) -> Any:  # noqa: ANN401 - the game's own
        options = rules.options(position)
        return min(options, key=lambda action: action in refused)

    return Decider(refusal, safe, Decision, (rules.done,), rules.options)
