"""Arena without a server: overdue turns, rate limits, random draws and the players' file."""

import json
import os
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from support.arena_server import ALICE, BOB, ManualClock, write_players

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.access.throttling import (
    MAX_PER_USER,
    RequestThrottle,
)
from cardsharp.games.deadmansdraw.arena.access.users import (
    ADMIN_USER,
    PlayersFile,
    User,
    load_players_by_id,
)
from cardsharp.games.deadmansdraw.arena.config import ArenaConfig
from cardsharp.games.deadmansdraw.arena.local_arena import LocalArena
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.match_creation import DEFAULT_DRAW_DECK
from cardsharp.games.deadmansdraw.arena.randomness import (
    RandomnessMethod,
    alea_fractions,
    seeded_draws,
)

LIMIT, GRACE = timedelta(seconds=7), timedelta(seconds=5)


class SteppedArena:
    """Arena without a server, whose watchdog runs only when it is called."""

    def __init__(self, folder: Path, downtime: timedelta = timedelta(), **options: Any) -> None:  # noqa: ANN401
        self.clock = ManualClock()
        self.clock.advance(downtime)
        config = ArenaConfig(players_file=write_players(folder), clock=self.clock, **options)
        self.arena = LocalArena(config)

    def begin_match(self) -> str:
        timeout = LIMIT.total_seconds()
        body = {"playerids": [ALICE, BOB], "timeout": timeout, "randomSeed": "norandom"}
        return self.arena.referee.create_match(ADMIN_USER, body, None).id

    def end_overdue_turns_in(self, seconds: float) -> int:
        self.clock.advance(timedelta(seconds=seconds))
        return len(self.arena.referee.end_overdue_turns(grace=GRACE))

    def active_user(self, match_id: str) -> User:
        return self.arena.book.user(str(self.match(match_id).active_player))

    def match(self, match_id: str) -> ArenaMatch:
        return self.arena.referee.get_match(match_id)


def test_an_overdue_turn_ends_once_the_grace_expires_and_downtime_does_not_count(
    tmp_path: Path,
) -> None:
    """During the grace period a late action still ends the turn, as in the original.

    After a restart every turn has its full time again, for the watchdog and for the player.
    """
    first_arena = SteppedArena(tmp_path, data_file=tmp_path / "arena.db")
    match = first_arena.begin_match()
    first_arena.arena.close()
    restarted_arena = SteppedArena(
        tmp_path, data_file=tmp_path / "arena.db", downtime=timedelta(hours=1)
    )
    referee = restarted_arena.arena.referee
    assert restarted_arena.end_overdue_turns_in(6.5) == 0
    assert referee.end_overdue_turns() == []
    move = referee.act(restarted_arena.active_user(match), match, {"etype": "Draw"}, None)
    assert "Forceful" not in move.events_text
    assert [
        restarted_arena.end_overdue_turns_in(12),
        restarted_arena.end_overdue_turns_in(0.5),
        restarted_arena.end_overdue_turns_in(0.5),
    ] == [0, 1, 0]
    assert restarted_arena.match(match).active_player == BOB
    assert restarted_arena.match(match).state.timeout_count == 1
    restarted_arena.arena.close()


@pytest.mark.parametrize("first_request", ["the watchdog", "the player"])
def test_time_in_which_the_arena_stood_still_does_not_count(
    tmp_path: Path, first_request: str
) -> None:
    """No turn is overdue after a suspended laptop resumes, whichever request comes first."""
    arena = SteppedArena(tmp_path, watchdog_grace=GRACE)
    match = arena.begin_match()
    assert sum(arena.end_overdue_turns_in(1) for _ in range(6)) == 0
    if first_request == "the watchdog":
        assert arena.end_overdue_turns_in(3600) == 0
    else:
        arena.clock.advance(timedelta(hours=1))
        move = arena.arena.referee.act(arena.active_user(match), match, {"etype": "Draw"}, None)
        assert "Forceful" not in move.events_text
    assert [
        sum(arena.end_overdue_turns_in(1) for _ in range(12)),
        arena.end_overdue_turns_in(1),
    ] == [
        0,
        1,
    ]


def test_the_rate_limit_has_the_measured_delays_in_fixed_windows_that_are_forgotten() -> None:
    """Request 101 waits 0.1 s, 106 0.6 s, 121 2.1 s, and none longer than 10 s.

    The figures are those of docs/spec/arena.md section 2. The count begins again 60 s after
    its first request, however many requests came in between.
    """
    clock = ManualClock()
    throttle = RequestThrottle(MAX_PER_USER, clock)
    delays = [throttle.count_request("key").delay.total_seconds() for _ in range(400)]
    assert delays[:100] == [0] * 100
    assert [delays[n - 1] for n in (101, 106, 111, 121)] == pytest.approx([0.1, 0.6, 1.1, 2.1])
    assert delays[-1] == 10
    clock.advance(timedelta(seconds=59))
    assert throttle.count_request("key").delay > timedelta(0)
    clock.advance(timedelta(seconds=1))
    assert throttle.count_request("key").delay == timedelta(0)
    throttle = RequestThrottle(MAX_PER_USER, clock)
    for number in range(10_000):
        throttle.count_request(str(number))
    clock.advance(timedelta(minutes=1))
    throttle.count_request("another")
    assert len(throttle._counts._counts) == 1


NPM_PACKAGE_NUMBERS = {
    # seed: the first eight range(1000) of random-seed 0.3.0
    "20221105HelloWorld": [832, 101, 421, 989, 36, 701, 560, 287],
    " a b\u00a0": [796, 19, 986, 463, 521, 387, 721, 958],
    "\u00fcn\u00efc\u00f6d\u00e9 \U0001f3f4": [435, 715, 790, 216, 854, 926, 44, 583],
}


@pytest.mark.parametrize("seed", NPM_PACKAGE_NUMBERS)
def test_the_originals_generator_gives_the_packages_numbers(seed: str) -> None:
    numbers = [int(1000 * fraction) for fraction in islice(alea_fractions(seed), 8)]
    assert numbers == NPM_PACKAGE_NUMBERS[seed]


def test_fair_randomness_favours_no_card_and_depends_on_seed_and_index_alone() -> None:
    """Fair draws are distributed evenly; the original's requests all use the same numbers.

    Of 10,000 first cards each of the 50 is within five standard deviations of its share
    (docs/spec/arena.md section 6).
    """
    for randomness, distinct_count in ((RandomnessMethod.FAIR, 8), (RandomnessMethod.ORIGINAL, 1)):
        requests = [
            seeded_draws("a seed", randomness, used_count) for used_count in range(0, 24, 3)
        ]
        assert len({draws(DEFAULT_DRAW_DECK, 3) for draws in requests}) == distinct_count
    counts = dict.fromkeys(range(50), 0)
    for seed in range(10_000):
        counts[seeded_draws(str(seed), RandomnessMethod.FAIR).randrange(50)] += 1
    deviation = (10_000 * 0.02 * 0.98) ** 0.5
    assert all(abs(count - 200) < 5 * deviation for count in counts.values())
    full_stream = seeded_draws("seed", RandomnessMethod.FAIR)
    numbers = [full_stream.randrange(1000) for _ in range(20)]
    later_stream = seeded_draws("seed", RandomnessMethod.FAIR, 12)
    assert [later_stream.randrange(1000) for _ in range(8)] == numbers[12:]


VALID_PLAYER = {"_id": "1" * 24, "name": "Team", "password": "canary-password"}
CHANGED_PLAYER = {**VALID_PLAYER, "password": "another-canary"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "players.json is empty"),
        ("[{]", "players.json, line 1, column 3, is no JSON"),
        ("{}", "valid array"),
        (json.dumps([{**VALID_PLAYER, "_id": "short"}]), "0._id"),
        (
            json.dumps([{"_id": "1" * 24, "name": "Team"}]),
            "0: Value error, give either a password or its ha1",
        ),
        (json.dumps([{**VALID_PLAYER, "pasword": "canary-password"}]), "0.pasword"),
        (
            json.dumps([{**VALID_PLAYER, "name": ""}, {**VALID_PLAYER, "password": ""}]),
            "1: Value error, give either",
        ),
        (json.dumps([VALID_PLAYER, VALID_PLAYER]), "twice"),
    ],
)
def test_a_wrong_file_is_refused_with_its_faults(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "players.json"
    path.write_text(content)
    with pytest.raises(ConfigError) as error_info:
        load_players_by_id(path)
    assert str(path) in str(error_info.value)
    assert message in str(error_info.value)
    assert "canary" not in str(error_info.value)
    assert "\n" not in str(error_info.value)


def test_a_changed_players_file_is_reloaded_unless_it_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "players.json"
    path.write_text(json.dumps([VALID_PLAYER]))
    (player,) = load_players_by_id(path).values()
    assert player.public_json() == {"_id": "1" * 24, "name": "Team"}
    assert "canary" not in repr(player)
    players = PlayersFile(path)
    first_hash = players()["1" * 24].password_ha1
    for moment, (text, is_unchanged) in enumerate(
        [("[", True), (json.dumps([CHANGED_PLAYER]), False)], 1
    ):
        path.write_text(text)
        os.utime(path, ns=(moment, moment))
        assert (players()["1" * 24].password_ha1 == first_hash) is is_unchanged
    assert len(players()) == 1
