"""Endgame solver: value of each option if both players play best to the end of the match.

Nothing is learned here. Two approximations are made, because the exact search would take too long.
Of the cards of a suit that a Map may offer, one represents all that gain something. And only a
sample of the possible bonuses is tried. The compiled twin
`native/exact.c` can search without either.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cardsharp.games.deadmansdraw.strategies import IsLate
from cardsharp.games.deadmansdraw.strategies.search.card_sets import (
    ANCHOR,
    CANNON,
    HOOK,
    KRAKEN,
    MAP,
    NO_CARD,
    ORACLE,
    SUIT_BITS,
    SUIT_OF,
    SUITS_WITHOUT_EFFECT,
    SWORD,
    SplitMix64,
    bank_points,
    card_numbers_in,
    cards_of_same_suits,
    holds_chest_and_key,
    sword_targets,
    top_cards,
)
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import never_late
from cardsharp.games.deadmansdraw.strategies.search.turn_search import (
    expected_best_of_three,
    group_equivalent_by_suit,
)
from cardsharp.games.deadmansdraw.transitions import KRAKEN_DRAWS

BONUS_SAMPLES = 8  # sampled picks of a bonus that can turn out in several ways
_TURN_START, _VOLUNTARY, _FORCED = range(3)  # moments of a draw: first of a turn, voluntary, or due
_PILES_WITHOUT_CHOICE = frozenset(
    1 << card
    for card, suit in enumerate(SUIT_OF)
    if suit in SUITS_WITHOUT_EFFECT | {ORACLE, KRAKEN}
)
"""Draw piles of one last card whose draw leaves no choice."""


class SearchLimitExceeded(Exception):
    """Error: the rest of the match takes more nodes than allowed, or time is short."""


class EndgameTurn(NamedTuple):
    """Turn in progress, as sets of cards, for the player whose turn it is.

    `anchored` holds the cards before the Anchor, `known_top` the next card if an Oracle has shown
    it.
    """

    own_bank: int
    opponent_bank: int
    draw_pile: int
    discard_pile: int
    play_area: int = 0
    anchored: int = 0
    known_top: int = NO_CARD

    def without_draw_pile_card(self, card: int) -> "EndgameTurn":
        """Return this turn without a card of the draw pile."""
        own_bank, opponent_bank, pile, discard, area, saved, _ = self
        return EndgameTurn(own_bank, opponent_bank, pile ^ 1 << card, discard, area, saved)

    def with_card(self, card: int) -> "EndgameTurn":
        """Return this turn with a card in the play area.

        The caller has removed it from its place.
        """
        own_bank, opponent_bank, pile, discard, area, saved, known_top = self
        if SUIT_OF[card] == ANCHOR:
            saved = area
        return EndgameTurn(
            own_bank, opponent_bank, pile, discard, area | 1 << card, saved, known_top
        )


class EndgameSolver:
    """Solver that searches to the end of the match; all values are win probabilities.

    It raises `SearchLimitExceeded` once it has reached more than `max_nodes` ends of turns, or when
    `is_late` returns True.
    """

    def __init__(self, max_nodes: int, is_late: IsLate = never_late) -> None:
        self._max_nodes, self._is_late = max_nodes, is_late
        self.ends = 0
        self._value_cache: dict[tuple[EndgameTurn, int], float] = {}

    # --- the end of a turn -------------------------------------------------------------------

    def value_of_ending_turn(self, turn: EndgameTurn) -> float:
        """Return the value of banking the play area now."""
        return self._banking_value(turn, turn.play_area, turn.discard_pile)

    def _banking_value(self, turn: EndgameTurn, gained_cards: int, discard: int) -> float:
        """Return the value after banking `gained_cards`, with the bonus of Chest and Key."""
        banked, bonus_count = turn.own_bank | gained_cards, gained_cards.bit_count()
        if not discard or not holds_chest_and_key(gained_cards):
            return self._next_turn_value(turn, banked, discard)
        if discard.bit_count() <= bonus_count:
            return self._next_turn_value(turn, banked | discard, 0)
        dice, total = SplitMix64(discard + bonus_count), 0.0
        for _ in range(BONUS_SAMPLES):
            rest = card_numbers_in(discard)
            bonus = sum(1 << rest.pop(dice.below(len(rest))) for _ in range(bonus_count))
            total += self._next_turn_value(turn, banked | bonus, discard & ~bonus)
        return total / BONUS_SAMPLES

    def _next_turn_value(self, turn: EndgameTurn, banked: int, discard: int) -> float:
        # The limit counts ends of turns and not seconds, so that the same position gives the same
        # decision on every machine. The clock is only a last resort.
        self.ends += 1
        if self.ends > self._max_nodes or self._is_late():
            raise SearchLimitExceeded
        if not turn.draw_pile:
            lead = bank_points(banked) - bank_points(turn.opponent_bank)
            return 1.0 if lead > 0 else 0.0 if lead else 0.5
        begins = EndgameTurn(turn.opponent_bank, banked, turn.draw_pile, discard)
        if turn.known_top != NO_CARD:
            return 1.0 - self.value_of_placing(
                begins.without_draw_pile_card(turn.known_top), turn.known_top
            )
        return 1.0 - self._cached_draw_value(begins, _TURN_START)

    # --- drawing -----------------------------------------------------------------------------

    def value_of_drawing(self, turn: EndgameTurn, kraken_draws: int = 0) -> float:
        """Return the mean value over the next card; `kraken_draws` draws are due after it."""
        if turn.known_top != NO_CARD:
            return self.value_of_placing(
                turn.without_draw_pile_card(turn.known_top), turn.known_top, kraken_draws
            )
        if not turn.draw_pile:  # only a match that begins without one: a draw then banks
            return self.value_of_ending_turn(turn)
        total = 0.0
        for card in card_numbers_in(turn.draw_pile):
            total += self.value_of_placing(turn.without_draw_pile_card(card), card, kraken_draws)
        return total / turn.draw_pile.bit_count()

    def _cached_draw_value(self, turn: EndgameTurn, moment: int) -> float:
        # A draw that leaves no choice is faster to compute than to look up, and it would fill the
        # cache.
        if turn.draw_pile in _PILES_WITHOUT_CHOICE:
            return self._draw_value(turn, moment)
        value = self._value_cache.get((turn, moment))
        if value is None:
            value = self._value_cache[turn, moment] = self._draw_value(turn, moment)
        return value

    def _draw_value(self, turn: EndgameTurn, moment: int) -> float:
        if moment == _VOLUNTARY:
            return self._stop_or_draw_value(turn)
        return self.value_of_drawing(turn, max(0, moment - _FORCED - 1))

    def _stop_or_draw_value(self, turn: EndgameTurn) -> float:
        """Return the value of the better of stopping and drawing.

        The evaluation of drawing is cut off once it cannot be better.
        """
        stop, card_count, total = self.value_of_ending_turn(turn), turn.draw_pile.bit_count(), 0.0
        # `leeway` is what drawing may still lose against stopping, if every other card won for
        # sure. Busting cards come first, because they use it up soonest.
        leeway = card_count * (1.0 - stop)
        busting = turn.draw_pile & cards_of_same_suits(turn.play_area)
        for card in (*card_numbers_in(busting), *card_numbers_in(turn.draw_pile & ~busting)):
            if leeway <= 0:
                return stop
            value = self.value_of_placing(turn.without_draw_pile_card(card), card)
            total += value
            leeway -= 1.0 - value
        return max(stop, total / card_count)

    def value_with_kraken_draws(self, turn: EndgameTurn, kraken_draws: int) -> float:
        """Return the value without a pending effect; `kraken_draws` draws are still due."""
        if not turn.draw_pile:
            return self.value_of_ending_turn(turn)
        draws = min(kraken_draws, turn.draw_pile.bit_count())
        return self._cached_draw_value(turn, _FORCED + draws if draws else _VOLUNTARY)

    # --- effects -----------------------------------------------------------------------------

    def value_of_placing(self, turn: EndgameTurn, card: int, kraken_draws: int = 0) -> float:
        """Return the value after `card`, already taken from its place, came to the play area."""
        suit = SUIT_OF[card]
        if turn.play_area & SUIT_BITS[suit]:
            thrown = turn.play_area & ~turn.anchored | 1 << card
            return self._banking_value(turn, turn.anchored, turn.discard_pile | thrown)
        turn = turn.with_card(card)
        answer_values = self._evaluate_answers(turn, suit, kraken_draws)
        if answer_values is not None:
            return _find_best_value(answer_values)
        if suit == MAP and turn.discard_pile:
            return self._compute_expected_map_value(turn)
        if suit == ORACLE and turn.draw_pile:
            return self._compute_expected_oracle_value(turn, kraken_draws)
        return self.value_with_kraken_draws(turn, KRAKEN_DRAWS if suit == KRAKEN else kraken_draws)

    def _evaluate_answers(
        self, turn: EndgameTurn, suit: int, kraken_draws: int
    ) -> Iterator[float] | None:
        """Return the value of each answer to a Hook, Sword or Cannon; None if it has no effect."""
        if suit == HOOK and turn.own_bank:
            return (self.value_of_hook_target(turn, target) for target in top_cards(turn.own_bank))
        if suit == SWORD and (targets := sword_targets(turn.own_bank, turn.opponent_bank)):
            return (self.value_of_sword_target(turn, target) for target in targets)
        if suit == CANNON and turn.opponent_bank:
            return (
                self.value_of_cannon_target(turn, target, kraken_draws)
                for target in top_cards(turn.opponent_bank)
            )
        return None

    def value_of_taking_oracle_card(self, turn: EndgameTurn, card: int, kraken_draws: int) -> float:
        """Return the value of taking the card that an Oracle has shown."""
        return self.value_of_placing(
            turn.without_draw_pile_card(card), card, max(0, kraken_draws - 1)
        )

    def value_of_hook_target(self, turn: EndgameTurn, card: int) -> float:
        """Return the value of answering a Hook with `card`."""
        return self.value_of_placing(turn._replace(own_bank=turn.own_bank ^ 1 << card), card)

    def value_of_sword_target(self, turn: EndgameTurn, card: int) -> float:
        """Return the value of answering a Sword with `card`."""
        return self.value_of_placing(
            turn._replace(opponent_bank=turn.opponent_bank ^ 1 << card), card
        )

    def value_of_cannon_target(self, turn: EndgameTurn, card: int, kraken_draws: int) -> float:
        """Return the value of answering a Cannon with `card`."""
        shot = turn._replace(
            opponent_bank=turn.opponent_bank ^ 1 << card, discard_pile=turn.discard_pile | 1 << card
        )
        return self.value_with_kraken_draws(shot, kraken_draws)

    def value_of_taking_map_card(self, turn: EndgameTurn, card: int) -> float:
        """Return the value of taking `card` out of the discard pile for a Map."""
        return self.value_of_placing(
            turn._replace(discard_pile=turn.discard_pile ^ 1 << card), card
        )

    def _compute_expected_map_value(self, turn: EndgameTurn) -> float:
        values: list[float] = []
        for card, group_size in group_equivalent_by_suit(
            turn.discard_pile, turn.own_bank, cards_of_same_suits(turn.play_area), is_fine=False
        ):
            values += [self.value_of_taking_map_card(turn, card)] * group_size
        return expected_best_of_three(values)

    def _compute_expected_oracle_value(self, turn: EndgameTurn, kraken_draws: int) -> float:
        total = 0.0
        for card in card_numbers_in(turn.draw_pile):
            stopped = self.value_of_ending_turn(turn._replace(known_top=card))
            total += max(stopped, self.value_of_taking_oracle_card(turn, card, kraken_draws))
        return total / turn.draw_pile.bit_count()


def _find_best_value(values: Iterable[float]) -> float:
    """Return the greatest value; stop at a value that is a sure win."""
    best = 0.0
    for value in values:
        best = max(best, value)
        if best >= 1.0:
            break
    return best
