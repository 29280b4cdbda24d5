"""The decisions that a player has shown are read from the public events, all and nothing else."""

from collections.abc import Iterator
from random import Random

import pytest
from support.matches import RunningMatch
from support.positions import card, cards, opening
from support.recorded import SAMPLE

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.events import Comment, TurnEnded
from cardsharp.deadmansdraw.position import PastMove, Position
from cardsharp.deadmansdraw.reading import played
from cardsharp.deadmansdraw.rules import apply, force_turn_end, start
from cardsharp.deadmansdraw.simulation import deal, fair_chance
from cardsharp.deadmansdraw.strategies import PastMatch, briefed, build
from cardsharp.deadmansdraw.strategies.adaptive import Adaptive
from cardsharp.deadmansdraw.strategies.adaptive_gifts import CREDIT, MOST, Gifts, loss_of
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen, Witness, drawn_in
from cardsharp.deadmansdraw.wire_views import MoveView

FIELDS = (
    "me",
    "banks",
    "play_area",
    "pending",
    "discard_pile",
    "unseen",
    "known_top",
    "refused",
    "turn",
)


def shown(history: tuple[PastMove, ...], player: int, pile: frozenset[Card]) -> list[Seen]:
    witness = Witness(pile)
    found = (seen for move in history for seen in witness.decisions(move))
    return [seen for seen in found if seen.position.me == player]


def decided(match: RunningMatch, rng: Random) -> Iterator[tuple[Position, Action]]:
    """The choices of a whole match of sensible and random moves, as they were made."""
    players = [build(rng.choice(("champion", "third", "draw-3")), rng) for _ in range(2)]
    while match.state.active is not None:
        position = match.position()
        action = players[position.me].decide(position).action
        if rng.random() < 0.3:
            action = rng.choice(position.legal_actions())
        if len(position.legal_actions()) > 1:
            yield position, action
        match.play(action)


@pytest.mark.parametrize("kind", ["server", "rulebook"])
def test_every_choice_of_both_players_is_seen_on_its_position(kind: str) -> None:
    for seed in range(6):
        rng = Random(seed)
        match = RunningMatch(opening(kind, rng), fair_chance(rng))
        true = list(decided(match, rng))
        pile = drawn_in(match.history)
        for player in (0, 1):
            seen = shown(match.history, player, pile)
            mine = [(position, action) for position, action in true if position.me == player]
            assert [one.action for one in seen] == [action for _, action in mine]
            for one, (position, _) in zip(seen, mine, strict=True):
                for name in FIELDS:
                    assert getattr(one.position, name) == getattr(position, name), name


def test_a_turn_that_timed_out_shows_no_decision() -> None:
    pile = cards("Key3 Anchor4 Anchor5")
    begun, events = apply(start(pile, (), 0), DRAW, fair_chance(Random(0)))
    _, late = force_turn_end(begun, "Too late.", "", fair_chance(Random(0)))
    assert any(isinstance(event, Comment) for event in late)
    assert any(isinstance(event, TurnEnded) for event in late)
    history = PastMove(1, 0, events), PastMove(1, 0, late)
    assert shown(history, 0, frozenset(pile)) == []
    assert shown((history[0], PastMove(1, 0, late[1:])), 0, frozenset(pile))[0].action == END_TURN


def test_the_real_players_decisions_are_seen() -> None:
    """In recorded matches of the real server no stop of a player is missed or made up.

    A successful end of a turn is a stop, but the match's last one where the draw pile ran out.
    """
    for trace in SAMPLE.of_random_play(12):
        moves = [*trace["initial"]["moves"]]
        for look in (*trace["steps"], trace["final"]["last_look"]):
            moves += look.get("new_moves", ())
        history = tuple(played(MoveView.model_validate(move)) for move in moves)
        if any(isinstance(event, Comment) for move in history for event in move.events):
            continue
        pile = frozenset(map(card, trace["deck"]))
        stops = sum(one.action == END_TURN for p in (0, 1) for one in shown(history, p, pile))
        ends = [e for move in history for e in move.events if isinstance(e, TurnEnded)]
        banked = sum(end.successful for end in ends)
        assert banked - 1 <= stops <= banked, trace["name"]


CAPTAIN = build("captain", Random(0))


def costing(low: float, high: float) -> Seen:
    """The first action in a match of captains that costs so much."""
    rng = Random(2)
    match = RunningMatch(deal(rng), fair_chance(rng))
    while True:
        position = match.position()
        for action in position.legal_actions():
            if low < loss_of(position, action) < high:
                return Seen(position, action)
        match.play(CAPTAIN.decide(position).action)


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


def past(name: str, seed: int) -> PastMatch:
    rng = Random(seed)
    match = RunningMatch(deal(rng), fair_chance(rng))
    match.finish(build("third", rng), build(name, rng))
    return PastMatch(1, match.history)


def test_whoever_pretends_and_then_changes_wins_back_no_more_than_it_gave() -> None:
    """Known as the champion, it plays on as the captain: each departure from him was paid for."""
    adaptive = briefed(Adaptive(Random(0)), [past("champion", seed) for seed in range(2)])
    departures = 0
    for seed in range(2):
        rng, balance = Random(seed), CREDIT
        match = RunningMatch(deal(rng), fair_chance(rng))
        while match.state.active is not None:
            position = match.position()
            own = position.me == 0
            change = build("champion" if position.turn <= 8 else "captain", rng)
            action = (adaptive if own else change).decide(position).action
            loss = loss_of(position, action)
            if own and loss > 0 and action != CAPTAIN.decide(position).action:
                departures += 1
                assert loss <= min(MOST, balance)
            balance += -loss if own else loss
            match.play(action)
    assert departures
