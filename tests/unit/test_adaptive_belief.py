"""Who the opponent is: known by the decisions that it has shown, also in past matches."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random

import pytest
from support.positions import card, cards
from support.recorded import SAMPLE
from support.size import cases

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MatchLog
from cardsharp.deadmansdraw import reading
from cardsharp.deadmansdraw.actions import DRAW, END_TURN
from cardsharp.deadmansdraw.briefing import PAST_MATCHES, last_matches
from cardsharp.deadmansdraw.cards import RULEBOOK_DECK, SERVER_DECK, Card
from cardsharp.deadmansdraw.events import Comment, TurnEnded
from cardsharp.deadmansdraw.position import PastMove
from cardsharp.deadmansdraw.rules import apply, force_turn_end, start
from cardsharp.deadmansdraw.simulation import DeadMansDraw, deal, fair_chance, match_from
from cardsharp.deadmansdraw.strategies import PastMatch, briefed, build
from cardsharp.deadmansdraw.strategies.adaptive import CREDIT, MOST, Adaptive, Gifts, loss_of
from cardsharp.deadmansdraw.strategies.adaptive_belief import (
    GENERAL,
    Belief,
    Entry,
    known_opponents,
    parse_entries,
)
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen, Witness, decisions_of, drawn_in
from cardsharp.deadmansdraw.wire_views import MoveView
from workbench.deadmansdraw.learning import LEAST, Learned, Learning, Met, opponents
from workbench.lab.plan import Plan
from workbench.lab.players import strategy_of

GAME = DeadMansDraw()
PLAN = Plan(first="captain", second="captain", pairs=1)


@cache
def played(name: str, seed: int) -> PastMatch:
    """A match of that opponent, who is player 1, against a `third`."""
    rng = Random(seed)
    match, players = GAME.deal(rng), (build("third", rng), strategy_of(PLAN, name, rng))
    while (active := GAME.to_act(match)) is not None:
        match = GAME.act(match, players[active].decide(match.position).action, rng)
    return PastMatch(1, match.history)


def shown(name: str, matches: range) -> Iterator[Seen]:
    for seed in matches:
        yield from decisions_of(played(name, seed))


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("champion", "champion"),
        ("third", "third"),
        ("example-node", "example-node"),
        ("draw-3", "scripted"),
        ("champion-2", "champion"),
        ("champion-4", "champion"),
        ("random", GENERAL),
        ("captain", GENERAL),
    ],
)
def test_an_opponent_is_known_by_its_decisions(name: str, weights: str) -> None:
    """The two variants of the champion, which stop otherwise, count as its kin.

    A belief that is contradicted is given up.
    """
    belief = Belief(known_opponents())
    belief.see_all(shown(name, range(1 if name == "captain" else 3)))
    assert belief.weights() == weights
    if name == "champion":
        belief.see_all(shown("random", range(1)))
        assert belief.weights() == GENERAL


def test_adaptive_knows_an_opponent_from_past_matches_at_once() -> None:
    """With the past in mind the very first decision of a match is made with its weights.

    It costs nothing there: `Gifts` let it pass.
    """
    past = [played("third", seed) for seed in range(2)]
    rng = Random(7)
    match = GAME.act(GAME.deal(rng), DRAW, rng)
    while match.position.legal_actions() == (DRAW,):
        match = GAME.act(match, DRAW, rng)
    position, stranger = match.position, Adaptive(Random(0))
    knowing = briefed(stranger, past)
    assert knowing is not stranger
    assert "as against third" in knowing.decide(position).reason
    assert stranger.decide(position) == build("captain", Random(0)).decide(position)


def test_adaptive_decides_the_same_however_often_it_is_made_anew() -> None:
    """A worker rebuilds it for every turn; what it keeps meanwhile only saves time."""
    rng = Random(4)
    match = GAME.deal(rng)
    kept, other = Adaptive(Random(0)), build("champion", rng)
    for _ in range(60):
        position = match.position
        decision = (other if position.me else kept).decide(position)
        if not position.me and len(decision.options) > 1 and rng.random() < 0.3:
            assert Adaptive(Random(0)).decide(position) == decision
        match = GAME.act(match, decision.action, rng)


ME, FOE, OTHER = "me", "foe", "other"
DRAWN = {
    "turnId": 1,
    "sequenceId": 0,
    "sequenceInTurnId": 1,
    "at": "2026-11-20T21:30:01.066Z",
    "events": [{"eventType": "Draw", "playerIndex": 0, "drawCard": {"suit": "Key", "value": 3}}],
}


NAMES = {ME: "Me", FOE: "Rovers", OTHER: "Rovers"}


@pytest.fixture
def log(tmp_path: Path) -> MatchLog:
    return build_log(f"sqlite:{tmp_path / 'matches.db'}", SystemClock())


def keep(log: MatchLog, match_id: str, *players: str, finished: bool = True, **more: str) -> None:
    seats = {str(players.index(ME)): "steady"} if ME in players else {}
    names = [NAMES[player] for player in players]
    header = {"players": [*players], "names": names, "seats": seats, **more}
    lease = log.take(match_id, "worker", timedelta(minutes=1), header)
    log.record(lease, {0: DRAWN})
    if finished:
        log.finish(lease, {"scores": [1, 2]})


def test_its_past_are_the_last_finished_matches_against_that_player(log: MatchLog) -> None:
    """Opponents are told apart by id, two of one name too, or as strategies of ours."""
    keep(log, "a", ME, FOE)
    keep(log, "b", FOE, ME)
    keep(log, "c", ME, OTHER)
    keep(log, "d", ME, FOE, finished=False)
    keep(log, "e", FOE, FOE)
    keep(log, "f", ME, FOE, opponent="champion")
    past = last_matches(log, FOE, PAST_MATCHES)
    assert sorted(match.opponent for match in past) == [0, 1]
    assert all(len(match.history) == 1 for match in past)
    found = opponents(log)
    told = {key: (name, len(matches)) for key, (name, matches) in found.items()}
    assert told == {FOE: (FOE, 2), OTHER: (OTHER, 1), "champion": ("champion", 1)}
    for number in range(3):
        keep(log, f"m{number}", ME, FOE)
    assert len(last_matches(log, FOE, 3)) == 3
    assert last_matches(log, "nobody", 3) == []


WEIGHTS: dict[str, object] = {"numbers": ""}


@cache
def met(name: str, number: int) -> Met:
    return Met(f"{name} {number}", tuple(shown(name, range(number, number + 1))))


def learned_from(learned: Learned, matches: list[Met], *, gains: bool = True) -> list[str]:
    told: list[str] = []

    def test(_weights: dict[str, object], _entry: Entry) -> tuple[bool, str]:
        return gains, "as measured"

    learning = Learning(
        learned, lambda _entry: WEIGHTS, test, lambda _name, stage, _why: told.append(stage)
    )
    learning.opponent("id", "Foe", matches)
    return told


def weak(matches: int = LEAST + 12) -> list[Met]:
    return [met("draw-3", number) for number in range(matches)]


def test_an_opponent_is_promoted_by_later_matches_and_rolled_back_by_others() -> None:
    learned = Learned()
    assert learned_from(learned, weak(LEAST - 1)) == ["waits"]
    assert learned_from(learned, weak(LEAST)) == ["candidate", "candidate"]
    assert not learned.opponents, "nothing speaks for it yet but what it was made from"
    assert learned_from(learned, weak()) == ["promoted"]
    assert learned_from(learned, weak()) == [], "the same matches change nothing"
    [entry] = parse_entries(learned.model_dump_json())
    assert entry.weights in learned.weights
    changed = [*weak(), *(met("random", number) for number in range(4))]
    assert learned_from(learned, changed)[0] == "rolled back"
    assert not learned.opponents
    assert not learned.weights


def test_weights_that_gain_nothing_are_rejected_and_others_are_made_from_fresh_matches() -> None:
    learned = Learned()
    assert learned_from(learned, weak(), gains=False) == ["candidate", "rejected", "waits"]
    more = [*weak(), *(met("draw-3", number) for number in range(50, 50 + LEAST))]
    assert learned_from(learned, more)[0] == "candidate"


def choices(history: tuple[PastMove, ...], pile: frozenset[Card]) -> list[Seen]:
    witness = Witness(pile)
    return [seen for move in history for seen in witness.decisions(move)]


@pytest.mark.parametrize("deck", [SERVER_DECK, RULEBOOK_DECK], ids=["server", "rulebook"])
def test_every_choice_of_both_players_is_seen_on_its_position(deck: tuple[Card, ...]) -> None:
    for seed in range(cases(3, every=6)):
        rng = Random(seed)
        match, made = match_from(deal(rng, deck)), list[Seen]()
        players = [build(rng.choice(("champion", "third", "draw-3")), rng) for _ in range(2)]
        while match.state.active is not None:
            position = match.position
            action = players[position.me].decide(position).action
            if rng.random() < 0.3:
                action = rng.choice(position.legal_actions())
            if len(position.legal_actions()) > 1:
                made.append(Seen(replace(position, history=()), action))
            match = GAME.act(match, action, rng)
        seen = choices(match.history, drawn_in(match.history))
        assert [Seen(replace(one.position, history=()), one.action) for one in seen] == made


def test_a_turn_that_timed_out_shows_no_decision() -> None:
    pile = cards("Key3 Anchor4 Anchor5")
    begun, events = apply(start(pile, (), 0), DRAW, fair_chance(Random(0)))
    _, late = force_turn_end(begun, "Too late.", "", fair_chance(Random(0)))
    assert any(isinstance(event, Comment) for event in late)
    assert any(isinstance(event, TurnEnded) for event in late)
    history = PastMove(1, 0, events), PastMove(1, 0, late)
    assert choices(history, frozenset(pile)) == []
    [ended] = choices((history[0], PastMove(1, 0, late[1:])), frozenset(pile))
    assert ended.action == END_TURN


def test_the_real_players_decisions_are_seen() -> None:
    """A successful end of a turn is a stop, but the last one where the draw pile ran out."""
    for trace in SAMPLE.of_random_play(12):
        moves = [*trace["initial"]["moves"]]
        for look in (*trace["steps"], trace["final"]["last_look"]):
            moves += look.get("new_moves", ())
        history = tuple(reading.played(MoveView.model_validate(move)) for move in moves)
        if any(isinstance(event, Comment) for move in history for event in move.events):
            continue
        pile = frozenset(map(card, trace["deck"]))
        stops = sum(one.action == END_TURN for one in choices(history, pile))
        ends = [e for move in history for e in move.events if isinstance(e, TurnEnded)]
        banked = sum(end.successful for end in ends)
        assert banked - 1 <= stops <= banked, trace["name"]


CAPTAIN = build("captain", Random(0))


def costing(low: float, high: float) -> Seen:
    """The first action in a match of captains that costs so much."""
    rng = Random(2)
    match = GAME.deal(rng)
    while True:
        position = match.position
        for action in position.legal_actions():
            if low < loss_of(position, action) < high:
                return Seen(position, action)
        match = GAME.act(match, CAPTAIN.decide(position).action, rng)


def test_a_choice_is_paid_from_what_the_opponent_has_given() -> None:
    some, gifts = costing(CREDIT, MOST), Gifts()
    assert not gifts.affords(some)
    gifts.note([some], own=False)
    assert gifts.affords(some)
    gifts.note([some], own=True)
    assert not gifts.affords(some)
    much = costing(MOST, 1.0)
    gifts.note([much] * 9, own=False)
    assert gifts.affords(some)
    assert not gifts.affords(much), "no choice may cost so much, whatever was given"


def test_whoever_pretends_and_then_changes_wins_back_no_more_than_it_gave() -> None:
    """Known as the champion, it plays on as the captain: each departure from him was paid for."""
    past = [played("champion", seed) for seed in range(2)]
    adaptive = briefed(Adaptive(Random(0)), past)
    departures = 0
    for seed in range(cases(1, every=2)):
        rng, balance = Random(seed), CREDIT
        match = GAME.deal(rng)
        while match.state.active is not None:
            position = match.position
            own = position.me == 0
            change = build("champion" if position.turn <= 8 else "captain", rng)
            action = (adaptive if own else change).decide(position).action
            loss = loss_of(position, action)
            if own and loss > 0 and action != CAPTAIN.decide(position).action:
                departures += 1
                assert loss <= min(MOST, balance)
            balance += -loss if own else loss
            match = GAME.act(match, action, rng)
    assert departures
