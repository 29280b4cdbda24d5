"""Value of a simulated turn at its end, and the learned value of continuing it."""

from dataclasses import dataclass
from typing import NamedTuple

from cardsharp.games.deadmansdraw.strategies.search.card_sets import (
    NO_CARD,
    RANKS,
    SUIT_OF,
    SplitMix64,
    card_numbers_in,
    holds_chest_and_key,
)
from cardsharp.games.deadmansdraw.strategies.search.network import ContinuedTurn, log_odds_steps
from cardsharp.games.deadmansdraw.strategies.search.simulated_turn import SimulatedTurn
from cardsharp.games.deadmansdraw.strategies.search.value_model import (
    PART_OFFSETS,
    PART_SIZES,
    Sums,
    ValueModel,
    win_probability,
)
from cardsharp.games.deadmansdraw.strategies.search.weight_layout import (
    CARD_COUNTS,
    FIXED_POINT_ONE,
    KNOT_STEPS,
    OTHER,
    PLACE_DIGIT,
)

CONTINUATION_SHIFT = 20  # a step of `hope` is half a unit of log-odds
_SIZE_OFFSET, _PILE_COUNT_OFFSET, _RISK_OFFSET, _HOPE_OFFSET = (
    PART_OFFSETS[part] for part in ("size", "left", "risk", "hope")
)
_SIZE_COUNT, _HOPE_COUNT = PART_SIZES["size"], PART_SIZES["hope"]


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Limits of a search. All are counts, so that the speed of a machine does not change a result.

    `max_depth` limits how deeply effects may be nested in the search. Down to the level
    `max_second_draws` a second draw is searched; below it the learned value is used. `samples` is
    the number of sampled bonus picks at the leaves, `root_samples` that for stopping at once. With
    at most `endgame_cards` cards in the draw pile the match is searched to its end, unless that
    takes more than `max_leaves` ends of turns.
    """

    max_depth: int = 2
    max_second_draws: int = 1
    samples: int = 4
    root_samples: int = 16
    endgame_cards: int = 5
    max_leaves: int = 15_000


SHORT_LIMITS = SearchLimits(max_depth=1, max_second_draws=-1, endgame_cards=0)
"""Limits for a search that evaluates many decisions."""


def never_late() -> bool:
    """Return False: the time is not limited."""
    return False


class LeafValue(NamedTuple):
    """Value of a turn that has ended: win probability of the player whose turn it was.

    `log_odds` and `sums` are those of the next player, whose turn begins.
    """

    win_probability: float
    log_odds: int
    sums: Sums


_NO_BUST = LeafValue(0.0, 0, (0, 0, 0))  # where no card of the draw pile busts


def suit_keys_with_banked_bonus(keys: list[int], cards: list[int]) -> list[int]:
    """Return a copy of the suits' keys after the bonus moved `cards` into the bank.

    The keys are those of a turn's end, and the cards come from the discard pile.
    """
    keys = keys.copy()
    for card in cards:
        keys[SUIT_OF[card]] += OTHER * PLACE_DIGIT[card % RANKS]
    return keys


class LeafEvaluator:
    """Evaluator with the weights of a model; `nodes` counts the evaluated ends of turns."""

    def __init__(self, model: ValueModel, limits: SearchLimits | None = None) -> None:
        self.model, self.network = model, model.network
        self.limits = limits or SearchLimits()
        self.nodes = 0

    # --- the end of a turn -------------------------------------------------------------------

    def value_of_stopping(self, turn: SimulatedTurn, samples: int = 0) -> float:
        """Return the value of banking the play area now."""
        return self._evaluate_stop(turn, samples or self.limits.samples).win_probability

    def value_of_bust(self, turn: SimulatedTurn, card: int) -> float:
        """Return the value after `card`, already taken from its place, has busted the turn."""
        return self._evaluate_bust(turn, card).win_probability

    def value_of_busting_draw(self, turn: SimulatedTurn, card: int) -> float:
        """Return the value after a draw of `card` that busts the turn."""
        return self.value_of_bust(turn.without_draw_pile_card(card), card)

    def value_of_turn_end(self, turn: SimulatedTurn, keys: list[int]) -> float:
        """Return the value of a turn that has ended with these keys."""
        return self._evaluate_turn_end(turn, keys).win_probability

    def _evaluate_bust(self, turn: SimulatedTurn, card: int) -> LeafValue:
        if not holds_chest_and_key(turn.saved):
            return self._evaluate_turn_end(turn, turn.bust)
        thrown = turn.area & ~turn.saved | 1 << card
        discard, samples = card_numbers_in(turn.discard | thrown), self.limits.samples
        return self._evaluate_with_bonus(turn, turn.bust, discard, turn.rescued, samples)

    def _evaluate_stop(self, turn: SimulatedTurn, samples: int) -> LeafValue:
        if not holds_chest_and_key(turn.area):
            return self._evaluate_turn_end(turn, turn.stop)
        discard = card_numbers_in(turn.discard)
        return self._evaluate_with_bonus(turn, turn.stop, discard, turn.lying, samples)

    def _evaluate_turn_end(self, turn: SimulatedTurn, keys: list[int]) -> LeafValue:
        pile_count = turn.pile_count
        sums = self.model.sum_suit_terms(keys, pile_count)
        self.nodes += 1
        if not pile_count:
            lead = sums[1]
            return LeafValue(
                0.0 if lead > 0 else 1.0 if lead else 0.5, lead * FIXED_POINT_ONE, sums
            )
        next_card = turn.known_top
        log_odds = self.model.log_odds(
            sums, pile_count, NO_CARD if next_card < 0 else SUIT_OF[next_card]
        )
        if self.network is not None:
            log_odds += self.network.begins.new_turn_correction(
                keys, pile_count, sums[1], log_odds, next_card
            )
        return LeafValue(win_probability(-log_odds), log_odds, sums)

    def _evaluate_with_bonus(
        self,
        turn: SimulatedTurn,
        keys: list[int],
        discard: list[int],
        bonus_count: int,
        samples: int,
    ) -> LeafValue:
        """Return the mean value over sampled picks of `bonus_count` cards.

        The value is exact if the discard pile leaves no choice.
        """
        if len(discard) <= bonus_count:
            return self._evaluate_turn_end(turn, suit_keys_with_banked_bonus(keys, discard))
        # The seed depends on the cards only. So all branches of a search sample the same picks,
        # which makes their comparison fair, and the compiled twin finds the same ones.
        dice = SplitMix64(sum(1 << card for card in discard) + bonus_count)
        chance, log_odds = 0.0, 0
        for _ in range(samples):
            sample_to_front(dice, discard, bonus_count)
            worth = self._evaluate_turn_end(
                turn, suit_keys_with_banked_bonus(keys, discard[:bonus_count])
            )
            chance += worth.win_probability
            log_odds += worth.log_odds
        return LeafValue(chance / samples, _divide_towards_zero(log_odds, samples), worth.sums)

    # --- learned value of drawing on ---------------------------------------------------------

    def estimate_draw_and_stop_values(self, turn: SimulatedTurn) -> tuple[float, float]:
        """Return the learned values of drawing on and of stopping; the pile must not be empty."""
        stopped = self._evaluate_stop(turn, self.limits.samples)
        busting = turn.pile & turn.barred
        # One busting card represents all of them: each bust loses the same cards. Only the safe
        # draws use the learned value.
        busting_count, pile_count = busting.bit_count(), turn.pile_count
        risk, risk_steps = busting_count / pile_count, 16 * busting_count // pile_count
        busted = _NO_BUST
        if busting:
            lowest = (busting & -busting).bit_length() - 1
            busted = self._evaluate_bust(turn.without_draw_pile_card(lowest), lowest)
        on = stopped.sums[2] + self._shared_continuation_weight(turn, risk_steps, stopped.log_odds)
        log_odds = on * KNOT_STEPS - stopped.log_odds
        if self.network is not None:
            inputs = ContinuedTurn(
                risk_steps,
                min(turn.lying, _SIZE_COUNT - 1),
                min(turn.rescued + 1, _SIZE_COUNT) if turn.anchored else 0,
                log_odds_steps(-stopped.log_odds),
                log_odds_steps(-(busted if busting else stopped).log_odds),
            )
            log_odds += self.network.goes_on.continuation_correction(
                turn.stop, pile_count, stopped.sums[1], log_odds, inputs
            )
        safe = win_probability(log_odds)
        return (1.0 - risk) * safe + risk * busted.win_probability, stopped.win_probability

    def _shared_continuation_weight(
        self, turn: SimulatedTurn, risk_steps: int, log_odds: int
    ) -> int:
        """Return the part of D that does not belong to one suit.

        D is the value of drawing on over that of stopping.
        """
        weights = self.model.numbers
        return (
            weights[_SIZE_OFFSET + min(turn.lying, _SIZE_COUNT - 1)]
            + weights[_PILE_COUNT_OFFSET + min(turn.pile_count, CARD_COUNTS - 1)]
            + weights[_RISK_OFFSET + risk_steps]
            + weights[
                _HOPE_OFFSET
                + max(0, min((-log_odds >> CONTINUATION_SHIFT) + _HOPE_COUNT // 2, _HOPE_COUNT - 1))
            ]
        )


def sample_to_front(rng: SplitMix64, cards: list[int], count: int) -> None:
    """Move `count` random cards to the front of `cards`, in place."""
    for i in range(count):
        at = i + rng.below(len(cards) - i)
        cards[i], cards[at] = cards[at], cards[i]


def _divide_towards_zero(dividend: int, divisor: int) -> int:
    """Return `dividend` divided by `divisor`, rounded towards 0 as in C."""
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)
