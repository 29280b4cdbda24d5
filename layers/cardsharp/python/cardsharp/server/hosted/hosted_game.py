"""The parts of a hosted game, found by the name of its folder."""

from functools import cache, cached_property
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from cardsharp.errors import MalformedResponse
from cardsharp.play.decision_runner import DecisionRunner
from cardsharp.play.game import Game, LazyImport
from cardsharp.play.hosted_rules import HostedRules, TextRenderer
from cardsharp.play.strategy import Decision


class HostedGame:
    """A hosted game's parts, and its values as JSON; `folder` is its package."""

    def __init__(self, package: str) -> None:
        self.game: Game = LazyImport[Game](f"{package}.game:GAME").load()
        self.folder = package

    def build_rules(self, seats: int | None = None) -> HostedRules[Any, Any, Any]:
        """Return the rules for this number of seats."""
        rules: HostedRules[Any, Any, Any] = LazyImport[Any](
            f"{self.folder}.simulation:RULES"
        ).load()(seats)
        return rules

    @cached_property
    def text_renderer(self) -> TextRenderer[Any, Any]:
        """The game's text renderer."""
        renderer: TextRenderer[Any, Any] = LazyImport[Any](f"{self.folder}.drawing:DRAWING").load()
        return renderer

    @cached_property
    def json_codecs(self) -> "GameCodecs":
        """Codecs of the game's states, positions and actions."""
        rules = self.build_rules()
        return GameCodecs(
            *(
                JsonCodec(TypeAdapter(kind))
                for kind in (rules.state_type, rules.position_type, rules.action_type)
            )
        )


class JsonCodec(NamedTuple):
    """Codec between values of one type of the game and JSON."""

    type_adapter: TypeAdapter[Any]

    def dump(self, value: object) -> Any:  # noqa: ANN401 - any JSON
        """Return the value as JSON."""
        return self.type_adapter.dump_python(value, mode="json")

    def load(self, body: object) -> Any:  # noqa: ANN401 - the game's own
        """Return the value of a JSON body; raise `MalformedResponse` if it has another type."""
        try:
            return self.type_adapter.validate_python(body)
        except ValidationError:
            raise MalformedResponse("This is no state, position or action of the game.") from None


class GameCodecs(NamedTuple):
    """States, positions and actions of a game as JSON."""

    states: JsonCodec
    positions: JsonCodec
    actions: JsonCodec


load_hosted_game = cache(HostedGame)  # an entry for each game


def decision_runner_for(package: str) -> DecisionRunner[Any, Any, Decision[Any]]:
    """Return the game's decision runner; the first legal action is the fallback."""
    rules = load_hosted_game(package).build_rules()

    def refusal(position: Any, action: Any) -> str | None:  # noqa: ANN401 - the game's own
        return None if action in rules.legal_actions_in(position) else f"the rules refuse {action}"

    def safe(position: Any, rejected_actions: frozenset[Any]) -> Any:  # noqa: ANN401 - the game's own
        options = rules.legal_actions_in(position)
        return min(options, key=lambda action: action in rejected_actions)

    return DecisionRunner(refusal, safe, Decision, (rules.action_type,), rules.legal_actions_in)
