# ruff: noqa: PLR2004 - a rule is its numbers
"""Held-out opponents, which the default strategy does not know: each is one rule.

None is a habit of `opponent_types.py`, and none calls our strategies. They know only the rules and
the probabilities by their own cards.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import exp
from random import Random

from cardsharp.games.blef.actions import BETS, CHECK, LOST_MARKER
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import (
    STRATEGIES,
    BlefDecision,
    legal_choices,
)
from cardsharp.games.blef.strategies.bet_probabilities import (
    BetProbabilities,
    bet_probabilities,
    card_bits,
    missing_card_bits,
)

_HIGHEST_BET = len(BETS) - 1


@dataclass(frozen=True)
class TurnView:
    """View of the player to act, with a random generator."""

    position: BlefPosition
    rng: Random

    @cached_property
    def bet_to_beat(self) -> int:
        """Bet to beat, or -1 if there is none."""
        last_bet = self.position.last_bet
        return -1 if last_bet is None else last_bet

    @cached_property
    def bet_probabilities(self) -> BetProbabilities:
        """Probability of each bet given the player's cards."""
        return bet_probabilities(card_bits(self.position.hand), self.position.hidden_card_count)

    @cached_property
    def higher_bets(self) -> Sequence[int]:
        """Legal bets, ascending; empty after the highest."""
        return range(self.bet_to_beat + 1, len(BETS))

    @cached_property
    def bet_probability(self) -> float:
        """Probability of the bet to beat given the player's cards, 1 if there is none."""
        return self.bet_probabilities[self.bet_to_beat] if self.bet_to_beat >= 0 else 1.0

    def likeliest_bet(self) -> int:
        """Likeliest of the higher bets; the lowest of equals."""
        return max(self.higher_bets, key=lambda bet: self.bet_probabilities[bet], default=CHECK)


Rule = Callable[[TurnView], int]
"""Rule of a player. A check without a bet to check stands for the likeliest bet."""


def play_honest(view: TurnView, check_below: float, min_probability: float) -> int:
    """Check bets below `check_below`; bet the lowest of at least `min_probability`."""
    if view.bet_probability < check_below:
        return CHECK
    safe = (bet for bet in view.higher_bets if view.bet_probabilities[bet] >= min_probability)
    return next(safe, CHECK if view.bet_probability < min_probability else view.likeliest_bet())


def play_minimum_raise(view: TurnView) -> int:
    """Bet one more than the last bet while that is plausible."""
    return next((bet for bet in view.higher_bets[:1] if view.bet_probabilities[bet] >= 0.1), CHECK)


def play_trusting(view: TurnView) -> int:
    """Believe the last bet, and bet the likeliest with the cards that it claims."""
    if view.bet_to_beat < 0:
        return view.likeliest_bet()
    hand_bits = card_bits(view.position.hand)
    missing = missing_card_bits(view.bet_to_beat, hand_bits)
    hidden = view.position.hidden_card_count - missing.bit_count()
    if hidden < 0:
        return CHECK
    chances = bet_probabilities(hand_bits | missing, hidden)
    best = max(view.higher_bets, key=lambda bet: (chances[bet], -bet), default=CHECK)
    return best if best != CHECK and chances[best] >= 0.5 else CHECK


def play_improbable(view: TurnView) -> int:
    """Make the least likely of the next six bets; check below 0.3."""
    if view.bet_probability < 0.3:
        return CHECK
    return min(view.higher_bets[:6], key=lambda bet: view.bet_probabilities[bet], default=CHECK)


def play_opening_bluff(view: TurnView) -> int:
    """Begin each round with the highest plausible bluff, then play honestly."""
    has_bet = any(move.seat == view.position.seat for move in view.position.history)
    lies = [bet for bet in view.higher_bets if 0.1 <= view.bet_probabilities[bet] <= 0.35]
    return play_honest(view, 0.15, 0.5) if has_bet or not lies else view.rng.choice(lies)


def play_never_check(view: TurnView) -> int:
    """Never check a possible bet; bet the likeliest."""
    return view.likeliest_bet() if view.bet_probability > 0 else CHECK


def play_coin_flip(view: TurnView) -> int:
    """Check or bet one of the next ten bets, by a coin flip."""
    bets = view.higher_bets[:10]
    return CHECK if view.rng.random() < 0.5 or not bets else view.rng.choice(bets)


def play_random(view: TurnView) -> int:
    """Return any legal action."""
    return view.rng.choice(legal_choices(view.position))


def play_softmax(view: TurnView) -> int:
    """Return a random action, with likelier bets chosen more often."""
    worth = {bet: view.bet_probabilities[bet] for bet in view.higher_bets}
    worth[CHECK] = 1 - view.bet_probability
    (action,) = view.rng.choices([*worth], [exp(value / 0.08) for value in worth.values()])
    return action


def play_raise_same_values(view: TurnView) -> int:
    """Bet on what the last bet claims: the next bet with all its values."""
    if view.bet_probability < 0.15:
        return CHECK
    values = (
        {value for value, _ in BETS[view.bet_to_beat].rank_counts}
        if view.bet_to_beat >= 0
        else set()
    )
    alike = (
        bet for bet in view.higher_bets if values <= {value for value, _ in BETS[bet].rank_counts}
    )
    return next(alike, CHECK) if values else view.likeliest_bet()


def play_honest_then_bluff(view: TurnView) -> int:
    """Play honestly for eight rounds, then bluff in each round."""
    return (
        play_honest(view, 0.2, 0.6) if view.position.round_number <= 8 else play_opening_bluff(view)
    )


def play_result_driven(view: TurnView) -> int:
    """Play honestly and doubt after a won round, and wildly after a lost one."""
    earlier = view.position.earlier_rounds
    if not earlier or earlier[-1].history[-1] != (view.position.seat, LOST_MARKER):
        return play_honest(view, 0.35, 0.7)
    wild = [bet for bet in view.higher_bets if view.bet_probabilities[bet] >= 0.2]
    return CHECK if view.bet_probability < 0.1 or not wild else view.rng.choice(wild)


def play_highest_likely(view: TurnView) -> int:
    """Bet as high as probability 0.3 allows; check bets below that."""
    bets = [bet for bet in view.higher_bets if view.bet_probabilities[bet] >= 0.3]
    return bets[-1] if bets and view.bet_probability >= 0.3 else CHECK


RULE_PLAYERS: Mapping[str, Rule] = {
    "honest-6": partial(play_honest, check_below=0.2, min_probability=0.6),
    "honest-4": partial(play_honest, check_below=0.2, min_probability=0.4),
    "crawler": play_minimum_raise,
    "believer": play_trusting,
    "liar": play_improbable,
    "bluffer": play_opening_bluff,
    "unbending": play_never_check,
    "mixer": play_coin_flip,
    "careless": play_random,
    "tempted": play_softmax,
    "mimic": play_raise_same_values,
    "turncoat": play_honest_then_bluff,
    "moody": play_result_driven,
    "leaper": play_highest_likely,
}


class RulePlayer:
    """Player that plays by one rule."""

    def __init__(self, rule: Rule, rng: Random) -> None:
        self._rule, self._rng = rule, rng

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Return the rule's action, or the likeliest bet if that action is illegal."""
        table, legal = TurnView(position, self._rng), legal_choices(position)
        action = self._rule(table)
        return BlefDecision(action if action in legal else table.likeliest_bet(), "By its rule.")


for _name, _rule in RULE_PLAYERS.items():
    STRATEGIES.register_unlisted(_name, partial(RulePlayer, _rule))
