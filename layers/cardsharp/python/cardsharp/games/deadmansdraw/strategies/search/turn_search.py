"""Search within a turn: win probability of its player, over the exact unseen cards.

It is an expectimax search. Each possible next card is searched; later draws are searched with one
representative card for each suit. Answers to effects are the best ones; nested effects are searched
to the depth `max_depth`. If no effect is pending, the value is the better of stopping and of the
learned value of drawing on. The compiled twin is
`native/search.c`.
"""

from collections.abc import Callable, Iterator
from math import comb

from cardsharp.games.deadmansdraw.strategies.search.card_sets import (
    CANNON,
    CARD_BITS,
    HOOK,
    KRAKEN,
    MAP,
    MIDDLE_CARD,
    ORACLE,
    RANKS,
    SUIT_OF,
    SUIT_SHIFTS,
    SUITS_WITHOUT_EFFECT,
    SWORD,
    card_numbers_in,
    sword_targets,
    top_cards,
)
from cardsharp.games.deadmansdraw.strategies.search.leaf_evaluator import LeafEvaluator
from cardsharp.games.deadmansdraw.strategies.search.simulated_turn import SimulatedTurn
from cardsharp.games.deadmansdraw.transitions import KRAKEN_DRAWS, MAP_OFFER_SIZE


class TurnSearch(LeafEvaluator):
    """Search with the weights of a model; all values are win probabilities."""

    # --- drawing -----------------------------------------------------------------------------

    def value_of_drawing(self, turn: SimulatedTurn, kraken_draws: int = 0, depth: int = 0) -> float:
        """Return the mean value over the next card; `kraken_draws` draws are due after it."""
        if not turn.pile_count:
            return self.value_of_stopping(turn)
        if turn.known_top >= 0:
            return self.value_of_placing(
                turn.without_draw_pile_card(turn.known_top), turn.known_top, kraken_draws, depth
            )
        total = 0.0
        pile, barred = turn.pile, turn.barred
        # Below the root all busting cards share one value, which saves most of the tree. At the
        # root each suit is exact, because there the choice is made.
        if depth and (busting := pile & barred):
            lowest = (busting & -busting).bit_length() - 1
            total += busting.bit_count() * self.value_of_busting_draw(turn, lowest)
        for suit, shift in SUIT_SHIFTS:
            cards = pile >> shift & 0x3F
            if not cards:
                continue
            if not barred >> shift & 1:
                total += self._sum_suit_draw_values(turn, suit, kraken_draws, depth)
            elif not depth:
                total += cards.bit_count() * self.value_of_busting_draw(
                    turn, shift + CARD_BITS[cards][0]
                )
        return total / turn.pile_count

    def _sum_suit_draw_values(
        self, turn: SimulatedTurn, suit: int, kraken_draws: int, depth: int
    ) -> float:
        cards = turn.pile >> RANKS * suit & 0x3F
        if depth:
            groups = [(RANKS * suit + MIDDLE_CARD[cards], cards.bit_count())]
        else:
            groups = group_equivalent_cards(turn.own_bank, suit, cards, is_fine=True)
        total = 0.0
        for card, group_size in groups:
            total += group_size * self.value_of_placing(
                turn.without_draw_pile_card(card), card, kraken_draws, depth
            )
        return total

    def value_of_placing(
        self, turn: SimulatedTurn, card: int, kraken_draws: int, level: int
    ) -> float:
        """Return the value after `card`, already taken from its place, came to the play area.

        The turn is changed.
        """
        if turn.barred >> card & 1:
            return self.value_of_bust(turn, card)
        turn.place_card(card)
        if level >= self.limits.max_depth:
            return self.value_with_kraken_draws(turn, kraken_draws, level)
        return self._value_of_best_answer(turn, SUIT_OF[card], kraken_draws, level + 1)

    def value_with_kraken_draws(self, turn: SimulatedTurn, kraken_draws: int, level: int) -> float:
        """Return the value without a pending effect; `kraken_draws` draws are still due.

        Below the root, the last of these draws is valued at the learned value of drawing on.
        """
        if not kraken_draws or not turn.pile_count:
            return self.value_of_stop_or_draw(turn, level)
        # The learned value assumes a draw, so it fits the last due draw exactly. Searching that
        # draw, too, would multiply the tree by the number of suits.
        if kraken_draws == 1 and level:
            return self.estimate_draw_and_stop_values(turn)[0]
        return self.value_of_drawing(turn, kraken_draws - 1, level or 1)

    def value_of_stop_or_draw(self, turn: SimulatedTurn, level: int) -> float:
        """Return the value without a pending effect: the better of stopping and drawing on."""
        if not turn.pile_count:
            return self.value_of_stopping(turn)
        if level <= self.limits.max_second_draws:
            return max(self.value_of_stopping(turn), self.value_of_drawing(turn, 0, level + 1))
        return max(self.estimate_draw_and_stop_values(turn))

    # --- effects -----------------------------------------------------------------------------

    def _value_of_best_answer(
        self, turn: SimulatedTurn, suit: int, kraken_draws: int, depth: int
    ) -> float:
        """Return the value of the best answer to the effect of the card that was just placed."""
        if suit == HOOK and turn.own_bank:
            return max(
                self.value_of_hook_target(turn, card, depth) for card in top_cards(turn.own_bank)
            )
        if suit == SWORD and (targets := sword_targets(turn.own_bank, turn.opponent_bank)):
            return max(self.value_of_sword_target(turn, card, depth) for card in targets)
        if suit == CANNON and turn.opponent_bank:
            return max(
                self.value_of_cannon_target(turn, card, kraken_draws, depth)
                for card in top_cards(turn.opponent_bank)
            )
        if suit == MAP and turn.discard:
            return self._compute_expected_map_value(turn, depth)
        if suit == ORACLE and turn.pile_count:
            return self._compute_expected_oracle_value(turn, kraken_draws, depth)
        return self.value_with_kraken_draws(
            turn, KRAKEN_DRAWS if suit == KRAKEN else kraken_draws, depth
        )

    def value_of_ending_turn(self, turn: SimulatedTurn) -> float:
        """Return the value of banking the play area now, with more samples than in the search."""
        return self.value_of_stopping(turn, self.limits.root_samples)

    def value_of_taking_oracle_card(
        self, turn: SimulatedTurn, card: int, kraken_draws: int
    ) -> float:
        """Return the value of taking the card that an Oracle has shown."""
        return self.value_of_placing(
            turn.without_draw_pile_card(card), card, max(0, kraken_draws - 1), 0
        )

    def value_of_hook_target(self, turn: SimulatedTurn, card: int, level: int = 0) -> float:
        """Return the value of answering a Hook with `card`."""
        return self.value_of_placing(turn.without_bank_card(card), card, 0, level)

    def value_of_sword_target(self, turn: SimulatedTurn, card: int, level: int = 0) -> float:
        """Return the value of answering a Sword with `card`."""
        return self.value_of_placing(turn.without_opponent_card(card), card, 0, level)

    def value_of_cannon_target(
        self, turn: SimulatedTurn, card: int, kraken_draws: int, level: int = 0
    ) -> float:
        """Return the value of answering a Cannon with `card`."""
        shot = turn.without_opponent_card(card)
        shot.discard |= 1 << card
        return self.value_with_kraken_draws(shot, kraken_draws, level)

    def value_of_taking_map_card(self, turn: SimulatedTurn, card: int, level: int = 0) -> float:
        """Return the value of taking `card` out of the discard pile for a Map."""
        return self.value_of_placing(turn.without_discard_card(card), card, 0, level)

    # --- each card that chance may bring ------------------------------------------------------

    def evaluate_draws(self, turn: SimulatedTurn, kraken_draws: int) -> dict[int, float]:
        """Return the value of each card that may be drawn; `kraken_draws` are due after it."""
        return _evaluate_cards(
            turn,
            turn.pile,
            lambda card: self.value_of_placing(
                turn.without_draw_pile_card(card), card, kraken_draws, 0
            ),
        )

    def evaluate_map_cards(self, turn: SimulatedTurn) -> dict[int, float]:
        """Return the value of taking each card of the discard pile for a Map."""
        return _evaluate_cards(
            turn, turn.discard, lambda card: self.value_of_taking_map_card(turn, card)
        )

    def evaluate_shown_cards(self, turn: SimulatedTurn, kraken_draws: int) -> dict[int, float]:
        """Return the value of each card that an Oracle may show: taking it, or stopping."""
        values, turn_with_top = self.evaluate_draws(turn, max(0, kraken_draws - 1)), turn.copy()
        for card, value in values.items():
            turn_with_top.known_top = card
            values[card] = max(value, self.value_of_stopping(turn_with_top))
        return values

    # --- Map and Oracle within the search -----------------------------------------------------

    def _compute_expected_map_value(self, turn: SimulatedTurn, depth: int) -> float:
        # Of a Map's three cards the player takes the best. A value for each card of the discard
        # pile is enough: the offers need not be enumerated.
        values = list[float]()
        for card, group_size in group_equivalent_by_suit(
            turn.discard, turn.own_bank, turn.barred, is_fine=depth <= 1
        ):
            values += [self.value_of_taking_map_card(turn, card, depth)] * group_size
        return expected_best_of_three(values)

    def _compute_expected_oracle_value(
        self, turn: SimulatedTurn, kraken_draws: int, depth: int
    ) -> float:
        stop, total = self.value_of_stopping(turn), 0.0
        duty = max(0, kraken_draws - 1)
        for _, shift in SUIT_SHIFTS:
            cards = turn.pile >> shift & 0x3F
            if not cards:
                continue
            value = stop
            if not turn.barred >> shift & 1:
                card = shift + MIDDLE_CARD[cards]
                value = self.value_of_placing(turn.without_draw_pile_card(card), card, duty, depth)
            total += cards.bit_count() * max(value, stop)
        return total / turn.pile_count


def group_equivalent_cards(
    own_bank: int, suit: int, cards: int, *, is_fine: bool
) -> list[tuple[int, int]]:
    """Group cards of a suit by equal value: the card that represents each group, and its size.

    Cards below the top of the player's bank bring the bank nothing and form one group. The others
    are separate if `is_fine` and their suit has no effect; otherwise they form one group.
    """
    top = (own_bank >> RANKS * suit & 0x3F).bit_length() - 1
    idle = cards & (1 << top) - 1 if top > 0 else 0
    rising = cards & ~idle
    first_card = RANKS * suit
    groups = [(first_card + idle.bit_length() - 1, idle.bit_count())] if idle else []
    if rising and is_fine and suit in SUITS_WITHOUT_EFFECT:
        groups += [(first_card + rank, 1) for rank in CARD_BITS[rising]]
    elif rising:
        groups.append((first_card + MIDDLE_CARD[rising], rising.bit_count()))
    return groups


def group_equivalent_by_suit(
    cards: int, own_bank: int, single_group_suits: int, *, is_fine: bool
) -> Iterator[tuple[int, int]]:
    """Group a set of cards suit by suit, as `group_equivalent_cards` does.

    The cards of a suit in `single_group_suits` form one group.
    """
    for suit, shift in SUIT_SHIFTS:
        of_suit = cards >> shift & 0x3F
        if of_suit and single_group_suits >> shift & 1:
            yield shift + CARD_BITS[of_suit][0], of_suit.bit_count()
        elif of_suit:
            yield from group_equivalent_cards(own_bank, suit, of_suit, is_fine=is_fine)


def _evaluate_cards(
    turn: SimulatedTurn, cards: int, value_of: Callable[[int], float]
) -> dict[int, float]:
    """Return the value of each of the cards, equal within a group of equivalent cards."""
    values, card_numbers = dict[int, float](), card_numbers_in(cards)
    for card, group_size in group_equivalent_by_suit(
        cards, turn.own_bank, turn.barred, is_fine=True
    ):
        values |= dict.fromkeys(card_numbers[:group_size], value_of(card))
        del card_numbers[:group_size]
    return values


def expected_best_of_three(values: list[float]) -> float:
    """Return the mean over all offers of three cards of the value of the best one.

    `values` has a value for each card that can be offered. Source: of all offers, `comb(rank, 2)`
    have the card with this rank as their best.
    """
    value_count = len(values)
    offered = min(value_count, MAP_OFFER_SIZE)
    total = 0.0
    for rank, value in enumerate(sorted(values)):
        total += comb(rank, offered - 1) * value
    return total / comb(value_count, offered)
