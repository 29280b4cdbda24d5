"""`rules`: a sound player by rules of thumb, the yardstick for ours."""

from collections.abc import Iterable

from cardsharp.euchre.actions import PASS, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import ACE, SUITS, Card, Suit, rank_of, strength, suit_of
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision, Option, Stopwatch, standing, strategy
from cardsharp.euchre.strategies.bidding import appraise, card_set
from cardsharp.euchre.strategies.thumb import MANY_TRUMPS
from cardsharp.euchre.table import DEALER, PlayedCard


@strategy("rules")
class Rules:
    """Counts expected tricks to bid; plays high to win, low to lose, and draws trumps."""

    def __init__(self, _: Stopwatch = standing) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        """The answer by rule, and which rule it was."""
        match position.question:
            case Question.BID:
                return _bid(position)
            case Question.DISCARD:
                return _discard(position)
            case Question.DEFEND:
                return Decision(Defend(alone=False), "Two defend better than one.")
            case Question.PLAY:
                return _play(position)


# --- bidding ---------------------------------------------------------------------------------


def _bid(position: Position) -> Decision:
    seen = appraise(card_set(position.hand), len(position.table.bids), position.table.turn_card)
    options = tuple(
        Option(Bid(suit), None, f"{seen.worth[suit] / 1000:.2f} tricks") for suit in seen.worth
    )
    side = "Below" if seen.bid == PASS else "At least"
    return Decision(seen.bid, f"{side} {seen.wanted / 1000:.2f} tricks.", options)


def _discard(position: Position) -> Decision:
    trump = position.table.turn_card & 3
    offered = {action.card for action in position.choices if isinstance(action, Discard)}
    card = next(card for card in discard_first(position.hand, trump) if card in offered)
    return Decision(Discard(card), "The card that is missed least.")


def discard_first(hand: Iterable[Card], trump: Suit) -> list[Card]:
    """The cards of a hand, those that are missed least first.

    Low cards go before high ones and trumps last; the only card of a side suit goes before others
    of its rank or two higher, for it leaves a void to trump with.
    """
    held = list(hand)
    lengths = {suit: sum(suit_of(card, trump) == suit for card in held) for suit in SUITS}
    trumps = lengths[trump]

    def price(card: Card) -> tuple[float, int]:
        suit = suit_of(card, trump)
        if suit == trump:
            return 20.0 + strength(card, trump, trump), card
        rank = rank_of(card)
        lonely = lengths[suit] == 1 and trumps > 0 and rank != ACE
        return rank - (2.5 if lonely else 0.0), card

    return sorted(held, key=price)


# --- card play -------------------------------------------------------------------------------


def _play(position: Position) -> Decision:
    cards = [action.card for action in position.choices if isinstance(action, Play)]
    if len(cards) == 1:
        return Decision(Play(cards[0]), "The only card allowed.")
    trump = position.table.trump
    if trump is None:
        return Decision(Play(cards[0]), "No trumps are known.")
    card, reason = (_follow if position.table.trick else _lead)(_Play(position, cards, trump))
    return Decision(Play(card), reason)


class _Play:
    """A choice among several cards."""

    def __init__(self, position: Position, cards: list[Card], trump: Suit) -> None:
        self.position, self.cards, self.trump = position, cards, trump
        self.trumps = [card for card in cards if suit_of(card, trump) == trump]
        hidden = set(position.unseen)
        call = position.table.call
        if call is not None and call.picks_up and position.seat != DEALER:
            hidden |= {position.table.turn_card} - set(position.table.played_by(DEALER))
        self.hidden = hidden

    def height(self, card: Card, led: Suit | None = None) -> int:
        """How high a card is, in its own suit where nothing was led."""
        return strength(card, self.trump, suit_of(card, self.trump) if led is None else led)

    def is_boss(self, card: Card, led: Suit | None = None) -> bool:
        """Whether no hidden card of its suit is higher; a trump may beat it all the same."""
        suit = suit_of(card, self.trump)
        mine = self.height(card, led)
        return all(
            self.height(other, led) < mine
            for other in self.hidden
            if suit_of(other, self.trump) == suit
        )

    def lowest(self) -> Card:
        """The card that is missed least."""
        return next(
            card for card in discard_first(self.position.hand, self.trump) if card in self.cards
        )


def _lead(play: _Play) -> tuple[Card, str]:
    position, call = play.position, play.position.table.call
    ours = call is not None and call.seat % 2 == position.seat % 2
    side = [card for card in play.cards if card not in play.trumps]
    high = max(play.trumps, key=play.height, default=None)
    if ours and high is not None and _draws(play, high):
        return high, "Draws trumps."
    bosses = [card for card in side if play.is_boss(card)]
    if bosses:
        return min(bosses, key=lambda card: (_held(play, card), card)), "High card of its suit."
    if not side:
        return (high if high is not None else play.lowest()), "Only trumps are left."
    return min(side, key=lambda card: (_held(play, card), rank_of(card), card)), "Short suit, low."


def _draws(play: _Play, high: Card) -> bool:
    """Whether the caller, or its partner at the first trick, should lead trumps."""
    call = play.position.table.call
    if call is not None and call.seat == play.position.seat:
        return play.is_boss(high) or len(play.trumps) >= MANY_TRUMPS
    return play.is_boss(high) or not play.position.table.tricks


def _held(play: _Play, card: Card) -> int:
    suit = suit_of(card, play.trump)
    return sum(suit_of(other, play.trump) == suit for other in play.position.hand)


def _follow(play: _Play) -> tuple[Card, str]:
    position, trick = play.position, play.position.table.trick
    led = suit_of(trick[0].card, play.trump)
    best = max(trick, key=lambda played: strength(played.card, play.trump, led))
    last = len(trick) == 3 - len(position.table.sitting_out)
    if best.seat == position.partner and (last or _safe(play, best, led)):
        return play.lowest(), "The partner wins the trick."
    beating = [c for c in play.cards if play.height(c, led) > play.height(best.card, led)]
    if not beating:
        return play.lowest(), "The trick is lost."
    cheapest = min(beating, key=lambda card: play.height(card, led))
    highest = max(beating, key=lambda card: play.height(card, led))
    if last or cheapest in play.trumps:
        return cheapest, "The cheapest card that wins."
    if play.is_boss(highest, led):
        return highest, "The highest card of the suit."
    if best.seat == position.partner:
        return play.lowest(), "The partner leads so far."
    return cheapest, "The cheapest card that leads so far."


def _safe(play: _Play, best: PlayedCard, led: Suit) -> bool:
    """Whether a partner's card is likely to hold."""
    return play.is_boss(best.card, led) or suit_of(best.card, play.trump) == play.trump
