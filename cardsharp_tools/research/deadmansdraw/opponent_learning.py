"""Learning of opponents from a match log: fitted, tested on later matches, and withdrawn.

A candidate is the profile of an opponent's decisions, with weights that were trained against it.
Later matches, to which it was not fitted, decide if it is accepted. In these matches the opponent
must lose more by its decisions than an equally strong player does, and it must decide as the model
predicts, not as just any player would.

Both are tested as sequential bets. An opponent for which a claim is false wins its bet at
`WIN_ODDS` to 1 in at most one of `WIN_ODDS` cases, however often the bet is checked (Ville's
inequality). After that, a sequential test plays the weights against the opponent as its later
matches show it.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log
from typing import Literal

from pydantic import BaseModel

from cardsharp.games.deadmansdraw.actions import END_TURN, EffectType
from cardsharp.games.deadmansdraw.strategies import opponent_belief as beliefs
from cardsharp.games.deadmansdraw.strategies.adaptive import win_probability_loss
from cardsharp.games.deadmansdraw.strategies.observed_decisions import (
    ObservedDecision,
)
from cardsharp.games.deadmansdraw.strategies.position_features import suits_in_play
from cardsharp_tools.lab.sprt import ERROR_RATE

MIN_MATCHES = 12  # matches to which a candidate is fitted
WIN_ODDS = 1 / ERROR_RATE  # odds at which a test accepts
# maximum loss that a short search finds for an equally strong player; captain: 0.07
EQUAL_LOSS = 0.1
_MAX_MATCH_LOG_ODDS = (
    4.0  # maximum log odds of one match against a candidate, because all players err
)
# exponents that are tried for preferences: suit and order multiply, and may be too weak
_PREFERENCE_POWERS = (1, 2, 3)

_STAKE = 0.5 / EQUAL_LOSS


TrialStage = Literal["candidate", "promoted", "rejected", "rolled back"]


class CandidateTrial(BaseModel, extra="forbid"):
    """Trial of a candidate model: its stage, the reason, and the last match it used."""

    entry: beliefs.OpponentProfile
    since: str
    stage: TrialStage = "candidate"
    why: str = ""

    @property
    def needs_new_candidate(self) -> bool:
        """True if a new candidate must be fitted."""
        return self.stage in {"rejected", "rolled back"}


class LearnedOpponentsFile(BaseModel, extra="forbid"):
    """File of learned opponents for `adaptive`: profiles, weights by name, trials by player."""

    version: Literal[1] = 1
    opponents: list[beliefs.OpponentProfile] = []
    weights: dict[str, dict[str, object]] = {}
    trials: dict[str, CandidateTrial] = {}


@dataclass(frozen=True, slots=True)
class ObservedOpponentMatch:
    """Finished match with its id and the opponent's observed decisions."""

    match_id: str
    decisions: Sequence[ObservedDecision]

    def total_win_probability_loss(self) -> float:
        """Return the win probability that the opponent has lost by its decisions."""
        return min(
            1.0,
            sum(
                win_probability_loss(decision.position, decision.action)
                for decision in self.decisions
            ),
        )


TrainWeights = Callable[
    [beliefs.OpponentProfile], dict[str, object]
]  # trains weights against an opponent
TestWeights = Callable[
    [dict[str, object], beliefs.OpponentProfile], tuple[bool, str]
]  # and as measured


@dataclass(slots=True)
class OpponentLearningPass:
    """One pass of learning over the log; `notify` receives each change with its reason."""

    learned: LearnedOpponentsFile
    train_weights: TrainWeights
    test_weights: TestWeights
    notify: Callable[[str, str, str], None]

    def continue_opponent_trial(
        self, key: str, name: str, matches: Sequence[ObservedOpponentMatch]
    ) -> None:
        """Continue an opponent's trial as far as its matches allow."""
        while True:
            trial = self.learned.trials.get(key)
            if trial is None or trial.needs_new_candidate:
                fresh = _select_matches_since(matches, None if trial is None else trial.since)
                if len(fresh) < MIN_MATCHES:
                    self.notify(name, "waits", f"{len(fresh)} of {MIN_MATCHES} fresh matches")
                    return
                decisions = [
                    decision for match in fresh[:MIN_MATCHES] for decision in match.decisions
                ]
                trial = CandidateTrial(
                    entry=fit_opponent_profile(name, decisions),
                    since=fresh[MIN_MATCHES - 1].match_id,
                )
                self.learned.trials[key] = trial
                self.learned.weights[trial.entry.weights] = self.train_weights(trial.entry)
                self.notify(name, "candidate", f"fitted to {MIN_MATCHES} matches")
            self._continue_trial(trial, name, _select_matches_since(matches, trial.since))
            if not trial.needs_new_candidate:
                return

    def _continue_trial(
        self, trial: CandidateTrial, name: str, later_matches: Sequence[ObservedOpponentMatch]
    ) -> None:
        """Test a candidate, or an accepted opponent, on later matches."""
        bets = CandidateSequentialTests(trial.entry)
        for match_count, met in enumerate(later_matches, 1):
            bets.add_match(met)
            if trial.stage == "candidate" and bets.is_accepted:
                model = fit_opponent_profile(
                    name,
                    [decision for met in later_matches[:match_count] for decision in met.decisions],
                )
                gained, measured = self.test_weights(
                    self.learned.weights[trial.entry.weights], model
                )
                trial.stage = "promoted" if gained else "rejected"
                trial.why = f"{bets.status_text()}; {measured}"
            elif trial.stage == "promoted" and bets.is_rejected:
                trial.stage, trial.why = "rolled back", "its last matches contradict the model"
            else:
                continue
            self.notify(name, trial.stage, trial.why)
            if trial.needs_new_candidate:
                trial.since = met.match_id
                del self.learned.weights[trial.entry.weights]
                break
        if trial.stage == "candidate":
            self.notify(
                name, "candidate", f"{len(later_matches)} later matches, {bets.status_text()}"
            )
        promoted = (
            candidate.entry
            for candidate in self.learned.trials.values()
            if candidate.stage == "promoted"
        )
        self.learned.opponents = list(promoted)


class CandidateSequentialTests:
    """Sequential tests of a candidate on later matches, as log odds of bets.

    `loss_log_odds` belongs to the bet that the opponent loses more than an equally strong
    player does. `model_log_odds` belongs to the bet that it decides like the model and not
    like an unknown player. `_counter_evidence` is the evidence against the model since the
    model was most likely.
    """

    def __init__(self, entry: beliefs.OpponentProfile) -> None:
        profiles = beliefs.load_opponent_profiles()
        generic_profile = next(
            profile for profile in profiles if profile.stop_model is None is profile.answer_model
        )
        self.loss_log_odds = self.model_log_odds = self._counter_evidence = 0.0
        self._belief = beliefs.OpponentBelief((generic_profile, entry))

    def add_match(self, match: ObservedOpponentMatch) -> None:
        """Add the next match to the tests."""
        self._belief.update_all(match.decisions)
        generic_likelihood, likelihood = (
            hypothesis.likelihood for hypothesis in self._belief.evidence
        )
        fallen = min(
            self.model_log_odds - (likelihood - generic_likelihood), log(_MAX_MATCH_LOG_ODDS)
        )
        self._counter_evidence = max(0.0, self._counter_evidence + fallen)
        self.model_log_odds = likelihood - generic_likelihood
        self.loss_log_odds += log(1 + _STAKE * (match.total_win_probability_loss() - EQUAL_LOSS))

    @property
    def is_accepted(self) -> bool:
        """True if both tests accept."""
        return min(self.loss_log_odds, self.model_log_odds) >= log(WIN_ODDS)

    @property
    def is_rejected(self) -> bool:
        """True if the last matches contradict the model."""
        return self._counter_evidence >= log(WIN_ODDS)

    def status_text(self) -> str:
        """Return the current odds of the tests as text."""
        loss_odds, likely = _format_odds(self.loss_log_odds), _format_odds(self.model_log_odds)
        return f"loses more than an equal player: {loss_odds}; decides as predicted: {likely}"


def _format_odds(ratio: float) -> str:
    return f"{exp(min(ratio, log(9999))):.3g} to 1"


def _select_matches_since(
    matches: Sequence[ObservedOpponentMatch], match_id: str | None
) -> Sequence[ObservedOpponentMatch]:
    """Return the matches after `match_id`, or all if the log no longer has it."""
    ids = [met.match_id for met in matches]
    return matches[ids.index(match_id) + 1 :] if match_id in ids else matches


# --- habits and tastes ---------------------------------------------------------------------------


def fit_opponent_profile(
    name: str, decisions: Sequence[ObservedDecision]
) -> beliefs.OpponentProfile:
    """Fit the profile of an opponent to its decisions: when it stops, and what it prefers.

    The profile has the stop feature and the exponent of preferences that make the decisions
    most likely.
    """
    weights = f"{name} (learned)"
    profiles = tuple(
        beliefs.OpponentProfile(
            weights,
            weights,
            _estimate_stop_probabilities(decisions, by),
            _estimate_answer_preferences(decisions, power),
            by,
        )
        for by, power in product(beliefs.STOP_FEATURES, _PREFERENCE_POWERS)
    )
    belief = beliefs.OpponentBelief(profiles)
    belief.update_all(decisions)
    return max(zip(belief.evidence, profiles, strict=True), key=lambda pair: pair[0].likelihood)[1]


def _estimate_stop_probabilities(
    decisions: Sequence[ObservedDecision], by: str
) -> beliefs.StopProbabilities:
    """Return the estimated probabilities to stop.

    A class of positions that never occurred gets even probabilities.
    """
    counts = [[[0, 0], [0, 0]] for _ in range(beliefs.MAX_TRACKED_CARDS)]
    for decision in decisions:
        if decision.position.pending is None:
            bin_counts = counts[beliefs.stop_feature_bin(decision.position, by)][
                beliefs.can_gain_by_stopping(decision.position)
            ]
            bin_counts[decision.action == END_TURN] += 1
    shares = [tuple(_compute_share(stops, goes + stops) for goes, stops in row) for row in counts]
    return tuple((without, with_gain) for without, with_gain in shares)


def _estimate_answer_preferences(
    decisions: Sequence[ObservedDecision], power: int
) -> beliefs.AnswerPreferences:
    """Return how often each kind of card was chosen when it was possible.

    For an Oracle, return the shares of its answers.
    """
    could, did = defaultdict[tuple[str, str], int](int), defaultdict[tuple[str, str], int](int)
    for decision in decisions:
        pending, response = decision.position.pending, decision.action.response
        if pending is None:
            continue
        card = None if response is None else response.card
        effect = pending.effect_type.value
        if pending.effect_type is EffectType.ORACLE:
            kind = "bust" if pending.cards[0].suit in suits_in_play(decision.position) else "safe"
            could[effect, kind] += 1
            did[effect, kind] += card is not None
            could[effect, "end"] += card is None
            did[effect, "end"] += decision.action == END_TURN
            continue
        for offered, kinds in beliefs.answer_categories(decision.position).items():
            for kind in kinds:
                could[effect, kind] += 1
                did[effect, kind] += offered == card
    tastes: beliefs.AnswerPreferences = {}
    for (effect, kind), possible_count in could.items():
        sharp = 1 if effect == EffectType.ORACLE else power
        tastes.setdefault(effect, {})[str(kind)] = (
            _compute_share(did[effect, kind], possible_count) ** sharp
        )
    return tastes


def _compute_share(part: int, total: int) -> float:
    return round((part + 0.5) / (total + 1), 4)
