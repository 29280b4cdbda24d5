"""Luck of the draw: value of the cards that came, less the mean value of the possible cards.

The mean of that difference is 0 for any evaluation of the judge, provided that the order of the
draw pile and the server's picks are fair. A bad evaluation removes less of the luck, but it adds no
bias. The compiled twin is `cardsharp_tools/research/deadmansdraw/native/luck.c`.
"""

from collections.abc import Iterable
from math import comb

from cardsharp.games.deadmansdraw.actions import EffectType, PendingEffect
from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.games.deadmansdraw.events import (
    CardDrawn,
    CardPlaced,
    EffectAnswered,
    EffectPending,
    Event,
    TurnEnded,
)
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies.captain import (
    WEIGHT_FILE,
    is_standard_deck,
    to_simulated_turn,
)
from cardsharp.games.deadmansdraw.strategies.search.card_sets import (
    CARD_NUMBER,
    NO_CARD,
    SUIT_BITS,
    SUIT_OF,
    card_numbers_in,
    card_set,
)
from cardsharp.games.deadmansdraw.strategies.search.compiled_search import build_turn_search
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import (
    SHORT_LIMITS,
    suit_keys_with_banked_bonus,
)
from cardsharp.games.deadmansdraw.strategies.search.turn_search import expected_best_of_three
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model


def luck_of(position: DeadMansDrawPosition, events: Iterable[Event]) -> float | None:
    """Return the luck of the acting player in these events, as a change of the win probability.

    A short search removes nearly as much luck as the full one of `captain`. The result is None for
    a position that cannot occur in a match with the usual start.
    """
    if not is_standard_deck(position):
        return None
    telling = _ActionLuck(position)
    return sum(map(telling.apply_and_return_luck, events), 0.0)


class _ActionLuck:
    """Luck of one action, computed event by event."""

    def __init__(self, position: DeadMansDrawPosition) -> None:
        pending = position.pending
        self.search = build_turn_search(load_model(WEIGHT_FILE), SHORT_LIMITS)
        self.turn = to_simulated_turn(position)
        self.owed = 0
        self.duty = 0 if pending is None else max(0, pending.remaining_draws - 1)
        self.falling = 0
        """Set of the card that has left its place but is not placed yet.

        It is discarded if it busts.
        """

    def apply_and_return_luck(self, event: Event) -> float:
        """Apply an event to the turn, and return its luck."""
        match event:
            case CardDrawn(card):
                return self._draw_luck(CARD_NUMBER[card])
            case EffectAnswered(effect, Card() as card):
                self._apply_answer(effect, CARD_NUMBER[card])
            case CardPlaced(card):
                self.turn = self.turn.copy()
                self.turn.place_card(CARD_NUMBER[card])
            case EffectPending(PendingEffect(EffectType.MAP, cards)):
                return self._map_offer_luck(card_set(cards))
            case EffectPending(PendingEffect(EffectType.ORACLE, (card,))):
                return self._oracle_luck(CARD_NUMBER[card])
            case TurnEnded(successful, bonus) if bonus:
                return self._bonus_luck(card_set(bonus), banked=successful)
        return 0.0

    def _draw_luck(self, card: int) -> float:
        turn, self.owed = self.turn, self.duty
        # All cards of the pile are equally likely now. The difference to their mean has the
        # expected value 0, whatever errors the search makes: they are in both terms.
        values = {} if turn.known_top >= 0 else self.search.evaluate_draws(turn, self.owed)
        self.turn, self.falling = turn.without_draw_pile_card(card), 1 << card
        return values[card] - _mean(values) if values else 0.0

    def _apply_answer(self, effect: EffectType | str, card: int) -> None:
        match effect:
            case EffectType.HOOK:
                self.turn = self.turn.without_bank_card(card)
            case EffectType.SWORD | EffectType.CANNON:
                self.turn = self.turn.without_opponent_card(card)
                if effect is EffectType.CANNON:
                    self.turn.discard |= 1 << card
            case EffectType.MAP:
                self.turn = self.turn.without_discard_card(card)
        self.falling = 1 << card

    def _map_offer_luck(self, cards: int) -> float:
        values = self.search.evaluate_map_cards(self.turn)
        best = max(values[card] for card in card_numbers_in(cards))
        return best - expected_best_of_three(list(values.values()))

    def _oracle_luck(self, card: int) -> float:
        turn = self.turn.copy()
        turn.known_top = NO_CARD
        values = self.search.evaluate_shown_cards(turn, self.owed)
        return values[card] - _mean(values)

    def _bonus_luck(self, gained_cards: int, *, banked: bool) -> float:
        """Return the luck of the bonus cards, as if the highest card of each suit came alone."""
        turn, search = self.turn, self.search
        thrown = 0 if banked else turn.area & ~turn.saved | self.falling
        keys = turn.stop if banked else turn.bust
        cards, none = turn.discard | thrown, search.value_of_turn_end(turn, keys)
        every, gained_count, luck = cards.bit_count(), gained_cards.bit_count(), 0.0
        for card in card_numbers_in(cards):
            higher = cards & SUIT_BITS[SUIT_OF[card]] & ~(2 * (1 << card) - 1)
            # `chance` is the probability that this card is the highest of its suit in the bonus: it
            # is picked and no higher one is. Subtracting it makes the mean of the luck 0.
            chance = comb(every - 1 - higher.bit_count(), gained_count - 1) / comb(
                every, gained_count
            )
            highest = gained_cards >> card & 1 and not gained_cards & higher
            alone = search.value_of_turn_end(turn, suit_keys_with_banked_bonus(keys, [card]))
            luck += (bool(highest) - chance) * (alone - none)
        return luck


def _mean(values: dict[int, float]) -> float:
    """Return the mean, added up in the order of the compiled twin so that both round equally."""
    total = 0.0
    for value in values.values():
        total += value
    return total / len(values)
