"""My strategy for Euchre: one class with one method, from a position to a decision.

Nothing is remembered between decisions; all that you may know is in the position. Try it:

  cardsharp euchre versus --partner mine.py          # you and it against two bots
  cardsharp lab duel --game euchre mine.py rules     # how strong is it?
  cardsharp ladder --game euchre mine.py             # who is the next to beat?
"""

from cardsharp.games.euchre import Bid, Decision, DecisionType, Discard, Play, Position, strategy
from cardsharp.games.euchre.actions import PASS
from cardsharp.games.euchre.cards import rank_of, suit_of, trick_strength
from cardsharp.games.euchre.strategies import ElapsedSeconds

MIN_TRUMPS_TO_CALL = 3  # call a suit of which you have this many cards; try other numbers


@strategy("mine")
class MyEuchreStrategy:
    """Strategy that calls its longest suit, leads its highest card and follows with the lowest."""

    def __init__(self, stopwatch: ElapsedSeconds) -> None:
        self.stopwatch = stopwatch  # monotonic seconds, if you want to limit your time

    def decide(self, position: Position) -> Decision:
        """Return one of `position.legal_actions`, with a reason that is shown to you later."""
        match position.decision_type:  # print() works, too; its text is shown beside the reason
            case DecisionType.BID:
                return self.bid(position)
            case DecisionType.DISCARD:
                cards = [
                    action.card for action in position.legal_actions if isinstance(action, Discard)
                ]
                return Decision(Discard(min(cards, key=rank_of)), "The lowest card.")
            case DecisionType.DEFEND:
                return Decision(position.legal_actions[0], "The first answer will do.")
            case DecisionType.PLAY:
                return self.play(position)

    def bid(self, position: Position) -> Decision:
        """Return a call of a suit with enough cards, else pass."""
        for action in position.legal_actions:
            if isinstance(action, Bid) and action.suit is not None and not action.goes_alone:
                trump_count = sum(
                    suit_of(card, action.suit) == action.suit for card in position.hand
                )
                if trump_count >= MIN_TRUMPS_TO_CALL:
                    return Decision(action, f"{trump_count} trumps in hand.")
        return Decision(
            PASS if PASS in position.legal_actions else position.legal_actions[0], "Too few trumps."
        )

    def play(self, position: Position) -> Decision:
        """Return the highest card to lead, or the lowest to follow."""
        cards = [action.card for action in position.legal_actions if isinstance(action, Play)]
        trump = position.public_state.trump
        heights = {
            c: rank_of(c) if trump is None else trick_strength(c, trump, trump) for c in cards
        }
        if position.public_state.current_trick:
            return Decision(Play(min(cards, key=heights.__getitem__)), "The lowest to follow.")
        return Decision(Play(max(cards, key=heights.__getitem__)), "The highest to lead.")
