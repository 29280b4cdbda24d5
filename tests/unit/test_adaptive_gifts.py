"""What it may cost to play for one opponent: no more than its mistakes have given before."""

from random import Random

from support.matches import RunningMatch

from cardsharp.deadmansdraw.simulation import deal, fair_chance
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.strategies.adaptive import Adaptive
from cardsharp.deadmansdraw.strategies.adaptive_gifts import CREDIT, MOST, Gifts, loss_of
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen
from cardsharp.deadmansdraw.strategies.dossier import PastMatch, briefed

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


def played(name: str, seed: int) -> PastMatch:
    rng = Random(seed)
    match = RunningMatch(deal(rng), fair_chance(rng))
    match.finish(build("third", rng), build(name, rng))
    return PastMatch(1, match.history)


def test_whoever_pretends_and_then_changes_wins_back_no_more_than_it_gave() -> None:
    """Known as the champion, it plays on as the captain: each departure from him was paid for."""
    adaptive = briefed(Adaptive(Random(0)), [played("champion", seed) for seed in range(2)])
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
