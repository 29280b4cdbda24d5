"""My strategy for Euchre: one class with one method, from a position to a decision.

Nothing is remembered between decisions; all that you may know is in the position. Try it:

  cardsharp euchre versus --partner mine.py          # you and it against two bots
  cardsharp lab duel --game euchre mine.py rules     # how strong is it?
  cardsharp ladder --game euchre mine.py             # who is the next to beat?
"""

from cardsharp.euchre.actions import PASS, Bid, Discard, Play, Question
from cardsharp.euchre.cards import rank_of, strength, suit_of
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision, Stopwatch, strategy

ENOUGH = 3  # call a suit of which you hold so many cards; try other numbers


@strategy("mine-of-0-2")
class Mine:
    """Calls its longest suit, plays its highest card to lead and its lowest to follow."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self.stopwatch = stopwatch  # seconds that never go back, if you want to mind your time

    def decide(self, position: Position) -> Decision:
        """One of `position.choices`, with a reason that is shown to you later."""
        match position.question:  # print() works too, and its text lands beside the reason
            case Question.BID:
                return self.bid(position)
            case Question.DISCARD:
                cards = [action.card for action in position.choices if isinstance(action, Discard)]
                return Decision(Discard(min(cards, key=rank_of)), "The lowest card.")
            case Question.DEFEND:
                return Decision(position.choices[0], "The first answer will do.")
            case Question.PLAY:
                return self.play(position)

    def bid(self, position: Position) -> Decision:
        """Call a suit of which enough cards are held, else pass."""
        for action in position.choices:
            if isinstance(action, Bid) and action.suit is not None and not action.alone:
                held = sum(suit_of(card, action.suit) == action.suit for card in position.hand)
                if held >= ENOUGH:
                    return Decision(action, f"{held} trumps in hand.")
        return Decision(
            PASS if PASS in position.choices else position.choices[0], "Too few trumps."
        )

    def play(self, position: Position) -> Decision:
        """The highest card to lead, the lowest to follow."""
        cards = [action.card for action in position.choices if isinstance(action, Play)]
        trump = position.table.trump
        heights = {c: rank_of(c) if trump is None else strength(c, trump, trump) for c in cards}
        if position.table.trick:
            return Decision(Play(min(cards, key=heights.__getitem__)), "The lowest to follow.")
        return Decision(Play(max(cards, key=heights.__getitem__)), "The highest to lead.")
