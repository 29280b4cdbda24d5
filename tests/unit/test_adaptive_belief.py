"""Identification of the opponent by the decisions of this match and of past ones."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random

import pytest
from support.case_counts import case_count
from support.positions import card, cards
from support.recordings import SAMPLE

from cardsharp.bot.bootstrap import build_match_log
from cardsharp.core.clock import SystemClock
from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN
from cardsharp.games.deadmansdraw.arena_bot import position_from_view
from cardsharp.games.deadmansdraw.arena_bot.opponent_history import (
    MAX_PAST_MATCHES,
    last_matches_against,
)
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MoveView
from cardsharp.games.deadmansdraw.cards import RULEBOOK_DECK, SERVER_DECK, Card
from cardsharp.games.deadmansdraw.events import Comment, TurnEnded
from cardsharp.games.deadmansdraw.position import PastMove
from cardsharp.games.deadmansdraw.rules import apply, force_turn_end, start
from cardsharp.games.deadmansdraw.simulation import (
    DeadMansDrawSimulation,
    deal_state,
    match_from_state,
    random_card_picker,
)
from cardsharp.games.deadmansdraw.strategies import PastMatch, build, with_past_matches
from cardsharp.games.deadmansdraw.strategies.adaptive import (
    INITIAL_CREDIT,
    MAX_LOSS_PER_DECISION,
    Adaptive,
    ExploitBudget,
    win_probability_loss,
)
from cardsharp.games.deadmansdraw.strategies.observed_decisions import (
    ObservedDecision,
    ObservedDecisionExtractor,
    cards_from_draw_pile,
    opponent_decisions,
)
from cardsharp.games.deadmansdraw.strategies.opponent_belief import (
    GENERAL_WEIGHTS,
    OpponentBelief,
    OpponentProfile,
    load_opponent_profiles,
    parse_opponent_profiles,
)
from cardsharp.store.match_log import MatchLog
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.games.deadmansdraw.opponent_learning import (
    MIN_MATCHES,
    LearnedOpponentsFile,
    ObservedOpponentMatch,
    OpponentLearningPass,
    past_matches_by_opponent,
)
from cardsharp_tools.lab.plan import plan_duel
from cardsharp_tools.lab.players import build_player

GAME = DeadMansDrawSimulation()
PLAN = plan_duel("captain", "captain", pairs=1)


@cache
def played(name: str, seed: int) -> PastMatch:
    """A match of that opponent, who is player 1, against a `third`."""
    rng = Random(seed)
    match, players = (
        GAME.initial_state(rng),
        (build("third", rng), build_player(PLAN, BuiltIn(name), rng)),
    )
    while (active := GAME.current_seat(match)) is not None:
        match = GAME.apply_action(match, players[active].decide(match.current_position).action, rng)
    return PastMatch(1, match.history)


def observed_decisions(name: str, matches: range) -> Iterator[ObservedDecision]:
    for seed in matches:
        yield from opponent_decisions(played(name, seed))


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("champion", "champion"),
        ("third", "third"),
        ("example-node", "example-node"),
        ("draw-3", "scripted"),
        ("champion-2", "champion"),
        ("champion-4", "champion"),
        ("random", GENERAL_WEIGHTS),
        ("captain", GENERAL_WEIGHTS),
    ],
)
def test_an_opponent_is_identified_by_its_decisions(name: str, weights: str) -> None:
    """Variants of the champion that only stop differently count as the champion.

    A belief that later decisions contradict is dropped.
    """
    belief = OpponentBelief(load_opponent_profiles())
    belief.update_all(observed_decisions(name, range(1 if name == "captain" else 3)))
    assert belief.best_weights_name() == weights
    if name == "champion":
        belief.update_all(observed_decisions("random", range(1)))
        assert belief.best_weights_name() == GENERAL_WEIGHTS


def test_adaptive_knows_an_opponent_from_past_matches_at_once() -> None:
    """With the past in mind the very first decision of a match is made with its weights.

    It costs nothing there: `Gifts` let it pass.
    """
    past = [played("third", seed) for seed in range(2)]
    rng = Random(7)
    match = GAME.apply_action(GAME.initial_state(rng), DRAW, rng)
    while match.current_position.legal_actions() == (DRAW,):
        match = GAME.apply_action(match, DRAW, rng)
    position, stranger = match.current_position, Adaptive(Random(0))
    knowing = with_past_matches(stranger, past)
    assert knowing is not stranger
    assert "as against third" in knowing.decide(position).reason
    assert stranger.decide(position) == build("captain", Random(0)).decide(position)


def test_a_rebuilt_adaptive_strategy_makes_the_same_decisions() -> None:
    """A worker rebuilds it for every turn; its internal state only saves time."""
    rng = Random(4)
    match = GAME.initial_state(rng)
    adaptive, other = Adaptive(Random(0)), build("champion", rng)
    for _ in range(60):
        position = match.current_position
        decision = (other if position.seat else adaptive).decide(position)
        if not position.seat and len(decision.options) > 1 and rng.random() < 0.3:
            assert Adaptive(Random(0)).decide(position) == decision
        match = GAME.apply_action(match, decision.action, rng)


ME, FOE, OTHER = "me", "foe", "other"
DRAW_MOVE = {
    "turnId": 1,
    "sequenceId": 0,
    "sequenceInTurnId": 1,
    "at": "2026-11-20T21:30:01.066Z",
    "events": [{"eventType": "Draw", "playerIndex": 0, "drawCard": {"suit": "Key", "value": 3}}],
}


NAMES = {ME: "Me", FOE: "Rovers", OTHER: "Rovers"}


@pytest.fixture
def log(tmp_path: Path) -> MatchLog:
    return build_match_log(f"sqlite:{tmp_path / 'matches.db'}", SystemClock())


def keep(log: MatchLog, match_id: str, *players: str, finished: bool = True, **more: str) -> None:
    seats = {str(players.index(ME)): "steady"} if ME in players else {}
    names = [NAMES[player] for player in players]
    header = {"players": [*players], "names": names, "seats": seats, **more}
    lease = log.acquire_lease(match_id, "worker", timedelta(minutes=1), header)
    log.write_facts(lease, {0: DRAW_MOVE})
    if finished:
        log.finish(lease, {"scores": [1, 2]})


def test_its_past_are_the_last_finished_matches_against_that_player(log: MatchLog) -> None:
    """Opponents are distinguished by id, even if names are equal, or are our strategies."""
    keep(log, "a", ME, FOE)
    keep(log, "b", FOE, ME)
    keep(log, "c", ME, OTHER)
    keep(log, "d", ME, FOE, finished=False)
    keep(log, "e", FOE, FOE)
    keep(log, "f", ME, FOE, opponent="champion")
    past = last_matches_against(log, FOE, MAX_PAST_MATCHES)
    assert sorted(match.opponent_seat for match in past) == [0, 1]
    assert all(len(match.history) == 1 for match in past)
    opponents = past_matches_by_opponent(log)
    match_counts = {key: (name, len(matches)) for key, (name, matches) in opponents.items()}
    assert match_counts == {FOE: (FOE, 2), OTHER: (OTHER, 1), "champion": ("champion", 1)}
    for number in range(3):
        keep(log, f"m{number}", ME, FOE)
    assert len(last_matches_against(log, FOE, 3)) == 3
    assert last_matches_against(log, "nobody", 3) == []


WEIGHTS: dict[str, object] = {"numbers": ""}


@cache
def met(name: str, number: int) -> ObservedOpponentMatch:
    return ObservedOpponentMatch(
        f"{name} {number}", tuple(observed_decisions(name, range(number, number + 1)))
    )


def learned_from(
    learned: LearnedOpponentsFile, matches: list[ObservedOpponentMatch], *, gains: bool = True
) -> list[str]:
    stages: list[str] = []

    def test(_weights: dict[str, object], _entry: OpponentProfile) -> tuple[bool, str]:
        return gains, "as measured"

    learning = OpponentLearningPass(
        learned, lambda _entry: WEIGHTS, test, lambda _name, stage, _reason: stages.append(stage)
    )
    learning.continue_opponent_trial("id", "Foe", matches)
    return stages


def weak(matches: int = MIN_MATCHES + 12) -> list[ObservedOpponentMatch]:
    return [met("draw-3", number) for number in range(matches)]


def test_an_opponent_profile_is_promoted_and_rolled_back_by_later_matches() -> None:
    learned = LearnedOpponentsFile()
    assert learned_from(learned, weak(MIN_MATCHES - 1)) == ["waits"]
    assert learned_from(learned, weak(MIN_MATCHES)) == ["candidate", "candidate"]
    assert not learned.opponents, "nothing speaks for it yet but what it was made from"
    assert learned_from(learned, weak()) == ["promoted"]
    assert learned_from(learned, weak()) == [], "the same matches change nothing"
    [entry] = parse_opponent_profiles(learned.model_dump_json())
    assert entry.weights in learned.weights
    changed = [*weak(), *(met("random", number) for number in range(4))]
    assert learned_from(learned, changed)[0] == "rolled back"
    assert not learned.opponents
    assert not learned.weights


def test_weights_without_gain_are_rejected_and_new_matches_lead_to_new_ones() -> None:
    learned = LearnedOpponentsFile()
    assert learned_from(learned, weak(), gains=False) == ["candidate", "rejected", "waits"]
    more = [*weak(), *(met("draw-3", number) for number in range(50, 50 + MIN_MATCHES))]
    assert learned_from(learned, more)[0] == "candidate"


def choices(history: tuple[PastMove, ...], pile: frozenset[Card]) -> list[ObservedDecision]:
    witness = ObservedDecisionExtractor(pile)
    return [seen for move in history for seen in witness.decisions_in(move)]


@pytest.mark.parametrize("deck", [SERVER_DECK, RULEBOOK_DECK], ids=["server", "rulebook"])
def test_every_choice_of_both_players_is_seen_on_its_position(deck: tuple[Card, ...]) -> None:
    for seed in range(case_count(3, full=6)):
        rng = Random(seed)
        match, expected = match_from_state(deal_state(rng, deck)), list[ObservedDecision]()
        players = [build(rng.choice(("champion", "third", "draw-3")), rng) for _ in range(2)]
        while match.state.active_player is not None:
            position = match.current_position
            action = players[position.seat].decide(position).action
            if rng.random() < 0.3:
                action = rng.choice(position.legal_actions())
            if len(position.legal_actions()) > 1:
                expected.append(ObservedDecision(replace(position, history=()), action))
            match = GAME.apply_action(match, action, rng)
        seen = choices(match.history, cards_from_draw_pile(match.history))
        assert [
            ObservedDecision(replace(decision.position, history=()), decision.action)
            for decision in seen
        ] == expected


def test_a_turn_that_timed_out_shows_no_decision() -> None:
    pile = cards("Key3 Anchor4 Anchor5")
    begun, events = apply(start(pile, (), 0), DRAW, random_card_picker(Random(0)))
    _, late = force_turn_end(begun, "Too late.", "", random_card_picker(Random(0)))
    assert any(isinstance(event, Comment) for event in late)
    assert any(isinstance(event, TurnEnded) for event in late)
    history = PastMove(1, 0, events), PastMove(1, 0, late)
    assert choices(history, frozenset(pile)) == []
    [decision] = choices((history[0], PastMove(1, 0, late[1:])), frozenset(pile))
    assert decision.action == END_TURN


def test_the_real_players_decisions_are_seen() -> None:
    """A banked turn is a decision to stop, except for the last one if the draw pile ran out."""
    for trace in SAMPLE.random_matches(12):
        moves = [*trace["initial"]["moves"]]
        for look in (*trace["steps"], trace["final"]["last_look"]):
            moves += look.get("new_moves", ())
        history = tuple(
            position_from_view.past_move_from_view(MoveView.model_validate(move)) for move in moves
        )
        if any(isinstance(event, Comment) for move in history for event in move.events):
            continue
        pile = frozenset(map(card, trace["deck"]))
        stops = sum(choice.action == END_TURN for choice in choices(history, pile))
        ends = [e for move in history for e in move.events if isinstance(e, TurnEnded)]
        banked = sum(end.is_banked for end in ends)
        assert banked - 1 <= stops <= banked, trace["name"]


CAPTAIN = build("captain", Random(0))


def costing(low: float, high: float) -> ObservedDecision:
    """The first action in a match of captains that costs so much."""
    rng = Random(2)
    match = GAME.initial_state(rng)
    while True:
        position = match.current_position
        for action in position.legal_actions():
            if low < win_probability_loss(position, action) < high:
                return ObservedDecision(position, action)
        match = GAME.apply_action(match, CAPTAIN.decide(position).action, rng)


def test_an_exploit_is_paid_from_the_opponents_losses() -> None:
    some, gifts = costing(INITIAL_CREDIT, MAX_LOSS_PER_DECISION), ExploitBudget()
    assert not gifts.can_afford(some)
    gifts.record_decisions([some], is_self=False)
    assert gifts.can_afford(some)
    gifts.record_decisions([some], is_self=True)
    assert not gifts.can_afford(some)
    much = costing(MAX_LOSS_PER_DECISION, 1.0)
    gifts.record_decisions([much] * 9, is_self=False)
    assert gifts.can_afford(some)
    assert not gifts.can_afford(much), "no choice may cost so much, whatever was given"


def test_whoever_pretends_and_then_changes_wins_back_no_more_than_it_gave() -> None:
    """An opponent taken for the champion goes on as the captain; each exploit stays paid for."""
    past = [played("champion", seed) for seed in range(2)]
    adaptive = with_past_matches(Adaptive(Random(0)), past)
    departures = 0
    for seed in range(case_count(1, full=2)):
        rng, balance = Random(seed), INITIAL_CREDIT
        match = GAME.initial_state(rng)
        while match.state.active_player is not None:
            position = match.current_position
            is_adaptive_turn = position.seat == 0
            change = build("champion" if position.turn <= 8 else "captain", rng)
            action = (adaptive if is_adaptive_turn else change).decide(position).action
            loss = win_probability_loss(position, action)
            if is_adaptive_turn and loss > 0 and action != CAPTAIN.decide(position).action:
                departures += 1
                assert loss <= min(MAX_LOSS_PER_DECISION, balance)
            balance += -loss if is_adaptive_turn else loss
            match = GAME.apply_action(match, action, rng)
    assert departures
