"""`draw-2`, `draw-3`, `draw-4`: end the turn at k cards, and answer effects like the server."""

from random import Random

from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, EffectType
from cardsharp.games.deadmansdraw.events import CardDrawn, CardPlaced, EffectPending
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, remaining_kraken_draws
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, strategy
from cardsharp.games.deadmansdraw.strategies.position_features import autopick


class DrawK:
    """Draws until `k` cards lie in the play area.

    Cards are counted when one is drawn, before its effect brings more. A client that lets the
    server answer effects counts in the same way, and the published figures of these players were
    measured so.
    """

    def __init__(self, k: int) -> None:
        self.k = k

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """Draw below `k` cards, end the turn from `k` cards on."""
        pending = position.pending
        if pending is not None and pending.effect_type is EffectType.KRAKEN:
            return DeadMansDrawDecision(DRAW, "The Kraken makes us draw.")
        if pending is not None:
            return DeadMansDrawDecision(autopick(position), "The card that the server would pick.")
        if _cards_at_last_draw(position) < self.k:
            return DeadMansDrawDecision(DRAW, f"Fewer than {self.k} cards lay in the play area.")
        return DeadMansDrawDecision(END_TURN, f"At least {self.k} cards lay in the play area.")


def _cards_at_last_draw(position: DeadMansDrawPosition) -> int:
    """Return the size of the play area right after the last voluntary draw, before its effects."""
    owed = later = 0
    moves = (move for move in position.history if move.turn == position.turn)
    for event in (event for move in moves for event in move.events):
        match event:
            case CardDrawn() if owed:
                owed -= 1
            case CardDrawn():
                later = -1  # the next event places the card itself; it must not count
            case CardPlaced():
                later += 1
            case EffectPending(effect):
                owed = remaining_kraken_draws(effect, owed)
    return len(position.play_area) - later


@strategy("draw-2")
def draw_2(_rng: Random) -> DrawK:
    """Ends the turn at two cards."""
    return DrawK(2)


@strategy("draw-3")
def draw_3(_rng: Random) -> DrawK:
    """Ends the turn at three cards."""
    return DrawK(3)


@strategy("draw-4")
def draw_4(_rng: Random) -> DrawK:
    """Ends the turn at four cards."""
    return DrawK(4)
