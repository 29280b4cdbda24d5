"""Value of an action: expected points, over the exact unseen cards.

The value of an action is the player's bank minus the opponent's once the turn has ended. The
search covers the next card, whose effect is answered in the best way; then the turn is assumed
to stop.

The effects are those of `rules.py`. They are computed on sums instead of states, which is many
times faster; a test compares the two. Three simplifications keep the tree small:

- Cards of one suit differ only in their gain. So each suit is searched once, with the mean over
  its unseen cards as the value. That is exact unless a later choice, or the bonus of Chest and
  Key, depends on the value of such a card.
- A simulated Cannon discards the card that costs the opponent most; for a real one all cards are
  considered.
- Refusing an Oracle's card is left out: in this search it is never better than taking the card
  or stopping.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from math import comb
from statistics import fmean
from typing import NamedTuple

from cardsharp.games.deadmansdraw.actions import EffectType, PendingEffect
from cardsharp.games.deadmansdraw.cards import Bank, Card, Suit
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies.search.turn_search import expected_best_of_three
from cardsharp.games.deadmansdraw.transitions import KRAKEN_DRAWS

TREASURE = frozenset({Suit.CHEST, Suit.KEY})  # together they bring a bonus from the discard pile


class PlacedCard(NamedTuple):
    """Card of the play area and its gain when banked; `is_hypothetical` if the search drew it."""

    suit: str
    value: float
    gain: float
    is_hypothetical: bool = False


class ValuedBank:
    """Bank with the values that the search needs again and again, each computed once."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        self.tops = bank.top_cards()
        self.top = {card.suit: card.value for card in self.tops}
        self._removal_cache: dict[Card, tuple[ValuedBank, int]] = {}

    @cached_property
    def costliest_top_card(self) -> Card:
        """Top card whose loss costs most; of equal ones, the first."""
        return max(self.tops, key=lambda card: self.bank_and_cost_without_card(card)[1])

    def bank_and_cost_without_card(self, card: Card) -> tuple["ValuedBank", int]:
        """Return this bank without one of its top cards, and the points that this costs."""
        if card not in self._removal_cache:
            side = ValuedBank(self.bank.without(card))
            self._removal_cache[card] = side, card.value - side.top.get(card.suit, 0)
        return self._removal_cache[card]

    def card_with_gain(self, card: Card) -> PlacedCard:
        """Return `card` with its gain, for a play area without another card of its suit."""
        return PlacedCard(*card, max(0, card.value - self.top.get(card.suit, 0)))


class LookaheadTurn(NamedTuple):
    """Simulated turn.

    `points` is its value if the play area were banked now without a bonus; `risk` is the part of it
    that a bust would lose. `known_top` is the next card if it is known. `search_draws` are the
    suits that the search has drawn. `can_draw_more` is True if the search may consider one more
    voluntary draw.
    """

    own_bank: ValuedBank
    opponent_bank: ValuedBank
    points: float
    discard: tuple[Card, ...]
    known_top: Card | None
    risk: float = 0
    play_area: tuple[PlacedCard, ...] = ()
    suits: frozenset[str] = frozenset()
    search_draws: tuple[str, ...] = ()
    can_draw_more: bool = False

    def with_card(self, card: PlacedCard) -> "LookaheadTurn":
        """Return this turn with `card` in the play area.

        The first Anchor saves the cards before it.
        """
        first_anchor = card.suit == Suit.ANCHOR and card.suit not in self.suits
        return LookaheadTurn(
            self.own_bank,
            self.opponent_bank,
            self.points + card.gain,
            self.discard,
            self.known_top,
            card.gain if first_anchor else self.risk + card.gain,
            (*self.play_area, card),
            self.suits | {card.suit},
            (*self.search_draws, card.suit) if card.is_hypothetical else self.search_draws,
            self.can_draw_more,
        )

    def with_cards(self, cards: Iterable[PlacedCard]) -> "LookaheadTurn":
        """Return this turn with `cards` in the play area, their gains computed again."""
        turn, tops = self, dict[str, float](self.own_bank.top)
        for suit, value, _, _ in cards:
            top = tops.get(suit, 0)
            tops[suit] = max(top, value)  # a debug start state may have two cards of a suit
            turn = turn.with_card(PlacedCard(suit, value, max(0, value - top)))
        return turn

    def with_recomputed_gains(self) -> "LookaheadTurn":
        """Return this turn with the gains of its play area computed again.

        They change after the own bank has lost a card of a suit in the play area.
        """
        points = self.points - sum(card.gain for card in self.play_area)
        empty = self._replace(points=points, risk=0, play_area=(), suits=frozenset())
        return empty.with_cards(self.play_area)


class ActionEvaluator:
    """Evaluator of the actions in one position, whose turn is `root`."""

    def __init__(self, position: DeadMansDrawPosition) -> None:
        own_bank, opponent_bank = ValuedBank(position.own_bank), ValuedBank(position.opponent_bank)
        points = position.own_bank.score - position.opponent_bank.score
        discard = tuple(sorted(position.discard_pile))
        turn = LookaheadTurn(own_bank, opponent_bank, points, discard, position.known_top)
        self.root = turn.with_cards(PlacedCard(*card, 0) for card in position.play_area)
        self._unseen_count = len(position.unseen)
        self._mean_card_counts = tuple(_average_by_suit(position.unseen, own_bank))

    # --- without an effect -------------------------------------------------------------------

    def bust_chance(self, turn: LookaheadTurn) -> float:
        """Return the chance that the next card is of a suit in the play area."""
        return sum(
            chance for chance, card in self._list_next_cards(turn) if card.suit in turn.suits
        )

    def value_of_stopping(self, turn: LookaheadTurn) -> float:
        """Return the value of banking the play area now."""
        if turn.suits >= TREASURE:
            return turn.points + _compute_expected_bonus(
                turn.play_area, turn.own_bank, turn.discard
            )
        return turn.points

    def value_of_stop_or_draw(self, turn: LookaheadTurn) -> float:
        """Return the value without a pending effect: stop, or draw once more if `can_draw_more`."""
        if not turn.can_draw_more:
            return self.value_of_stopping(turn)
        return max(
            self.value_of_stopping(turn), self.value_of_drawing(turn._replace(can_draw_more=False))
        )

    def value_of_bust(self, turn: LookaheadTurn, card: PlacedCard) -> float:
        """Return the value after `card` busted the turn; the cards before the Anchor are saved."""
        points = turn.points - turn.risk
        if turn.suits >= TREASURE and Suit.ANCHOR in turn.suits:
            at = next(i for i, laid in enumerate(turn.play_area) if laid.suit == Suit.ANCHOR)
            saved, lost_cards = turn.play_area[:at], turn.play_area[at:]
            if {laid.suit for laid in saved} >= TREASURE:
                thrown = ((laid.suit, laid.value) for laid in (card, *lost_cards))
                points += _compute_expected_bonus(saved, turn.own_bank, (*turn.discard, *thrown))
        return points

    def value_of_drawing(self, turn: LookaheadTurn, kraken_draws: int = 0) -> float:
        """Return the mean value of the next card; `kraken_draws` draws are due after it."""
        cards = self._list_next_cards(turn)
        if not cards:
            return self.value_of_stopping(turn)
        turn = turn._replace(known_top=None)
        return sum(
            chance * self.value_of_placing(turn, card, kraken_draws) for chance, card in cards
        )

    def value_of_placing(self, turn: LookaheadTurn, card: PlacedCard, kraken_draws: int) -> float:
        """Return the value after `card` was placed and its effect was answered in the best way."""
        if card.suit in turn.suits:
            return self.value_of_bust(turn, card)
        turn = turn.with_card(card)
        answer_values = self._evaluate_answers(turn, card.suit, kraken_draws)
        if answer_values:
            return max(answer_values)
        match card.suit:
            case Suit.MAP if turn.discard:
                return self._compute_expected_map_value(turn)
            case Suit.ORACLE:
                return self._compute_expected_oracle_value(turn, kraken_draws)
            case Suit.KRAKEN:
                return self.value_with_kraken_draws(turn, KRAKEN_DRAWS)
            case _:
                return self.value_with_kraken_draws(turn, kraken_draws)

    def value_with_kraken_draws(self, turn: LookaheadTurn, kraken_draws: int) -> float:
        """Return the value without a pending effect; `kraken_draws` draws are still due."""
        return (
            self.value_of_drawing(turn, kraken_draws - 1)
            if kraken_draws
            else self.value_of_stop_or_draw(turn)
        )

    def _list_next_cards(self, turn: LookaheadTurn) -> list[tuple[float, PlacedCard]]:
        """Return the possible next cards with their probabilities; empty if the pile is empty."""
        if turn.known_top is not None:
            return [
                (1.0, turn.own_bank.card_with_gain(turn.known_top)._replace(is_hypothetical=True))
            ]
        remaining_count = self._unseen_count - len(turn.search_draws)
        remaining_counts = (
            (card, count - turn.search_draws.count(card.suit))
            for card, count in self._mean_card_counts
        )
        return [
            (remaining / remaining_count, card)
            for card, remaining in remaining_counts
            if remaining > 0
        ]

    # --- effects -----------------------------------------------------------------------------

    def value_of_answer(self, pending: PendingEffect, card: Card | None) -> float:
        """Return the value of an answer, after which the player stops or draws once more.

        A Kraken leaves no choice: for it only the demanded draws are evaluated.
        """
        turn, owed = self.root._replace(can_draw_more=True), pending.remaining_draws
        if pending.effect_type is EffectType.KRAKEN:
            value = self.value_with_kraken_draws(self.root, owed)
        elif card is None:
            value = self.value_with_kraken_draws(turn, owed)
        elif pending.effect_type is EffectType.ORACLE:
            value = self.value_of_drawing(turn, max(0, owed - 1))
        elif pending.effect_type is EffectType.HOOK:
            value = self.value_of_hook_target(turn, card)
        elif pending.effect_type is EffectType.SWORD:
            value = self.value_of_sword_target(turn, card)
        elif pending.effect_type is EffectType.CANNON:
            value = self.value_of_cannon_target(turn, card, owed)
        else:
            offered = turn._replace(discard=(*turn.discard, *pending.cards))
            value = self.value_of_taking_map_card(offered, card)
        return value

    def value_of_hook_target(self, turn: LookaheadTurn, card: Card) -> float:
        """Return the value of answering a Hook with `card`."""
        own_bank, cost = turn.own_bank.bank_and_cost_without_card(card)
        turn = turn._replace(own_bank=own_bank, points=turn.points - cost)
        if card.suit in turn.suits and Suit.ANCHOR in turn.suits:
            turn = turn.with_recomputed_gains()
        return self.value_of_placing(turn, own_bank.card_with_gain(card), 0)

    def value_of_sword_target(self, turn: LookaheadTurn, card: Card) -> float:
        """Return the value of answering a Sword with `card`."""
        opponent_bank, cost = turn.opponent_bank.bank_and_cost_without_card(card)
        turn = turn._replace(opponent_bank=opponent_bank, points=turn.points + cost)
        return self.value_of_placing(turn, turn.own_bank.card_with_gain(card), 0)

    def value_of_cannon_target(self, turn: LookaheadTurn, card: Card, kraken_draws: int) -> float:
        """Return the value of answering a Cannon with `card`."""
        opponent_bank, cost = turn.opponent_bank.bank_and_cost_without_card(card)
        discard = (*turn.discard, card)
        turn = turn._replace(
            opponent_bank=opponent_bank, points=turn.points + cost, discard=discard
        )
        return self.value_with_kraken_draws(turn, kraken_draws)

    def value_of_taking_map_card(self, turn: LookaheadTurn, card: Card) -> float:
        """Return the value of taking `card` out of the discard pile for a Map."""
        at = turn.discard.index(card)
        turn = turn._replace(discard=turn.discard[:at] + turn.discard[at + 1 :])
        return self.value_of_placing(turn, turn.own_bank.card_with_gain(card), 0)

    def _evaluate_answers(self, turn: LookaheadTurn, suit: str, kraken_draws: int) -> list[float]:
        """Return the values of all answers to a Hook, Sword or Cannon.

        They are empty if the card has no effect.
        """
        match suit:
            case Suit.HOOK:
                return [self.value_of_hook_target(turn, card) for card in turn.own_bank.tops]
            case Suit.SWORD:
                targets = (
                    card for card in turn.opponent_bank.tops if card.suit not in turn.own_bank.top
                )
                return [self.value_of_sword_target(turn, card) for card in targets]
            case Suit.CANNON if turn.opponent_bank.tops:
                return [
                    self.value_of_cannon_target(
                        turn, turn.opponent_bank.costliest_top_card, kraken_draws
                    )
                ]
            case _:
                return []

    def _compute_expected_map_value(self, turn: LookaheadTurn) -> float:
        """Return the value of the best card of a Map's offer, as a mean over all offers."""
        values, first_by_suit = list[float](), dict[str, tuple[float, float]]()
        for card in turn.discard:
            gain = 0 if card.suit in turn.suits else turn.own_bank.card_with_gain(card).gain
            # One card of each suit is evaluated, except for Chest and Key, whose bonus may depend
            # on it.
            if card.suit not in first_by_suit or turn.suits | {card.suit} >= TREASURE:
                first_by_suit[card.suit] = self.value_of_taking_map_card(turn, card), gain
            value, first_gain = first_by_suit[card.suit]
            values.append(value + gain - first_gain)
        return expected_best_of_three(values)

    def _compute_expected_oracle_value(self, turn: LookaheadTurn, kraken_draws: int) -> float:
        """Return the value of the better of taking the Oracle's card and stopping.

        It is the mean over all possible next cards.
        """
        cards = self._list_next_cards(turn)
        if not cards:
            return self.value_of_stopping(turn)
        stop, turn = self.value_of_stopping(turn), turn._replace(known_top=None)
        values = (
            (chance, self.value_of_placing(turn, card, max(0, kraken_draws - 1)))
            for chance, card in cards
        )
        return sum(chance * max(stop, value) for chance, value in values)


def _average_by_suit(
    unseen: Iterable[Card], own_bank: ValuedBank
) -> Iterator[tuple[PlacedCard, int]]:
    suits: dict[str, list[PlacedCard]] = {}
    for card in unseen:
        suits.setdefault(card.suit, []).append(own_bank.card_with_gain(card))
    for suit, cards in suits.items():
        value, gain = fmean(card.value for card in cards), fmean(card.gain for card in cards)
        yield PlacedCard(suit, value, gain, is_hypothetical=True), len(cards)


def _compute_expected_bonus(
    collected: tuple[PlacedCard, ...], own_bank: ValuedBank, discard: tuple[tuple[str, float], ...]
) -> float:
    """Return the expected rise of the bank by the bonus.

    The bonus is as many random cards of the discard pile as were collected.
    """
    discard_count, picked = len(discard), min(len(collected), len(discard))
    tops: dict[str, float] = dict(own_bank.top)
    for suit, _, gain, _ in collected:
        tops[suit] = tops.get(suit, 0) + gain
    rises: dict[str, list[float]] = {}
    for suit, value in discard:
        rises.setdefault(suit, []).append(value - tops.get(suit, 0))
    # The pick with this `rank` is the best of its suit if no better card of the suit is picked.
    # Only the best one raises the bank, so the expected rise is a sum over ranks, without sampling.
    ways = sum(
        rise * comb(discard_count - rank, picked - 1)
        for suit_rises in rises.values()
        for rank, rise in enumerate(sorted(suit_rises, reverse=True), start=1)
        if rise > 0
    )
    return ways / comb(discard_count, picked)
