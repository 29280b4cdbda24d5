"""`example-node`, `example-java`.

The organisers' example clients (docs/spec/arena.md section 9).
"""

from random import Random

from cardsharp.games.deadmansdraw.actions import (
    DRAW,
    END_TURN,
    Action,
    EffectType,
    PendingEffect,
    respond,
)
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, strategy
from cardsharp.games.deadmansdraw.strategies.position_features import (
    autopick,
    pending_effect_targets,
)
from cardsharp.play.strategy import format_percent

STOP_PROBABILITY = 0.3  # probability that either ends a turn, and that one refuses an Oracle's card


@strategy("example-node")
class ExampleNodeClient:
    """Ends the turn at random; answers effects like the server, as the Node client does.

    The original sends Draw and EndTurn with autopick, which answers pending effects first. This
    strategy names the same cards one by one.
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """Draw on an empty play area; otherwise draw or stop at random. Answer pending effects."""
        pending = position.pending
        if pending is not None and pending.effect_type is not EffectType.KRAKEN:
            return DeadMansDrawDecision(
                self.choose_answer(position, pending), "The example client's answer."
            )
        if pending is not None or not position.play_area:
            return DeadMansDrawDecision(DRAW, "A card must be drawn.")
        action = END_TURN if self.rng.random() < STOP_PROBABILITY else DRAW
        return DeadMansDrawDecision(
            action, f"The turn ends by chance, {format_percent(STOP_PROBABILITY)} after each card."
        )

    def choose_answer(self, position: DeadMansDrawPosition, _pending: PendingEffect) -> Action:
        """Answer a pending effect with the server's own choice. It is not called for a Kraken."""
        return autopick(position)


@strategy("example-java")
class ExampleJavaClient(ExampleNodeClient):
    """Ends the turn at random, and takes the first card of any choice, as the Java client does."""

    def choose_answer(self, position: DeadMansDrawPosition, pending: PendingEffect) -> Action:
        """Return the first card; the card of an Oracle is refused at random."""
        if pending.effect_type is EffectType.ORACLE:
            card = None if self.rng.random() < STOP_PROBABILITY else pending.cards[0]
            return respond(EffectType.ORACLE, card)
        return respond(pending.effect_type, pending_effect_targets(position)[0])
