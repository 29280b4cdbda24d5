# ruff: noqa: PLR2004 - a rule is its numbers
"""Held-out opponents, which the default strategy does not know: each is one rule.

None is a habit of `opponent_types.py`, and none calls our strategies. All but the last know only
the rules and the probabilities by their own cards. The last kind exploits our strategy: it knows
the shipped tables and looks one or two steps ahead. Its share of whole games measures how hard our
strategy is to exploit. With fewer than eight cards in play, and with more than the tables include,
it plays as `solved` does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import exp
from random import Random

from cardsharp.games.blef.actions import BETS, CHECK, LOST_MARKER
from cardsharp.games.blef.cards import DECK
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import (
    STRATEGIES,
    BlefDecision,
    large_round_policy,
    legal_choices,
)
from cardsharp.games.blef.strategies.bet_probabilities import (
    BetProbabilities,
    bet_probabilities,
    card_bits,
    missing_card_bits,
    true_bets,
)
from cardsharp.games.blef.strategies.equilibrium import MixedStrategy, starter_and_other_card_counts
from cardsharp.games.blef.strategies.solved import Solved
from cardsharp.games.blef.strategies.table_lookup import NO_BET

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


_WORLDS, _BETS = 40, 6
_TREMBLE_PROBABILITY = 0.001  # probability of an action that the table never takes
_MIN_WEIGHT_SHARE = 0.02  # share of the weight below which a world or a raise is skipped


class LookaheadPlayer:
    """Player that weights sampled hands by the table policy and looks ahead."""

    def __init__(self, rng: Random, depth: int) -> None:
        self._rng, self._depth, self._solved_player = rng, depth, Solved(rng)
        self._policy = large_round_policy.load_large_round_policy()

    def decide(self, position: BlefPosition) -> BlefDecision:
        """Return the check or a likely bet, whichever wins the round more often."""
        legal_choices(position)
        cards = starter_and_other_card_counts(position)
        if cards not in self._policy.rounds:
            return self._solved_player.decide(position)
        current_round = _WeightedRound(self._policy, position, self._sample_worlds(position))
        return BlefDecision(current_round.best_action(self._depth), "By what the table says.")

    def _sample_worlds(self, position: BlefPosition) -> Sequence[int]:
        """Return sampled hands that the opponent may have, each as a bit mask of cards."""
        rest = [card for card in DECK if card not in position.hand]
        return [
            card_bits(self._rng.sample(rest, position.hidden_card_count)) for _ in range(_WORLDS)
        ]


class _WeightedRound:
    """Round with its possible worlds, and the answers that the table gives in each."""

    def __init__(
        self,
        policy: large_round_policy.LargeRoundPolicy,
        position: BlefPosition,
        worlds: Sequence[int],
    ) -> None:
        self._policy, self._worlds = policy, worlds
        self._hand_sizes = position.hidden_card_count, len(position.hand)
        self._cached_strategies: dict[tuple[int, int, int], MixedStrategy] = {}
        hand_bits = card_bits(position.hand)
        self._true_bets_by_world = [true_bets(hand_bits | hand) for hand in worlds]
        self._bet_history = (NO_BET, NO_BET, *(move.action for move in position.history))
        self.weights = [1.0] * len(worlds)
        for bet_index in range(len(self._bet_history) - 1, 1, -2):
            self.weights = self._update_weights(
                self.weights, self._bet_history[bet_index - 2 : bet_index + 1]
            )

    def _update_weights(self, weights: Sequence[float], bets: Sequence[int]) -> list[float]:
        """Return the weights of the worlds after an answer of the opponent.

        The answer is the third of the bets; the first two preceded it.
        """
        previous, last_bet, bet = bets
        often = (
            dict(self._predict_answers(hand, previous, last_bet)).get(bet, 0.0)
            for hand in self._worlds
        )
        return [
            old_weight * (probability + _TREMBLE_PROBABILITY)
            for old_weight, probability in zip(weights, often, strict=True)
        ]

    def _predict_answers(self, hand: int, previous: int, last_bet: int) -> MixedStrategy:
        key = hand, previous, last_bet
        if key not in self._cached_strategies:
            self._cached_strategies[key] = large_round_policy.mixed_strategy(
                self._policy, self._hand_sizes, hand, (previous, last_bet)
            )
        return self._cached_strategies[key]

    def best_action(self, depth: int) -> int:
        """Return the action that wins most of the worlds."""
        last_bet, weights = self._bet_history[-1], self.weights
        check = (
            0.0 if last_bet == NO_BET else self._sum_bet_weight(last_bet, weights, is_true=False)
        )
        chances = {
            bet: self._sum_bet_weight(bet, weights) for bet in range(last_bet + 1, len(BETS))
        }
        likeliest = sorted(chances, key=lambda bet: -chances[bet])[:_BETS]
        bets = [(self._evaluate_bet(last_bet, bet, weights, depth), bet) for bet in likeliest]
        return max([(check, CHECK), *bets])[1]

    def _sum_bet_weight(self, bet: int, weights: Sequence[float], *, is_true: bool = True) -> float:
        """Return the weight of the worlds in which a bet is true, or false."""
        both = zip(self._true_bets_by_world, weights, strict=True)
        return sum(weight for truth, weight in both if (truth >> bet & 1) == is_true)

    def _evaluate_bet(self, last_bet: int, bet: int, weights: Sequence[float], steps: int) -> float:
        """Return the weight of the worlds won with a bet, with the best reply to each raise."""
        won, raised, rare = 0.0, dict[int, list[float]](), _MIN_WEIGHT_SHARE * max(weights)
        for at, (hand, truth) in enumerate(
            zip(self._worlds, self._true_bets_by_world, strict=True)
        ):
            for raise_bet, often in (
                self._predict_answers(hand, last_bet, bet) if weights[at] > rare else ()
            ):
                if raise_bet == CHECK:
                    won += weights[at] * often * (truth >> bet & 1)
                else:
                    raise_weights = raised.setdefault(raise_bet, [0.0] * len(weights))
                    raise_weights[at] = weights[at] * often
        return won + sum(
            self._evaluate_raise(raise_bet, raise_weights, steps)
            for raise_bet, raise_weights in raised.items()
        )

    def _evaluate_raise(self, raise_bet: int, weights: Sequence[float], steps: int) -> float:
        """Return the value after a raise by the opponent; in the last step the raise is checked."""
        checked = self._sum_bet_weight(raise_bet, weights, is_true=False)
        if steps == 1 or sum(weights) < _MIN_WEIGHT_SHARE * sum(self.weights):
            return checked
        chances = {
            bet: self._sum_bet_weight(bet, weights) for bet in range(raise_bet + 1, len(BETS))
        }
        best = max(chances, key=lambda bet: chances[bet], default=CHECK)
        return (
            checked
            if best == CHECK
            else max(checked, self._evaluate_bet(raise_bet, best, weights, 1))
        )


LOOKAHEAD_PLAYERS = {"one-step": 1, "two-step": 2}

for _name, _steps in LOOKAHEAD_PLAYERS.items():
    STRATEGIES.register_unlisted(_name, partial(LookaheadPlayer, depth=_steps))
