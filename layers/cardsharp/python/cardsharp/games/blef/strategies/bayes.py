"""`bayes`: infers the opponents' hands from their bets, and looks ahead after check or raise.

It samples hands of the other players by the likelihood of the cards and of their bets
(`worlds.py`). In each of these worlds it plays out every choice: the replies to its bet, and its
best answers to them. Its only aim is not to lose the round. In a solved round it plays the
equilibrium instead (`equilibrium.py`).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from random import Random

from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import MIN_PLAYERS
from cardsharp.games.blef.strategies import (
    BlefDecision,
    BlefOption,
    legal_choices,
    strategy,
)
from cardsharp.games.blef.strategies.bet_probabilities import bet_probabilities, card_bits
from cardsharp.games.blef.strategies.equilibrium import MixedStrategy, equilibrium_strategy
from cardsharp.games.blef.strategies.explanations import explain_choice
from cardsharp.games.blef.strategies.opponent_model import OpponentModel
from cardsharp.games.blef.strategies.worlds import (
    NO_OPPONENT_MODELS,
    BlefWorld,
    sample_worlds,
)

_SURPRISE_WEIGHT = (
    0.1  # weight of an unexpected check, after which only the truth of the bet counts
)
_QUICK_WORLD_STEP = 3  # the quick estimate uses every third world
_DEEP_SEARCH_COUNT = 10  # best bets whose answers to a raise are searched, too
_MAX_ANSWERS = 6  # likeliest bets that we consider as an answer
_CARDS_WEIGHT, _CARDS_WEIGHT_OF_MANY = 4.0, 30.0
"""Number of worlds that the exact probability by the player's own cards counts as.

With three players and more there are fewer worlds, and they differ more from the real cards.
"""

_MIN_PROBABILITY = 0.001  # distance from 0 and 1 of any probability that the hand does not decide
_MODELLED_OPPONENTS = "The others are assumed to bet as in the rounds before."

_PERCENT = 0.01
_MAX_OPTIONS = 5


@dataclass(frozen=True, slots=True)
class BetProbabilityEstimates:
    """Sampled worlds, and the probability of each bet to hold.

    A probability is 0 or 1 only if the viewer's cards decide it. `possible_bets` is a bit mask of
    the bets that hold in at least one world.
    """

    worlds: Sequence[BlefWorld]
    bet_probabilities: Sequence[float]
    possible_bets: int
    _answers_by_bet: dict[int, Sequence[int]] = field(default_factory=dict, init=False)

    def survival_probability(self, bet: int) -> float:
        """Return the probability not to lose the round with a bet."""
        return self._mix_in_surprise(
            bet, self._count_safe_worlds(bet, self.worlds, deep=True) / len(self.worlds)
        )

    def quick_survival_probability(self, bet: int) -> float:
        """Estimate `survival_probability` from sampled worlds, ignoring replies to a raise."""
        some = self.worlds[::_QUICK_WORLD_STEP]
        return self._mix_in_surprise(
            bet, self._count_safe_worlds(bet, some, deep=False) / len(some)
        )

    def _mix_in_surprise(self, bet: int, modelled_probability: float) -> float:
        return _clamp_probability(
            (1 - _SURPRISE_WEIGHT) * modelled_probability
            + _SURPRISE_WEIGHT * self.bet_probabilities[bet]
        )

    def _count_safe_worlds(self, bet: int, worlds: Iterable[BlefWorld], *, deep: bool) -> float:
        """Return the expected number of these worlds in which we do not lose the round."""
        won = 0.0
        raised: defaultdict[int, list[BlefWorld]] = defaultdict(list)
        for world in worlds:
            last_bet = bet
            for replies in world.replies:
                reply = replies[last_bet]
                if reply == CHECK:
                    # The checked bet was another player's, which saves us, or ours, which wins if
                    # it holds.
                    won += last_bet != bet or world.true_bets >> bet & 1
                    break
                last_bet = reply
            else:
                raised[last_bet].append(world)
        return won + sum(
            self._count_best_answer_wins(last_bet, group, deep=deep)
            for last_bet, group in raised.items()
        )

    def _count_best_answer_wins(
        self, last_bet: int, worlds: list[BlefWorld], *, deep: bool
    ) -> float:
        """Return the number of these worlds that we win with our best answer to this bet."""
        checked = float(sum(not world.true_bets >> last_bet & 1 for world in worlds))
        if not deep:
            # The answer must be the same in all these worlds: we do not know which of them is real.
            # Choosing the best answer for each world apart would use information that we do not
            # have.
            return checked
        raised = (
            self._count_safe_worlds(bet, worlds, deep=False)
            for bet in self._find_likeliest_answers(last_bet)
        )
        return max(checked, *raised, 0.0)

    def _find_likeliest_answers(self, last_bet: int) -> Sequence[int]:
        """Return the answers to a raise that are worth a search: the likeliest possible bets."""
        answers = self._answers_by_bet.get(last_bet)
        if answers is None:
            bets = [bet for bet in range(last_bet + 1, len(BETS)) if self.possible_bets >> bet & 1]
            bets.sort(key=self.bet_probabilities.__getitem__, reverse=True)
            answers = self._answers_by_bet[last_bet] = bets[:_MAX_ANSWERS]
        return answers


def _build_seed_text(position: BlefPosition) -> str:
    """Return the position's text, which seeds the random generator.

    It keeps the field names of the first version. Otherwise old matches would replay
    differently.
    """
    text = repr(position).replace("(seat=", "(me=", 1).replace("RoundMove(", "Move(")
    text = text.replace("round_number=", "number=").replace("card_counts=", "n_cards=")
    return text.replace("suit=", "colour=")


def evaluate_bets(
    position: BlefPosition, opponent_models: Mapping[int, OpponentModel] = NO_OPPONENT_MODELS
) -> BetProbabilityEstimates:
    """Sample worlds with a generator seeded by the position, and evaluate each bet in them.

    `opponent_models` predict the decisions of the players whose style was learned.
    """
    worlds = sample_worlds(position, Random(_build_seed_text(position)), opponent_models)
    by_cards = bet_probabilities(card_bits(position.hand), position.hidden_card_count)
    has_many_players = len(position.to_round().active_seats) > MIN_PLAYERS
    weight = _CARDS_WEIGHT_OF_MANY if has_many_players else _CARDS_WEIGHT
    chances = [
        probability
        if probability in {0.0, 1.0}
        else _clamp_probability(
            (sum(world.true_bets >> bet & 1 for world in worlds) + weight * probability)
            / (len(worlds) + weight)
        )
        for bet, probability in enumerate(by_cards)
    ]
    return BetProbabilityEstimates(
        worlds, chances, reduce(or_, (world.true_bets for world in worlds))
    )


def _clamp_probability(chance: float) -> float:
    return min(1 - _MIN_PROBABILITY, max(_MIN_PROBABILITY, chance))


def describe_probability(probability: float) -> str:
    """Describe how likely a bet is to hold: as a fact if certain, else approximately."""
    if probability in {0.0, 1.0}:
        return "holds for certain" if probability else "cannot hold"
    return f"holds with {describe_percentage(probability)}"


def describe_percentage(probability: float) -> str:
    """Describe a probability in per cent, such as "about 63 %"."""
    if _PERCENT <= probability <= 1 - _PERCENT:
        return f"about {100 * probability:.0f} %"
    return "less than 1 %" if probability < _PERCENT else "more than 99 %"


@strategy("bayes")
class Bayes:
    """Weighs the others' hands by how well they explain the bets, and looks ahead.

    Its choice is random only in a solved round, because an equilibrium must mix its actions.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def decide(
        self,
        position: BlefPosition,
        opponent_models: Mapping[int, OpponentModel] = NO_OPPONENT_MODELS,
    ) -> BlefDecision:
        """Return the check or the bet with the best chance not to lose the round."""
        legal_choices(position)
        solved = equilibrium_strategy(position)
        if solved is not None:
            return sample_decision(position, solved, self._rng, "equilibrium")
        decision = best_decision(position, evaluate_bets(position, opponent_models))
        if opponent_models and position.earlier_rounds:
            return replace(decision, reason=f"{_MODELLED_OPPONENTS} {decision.reason}")
        return decision


def best_decision(position: BlefPosition, evaluation: BetProbabilityEstimates) -> BlefDecision:
    """Return the best decision in these worlds, as if the round were not solved.

    Raises `IllegalAction` if the viewer is not to act.
    """
    options = _evaluate_bets(evaluation, [bet for bet in legal_choices(position) if bet != CHECK])
    last_bet = position.last_bet
    if last_bet is not None:
        options.append(
            BlefOption(
                CHECK, 1 - evaluation.bet_probabilities[last_bet], "chance that the bet fails"
            )
        )
    options.sort(key=lambda option: -option.value)
    best = options[0]
    bet, beliefs = last_bet if best.action == CHECK else best.action, evaluation.bet_probabilities
    return BlefDecision(
        best.action,
        explain_choice(position, best.action, None if bet is None else beliefs[bet]),
        tuple(options[: _MAX_OPTIONS + 1]),
    )


def _evaluate_bets(evaluation: BetProbabilityEstimates, bets: list[int]) -> list[BlefOption]:
    """Return the most promising bets as options, evaluated by a deep search."""
    likely = [bet for bet in bets if evaluation.possible_bets >> bet & 1] or bets[:1]
    likely.sort(key=lambda bet: -evaluation.quick_survival_probability(bet))
    return [
        BlefOption(
            bet,
            evaluation.survival_probability(bet),
            describe_probability(evaluation.bet_probabilities[bet]),
        )
        for bet in likely[:_DEEP_SEARCH_COUNT]
    ]


def sample_decision(
    position: BlefPosition,
    mixed_strategy: MixedStrategy,
    rng: Random,
    source: str,
    min_probability: float = 0.0,
) -> BlefDecision:
    """Return an action sampled with its probability in the mixed strategy of `source`."""
    actions, chances = zip(*mixed_strategy, strict=True)
    (action,) = rng.choices(actions, chances)
    options = tuple(
        BlefOption(candidate, often, f"how often the {source} has it")
        for candidate, often in mixed_strategy
        if often >= min_probability or candidate == action
    )
    return BlefDecision(action, explain_choice(position, action), options)
