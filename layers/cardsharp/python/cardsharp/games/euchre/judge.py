"""Judge of Euchre by `pimc`: expected points of the deal, less those of the other side.

A match of the log is one deal, so the effect on the game to ten points is not included.

The luck of a deal is its result if all four seats play as `rules` does, less the mean over other
random deals. So its mean is 0, however well the players use their cards. `rules` misjudges some
cards; therefore it removes less of the luck, but it does not bias any result.
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from statistics import fmean

from cardsharp.analysis.judge import Judge
from cardsharp.games.euchre.actions import Action
from cardsharp.games.euchre.cards import DECK, Card
from cardsharp.games.euchre.history.decisions import decision_contexts
from cardsharp.games.euchre.history.replay import dealt_cards
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.public_state import SEATS, pending_decision
from cardsharp.games.euchre.rules import HAND_SIZE, TURN_CARD_INDEX, score
from cardsharp.games.euchre.simulation import WINNING_SCORE
from cardsharp.games.euchre.strategies import EuchreDecision
from cardsharp.games.euchre.strategies.bidding import card_mask
from cardsharp.games.euchre.strategies.pimc import Pimc
from cardsharp.games.euchre.strategies.worlds import EuchreWorld, pass_value
from cardsharp.store.match_log import MatchRecord, MoveRecord

LUCK_SAMPLES = 10  # random deals for the mean; they raise the variance of the luck by a tenth
# approximate probability that a side makes this many points in a deal
_OFTEN = {1: 0.335, 2: 0.145, 4: 0.02}


def deal_luck(cards: tuple[Card, ...], value_of_points: Callable[[int], float] = float) -> float:
    """Return the luck of a deal's 24 cards for seats 0 and 2.

    The result is the same in every run. Its unit is points more than the other side makes, or the
    value that `value_of_points` returns for them.
    """
    dice = Random(repr(cards))
    samples = (tuple(dice.sample(DECK, len(DECK))) for _ in range(LUCK_SAMPLES))
    return value_of_points(playout_point_difference(cards)) - fmean(
        value_of_points(playout_point_difference(sample)) for sample in samples
    )


def playout_point_difference(cards: tuple[Card, ...]) -> int:
    """Return the points of seats 0 and 2 less those of 1 and 3, if all play as `rules` does."""
    hands = tuple(card_mask(cards[HAND_SIZE * seat : HAND_SIZE * (seat + 1)]) for seat in SEATS)
    # -1: nobody has bid before
    return pass_value(EuchreWorld(hands, hands), cards[TURN_CARD_INDEX], -1)


@cache  # an entry for each score
def match_win_probability(side_points: int, opponent_points: int) -> float:
    """Return a side's chance to win the match from this score, with equally strong sides."""
    if max(side_points, opponent_points) >= WINNING_SCORE:
        return float(side_points >= WINNING_SCORE)
    return sum(
        often
        * (
            match_win_probability(side_points + points, opponent_points)
            + match_win_probability(side_points, opponent_points + points)
        )
        for points, often in _OFTEN.items()
    )


class PimcJudge(Judge):
    """Judge by the estimates of `pimc`, over worlds that depend on the position alone."""

    name = "pimc"
    unit = "points of the deal"
    value_format = "+.2f"
    value_sum = 0.0
    value_range = 4.0  # the most points of a deal: all tricks, played alone
    luck_includes_deal = True

    def evaluate(
        self, position: EuchrePosition, extra_actions: Sequence[Action] = ()
    ) -> EuchreDecision:
        """Return the engine's decision.

        A decision without alternatives has no value and no cost.
        """
        return Pimc().decide(position, extra_actions)

    def first_side_result(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """Return the points of seats 0 and 2 less those of seats 1 and 3, None if not finished."""
        contexts = list(decision_contexts(record, moves))
        if not contexts or len(contexts) < len(moves):
            return None
        table = contexts[-1].public_state.with_action(contexts[-1].seat, contexts[-1].action)
        if pending_decision(table) is not None:
            return None
        points = score(table).points
        return float(points[0] - points[1])

    def estimate_first_side_luck(
        self, record: MatchRecord, _moves: Sequence[MoveRecord]
    ) -> float | None:
        """Return the luck of the deal, or None if the record lacks some cards."""
        cards = dealt_cards(record)
        return None if cards is None else deal_luck(cards)


JUDGE = PimcJudge()
