"""Who the opponent is: known by its decisions, also of past matches, or else a stranger."""

from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from random import Random

import pytest
from support.matches import RunningMatch

from cardsharp.cloud.adapters import build_log
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import MatchLog
from cardsharp.deadmansdraw.actions import DRAW
from cardsharp.deadmansdraw.briefing import PAST_MATCHES, last_matches
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.simulation import deal, fair_chance
from cardsharp.deadmansdraw.strategies import Decision, PastMatch, Strategy, briefed, build
from cardsharp.deadmansdraw.strategies.adaptive import Adaptive
from cardsharp.deadmansdraw.strategies.adaptive_belief import (
    GENERAL,
    Belief,
    Entry,
    known_opponents,
    parse_entries,
)
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen, decisions_of
from workbench.deadmansdraw.learning import LEAST, Learned, Learning, Met, opponents
from workbench.lab.plan import Plan
from workbench.lab.players import strategy_of


class Whim:
    """Nobody known: it stops, and answers effects, by whim."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def decide(self, position: Position) -> Decision:
        return Decision(self.rng.choice(position.legal_actions()), "A whim.")


PLAN = Plan(first="captain", second="captain", pairs=1)


def opponent(name: str, rng: Random) -> Strategy:
    return Whim(rng) if name == "whim" else strategy_of(PLAN, name, rng)


def played(name: str, seed: int) -> RunningMatch:
    """A match of that opponent, who is player 1, against a `third`."""
    rng = Random(seed)
    match = RunningMatch(deal(rng), fair_chance(rng))
    match.finish(build("third", rng), opponent(name, rng))
    return match


def shown(name: str, matches: range) -> Iterator[Seen]:
    for seed in matches:
        yield from decisions_of(PastMatch(1, played(name, seed).history))


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("champion", "champion"),
        ("third", "third"),
        ("example-node", "example-node"),
        ("draw-3", "scripted"),
        ("champion-2", "champion"),
        ("champion-4", "champion"),
        ("whim", GENERAL),
        ("captain", GENERAL),
    ],
)
def test_an_opponent_is_known_by_its_decisions(name: str, weights: str) -> None:
    """The two variants of the champion, which stop otherwise, count as its kin."""
    belief = Belief(known_opponents())
    belief.see_all(shown(name, range(1 if name == "captain" else 3)))
    assert belief.weights() == weights


def test_a_belief_that_is_contradicted_is_given_up() -> None:
    """Somebody who has played as the champion and then decides by whim gets the general player."""
    belief = Belief(known_opponents())
    belief.see_all(shown("champion", range(3)))
    assert belief.weights() == "champion"
    belief.see_all(shown("whim", range(1)))
    assert belief.weights() == GENERAL


def test_adaptive_knows_an_opponent_from_past_matches_at_once() -> None:
    """With the past in mind the very first decision of a match is made with its weights.

    It costs nothing there: `adaptive_gifts` lets it pass.
    """
    past = [PastMatch(1, played("third", seed).history) for seed in range(2)]
    rng = Random(7)
    match = RunningMatch(deal(rng), fair_chance(rng))
    match.play(DRAW)
    while match.position().legal_actions() == (DRAW,):
        match.play(DRAW)
    position = match.position()
    stranger = Adaptive(Random(0))
    knowing = briefed(stranger, past)
    assert knowing is not stranger
    assert "as against third" in knowing.decide(position).reason
    assert stranger.decide(position) == build("captain", Random(0)).decide(position)


def test_adaptive_decides_the_same_however_often_it_is_made_anew() -> None:
    """A worker rebuilds it for every turn; what it keeps meanwhile only saves time."""
    rng = Random(4)
    match = RunningMatch(deal(rng), fair_chance(rng))
    kept, other = Adaptive(Random(0)), build("champion", rng)
    for _ in range(60):
        position = match.position()
        if position.me == 1:
            match.play(other.decide(position).action)
            continue
        decision = kept.decide(position)
        if len(decision.options) > 1 and rng.random() < 0.3:
            assert Adaptive(Random(0)).decide(position) == decision
        match.play(decision.action)


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
    assert lease is not None
    log.record(lease, {0: DRAWN})
    if finished:
        log.finish(lease, {"scores": [1, 2]})


def test_its_past_are_the_last_finished_matches_against_that_player(log: MatchLog) -> None:
    keep(log, "a", ME, FOE)
    keep(log, "b", FOE, ME)
    keep(log, "c", ME, OTHER)
    keep(log, "d", ME, FOE, finished=False)
    keep(log, "e", FOE, FOE)
    keep(log, "f", ME, FOE, opponent="champion")
    past = last_matches(log, FOE, PAST_MATCHES)
    assert sorted(match.opponent for match in past) == [0, 1]
    assert all(len(match.history) == 1 for match in past)
    for number in range(3):
        keep(log, f"m{number}", ME, FOE)
    assert len(last_matches(log, FOE, 3)) == 3
    assert last_matches(log, "nobody", 3) == []


WEIGHTS: dict[str, object] = {"numbers": ""}


@cache
def met(name: str, number: int) -> Met:
    """A match of that player, as it shows it."""
    return Met(f"{name} {number}", tuple(shown(name, range(number, number + 1))))


def learned_from(learned: Learned, matches: list[Met], *, gains: bool = True) -> list[str]:
    """The stages that are told of, in their order."""
    told: list[str] = []

    def test(_weights: dict[str, object], _entry: Entry) -> tuple[bool, str]:
        return gains, "as measured"

    learning = Learning(
        learned, lambda _entry: WEIGHTS, test, lambda _name, stage, _why: told.append(stage)
    )
    learning.opponent("id", "Foe", matches)
    return told


WEAK = [met("draw-3", number) for number in range(LEAST + 12)]


def test_an_opponent_is_promoted_by_later_matches_and_rolled_back_by_others() -> None:
    learned = Learned()
    assert learned_from(learned, WEAK[: LEAST - 1]) == ["waits"]
    assert learned_from(learned, WEAK[:LEAST]) == ["candidate", "candidate"]
    assert not learned.opponents, "nothing speaks for it yet but what it was made from"
    assert learned_from(learned, WEAK) == ["promoted"]
    assert learned_from(learned, WEAK) == [], "the same matches change nothing"
    [entry] = parse_entries(learned.model_dump_json())
    assert entry.weights in learned.weights
    changed = [*WEAK, *(met("random", number) for number in range(4))]
    assert learned_from(learned, changed)[0] == "rolled back"
    assert not learned.opponents
    assert not learned.weights


def test_weights_that_gain_nothing_are_rejected_and_others_are_made_from_fresh_matches() -> None:
    learned = Learned()
    assert learned_from(learned, WEAK, gains=False) == ["candidate", "rejected", "waits"]
    more = [*WEAK, *(met("draw-3", number) for number in range(50, 50 + LEAST))]
    assert learned_from(learned, more)[0] == "candidate"


def test_opponents_are_told_apart_by_id_or_as_strategies_of_ours(log: MatchLog) -> None:
    keep(log, "a", ME, FOE)
    keep(log, "b", ME, OTHER)
    keep(log, "c", ME, OTHER, opponent="champion")
    found = opponents(log)
    assert {key: name for key, (name, _) in found.items()} == {
        FOE: FOE,
        OTHER: OTHER,
        "champion": "champion",
    }, "two of one name are called by their ids"
    assert all(len(matches) == 1 for _, matches in found.values())
