"""Identification of the opponent by its decisions in this match and in past matches."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from support.case_counts import case_count
from support.opponent_matches import GAME, observed_decisions, play_opponent_match
from support.positions import card, cards
from support.recordings import SAMPLE

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
    deal_state,
    match_from_state,
    random_card_picker,
)
from cardsharp.games.deadmansdraw.strategies import build, with_past_matches
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
)
from cardsharp.games.deadmansdraw.strategies.opponent_belief import (
    GENERAL_WEIGHTS,
    OpponentBelief,
    load_opponent_profiles,
)
from cardsharp.store.match_log import MatchLog
from cardsharp.store.match_log_factory import build_match_log


@pytest.mark.parametrize(
    ("name", "weights_name"),
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
def test_an_opponent_is_identified_by_its_decisions(name: str, weights_name: str) -> None:
    """Variants of the champion that only stop differently count as the champion.

    A belief that later decisions contradict is dropped.
    """
    belief = OpponentBelief(load_opponent_profiles())
    belief.update_all(observed_decisions(name, range(1 if name == "captain" else 3)))
    assert belief.best_weights_name() == weights_name
    if name == "champion":
        belief.update_all(observed_decisions("random", range(1)))
        assert belief.best_weights_name() == GENERAL_WEIGHTS


def test_adaptive_knows_an_opponent_from_past_matches_at_once() -> None:
    """The first decision of a match uses the weights of the opponent's past matches.

    It costs nothing there, so the exploit budget allows it.
    """
    past_matches = [play_opponent_match("third", seed) for seed in range(2)]
    rng = Random(7)
    match = GAME.apply_action(GAME.initial_state(rng), DRAW, rng)
    while match.current_position.legal_actions() == (DRAW,):
        match = GAME.apply_action(match, DRAW, rng)
    position, fresh_strategy = match.current_position, Adaptive(Random(0))
    informed_strategy = with_past_matches(fresh_strategy, past_matches)
    assert informed_strategy is not fresh_strategy
    assert "as against third" in informed_strategy.decide(position).reason
    assert fresh_strategy.decide(position) == build("captain", Random(0)).decide(position)


def test_a_rebuilt_adaptive_strategy_makes_the_same_decisions() -> None:
    """The worker rebuilds the strategy for every turn; its internal state only saves time."""
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


def store_match(
    log: MatchLog, match_id: str, *players: str, finished: bool = True, **header_fields: str
) -> None:
    seats = {str(players.index(ME)): "steady"} if ME in players else {}
    names = [NAMES[player] for player in players]
    header = {"players": [*players], "names": names, "seats": seats, **header_fields}
    lease = log.acquire_lease(match_id, "worker", timedelta(minutes=1), header)
    log.write_facts(lease, {0: DRAW_MOVE})
    if finished:
        log.finish(lease, {"scores": [1, 2]})


def test_past_matches_are_the_last_finished_matches_against_that_player(log: MatchLog) -> None:
    """Opponents are distinguished by id, also if names are equal or are our strategies."""
    store_match(log, "a", ME, FOE)
    store_match(log, "b", FOE, ME)
    store_match(log, "c", ME, OTHER)
    store_match(log, "d", ME, FOE, finished=False)
    store_match(log, "e", FOE, FOE)
    store_match(log, "f", ME, FOE, opponent="champion")
    past = last_matches_against(log, FOE, MAX_PAST_MATCHES)
    assert sorted(match.opponent_seat for match in past) == [0, 1]
    assert all(len(match.history) == 1 for match in past)
    for number in range(3):
        store_match(log, f"m{number}", ME, FOE)
    assert len(last_matches_against(log, FOE, 3)) == 3
    assert last_matches_against(log, "nobody", 3) == []


def extract_decisions(
    history: tuple[PastMove, ...], draw_pile: frozenset[Card]
) -> list[ObservedDecision]:
    extractor = ObservedDecisionExtractor(draw_pile)
    return [decision for move in history for decision in extractor.decisions_in(move)]


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
        decisions = extract_decisions(match.history, cards_from_draw_pile(match.history))
        assert [
            ObservedDecision(replace(decision.position, history=()), decision.action)
            for decision in decisions
        ] == expected


def test_a_turn_that_timed_out_shows_no_decision() -> None:
    pile = cards("Key3 Anchor4 Anchor5")
    state, events = apply(start(pile, (), 0), DRAW, random_card_picker(Random(0)))
    _, timeout_events = force_turn_end(state, "Too late.", "", random_card_picker(Random(0)))
    assert any(isinstance(event, Comment) for event in timeout_events)
    assert any(isinstance(event, TurnEnded) for event in timeout_events)
    history = PastMove(1, 0, events), PastMove(1, 0, timeout_events)
    assert extract_decisions(history, frozenset(pile)) == []
    [decision] = extract_decisions(
        (history[0], PastMove(1, 0, timeout_events[1:])), frozenset(pile)
    )
    assert decision.action == END_TURN


def test_the_real_players_decisions_are_seen() -> None:
    """A banked turn is a decision to stop, unless the draw pile ran out in the last turn."""
    for trace in SAMPLE.random_matches(12):
        moves = [*trace["initial"]["moves"]]
        for poll in (*trace["steps"], trace["final"]["last_look"]):
            moves += poll.get("new_moves", ())
        history = tuple(
            position_from_view.past_move_from_view(MoveView.model_validate(move)) for move in moves
        )
        if any(isinstance(event, Comment) for move in history for event in move.events):
            continue
        pile = frozenset(map(card, trace["deck"]))
        stop_count = sum(
            decision.action == END_TURN for decision in extract_decisions(history, pile)
        )
        turn_ends = [
            event for move in history for event in move.events if isinstance(event, TurnEnded)
        ]
        banked_count = sum(end.is_banked for end in turn_ends)
        assert banked_count - 1 <= stop_count <= banked_count, trace["name"]


CAPTAIN = build("captain", Random(0))


def find_decision_by_loss(min_loss: float, max_loss: float) -> ObservedDecision:
    """Return the first decision between captains with a loss in that range."""
    rng = Random(2)
    match = GAME.initial_state(rng)
    while True:
        position = match.current_position
        for action in position.legal_actions():
            if min_loss < win_probability_loss(position, action) < max_loss:
                return ObservedDecision(position, action)
        match = GAME.apply_action(match, CAPTAIN.decide(position).action, rng)


def test_an_exploit_is_paid_from_the_opponents_losses() -> None:
    cheap_exploit, budget = (
        find_decision_by_loss(INITIAL_CREDIT, MAX_LOSS_PER_DECISION),
        ExploitBudget(),
    )
    assert not budget.can_afford(cheap_exploit)
    budget.record_decisions([cheap_exploit], is_self=False)
    assert budget.can_afford(cheap_exploit)
    budget.record_decisions([cheap_exploit], is_self=True)
    assert not budget.can_afford(cheap_exploit)
    costly_exploit = find_decision_by_loss(MAX_LOSS_PER_DECISION, 1.0)
    budget.record_decisions([costly_exploit] * 9, is_self=False)
    assert budget.can_afford(cheap_exploit)
    assert not budget.can_afford(costly_exploit), "no choice may cost so much, whatever was given"


def test_an_opponent_that_pretends_and_then_changes_wins_back_no_more_than_it_gave() -> None:
    """The opponent plays as the champion, then as the captain; each exploit stays paid for."""
    past_matches = [play_opponent_match("champion", seed) for seed in range(2)]
    adaptive = with_past_matches(Adaptive(Random(0)), past_matches)
    exploit_count = 0
    for seed in range(case_count(1, full=2)):
        rng, balance = Random(seed), INITIAL_CREDIT
        match = GAME.initial_state(rng)
        while match.state.active_player is not None:
            position = match.current_position
            is_adaptive_turn = position.seat == 0
            opponent = build("champion" if position.turn <= 8 else "captain", rng)
            action = (adaptive if is_adaptive_turn else opponent).decide(position).action
            loss = win_probability_loss(position, action)
            if is_adaptive_turn and loss > 0 and action != CAPTAIN.decide(position).action:
                exploit_count += 1
                assert loss <= min(MAX_LOSS_PER_DECISION, balance)
            balance += -loss if is_adaptive_turn else loss
            match = GAME.apply_action(match, action, rng)
    assert exploit_count
