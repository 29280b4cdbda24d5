"""Duels of every game: paired, repeatable, and told by figures that add up."""

import os
from random import Random
from typing import Any

import pytest

from cardsharp.errors import ConfigError, StrategyFault
from cardsharp.games import games
from workbench.lab.coverage import covered
from workbench.lab.duel import Duel
from workbench.lab.extras import Extras, Guest, extras_of
from workbench.lab.interval import Interval, interval, score_interval
from workbench.lab.plan import Plan
from workbench.lab.pools import pool_of
from workbench.lab.results import Result
from workbench.lab.runs import run

PLAYERS = {"deadmansdraw": ("champion", "third"), "blef": ("greedy", "random")}


def plan_of(game: str, *, swap: bool = False, **more: Any) -> Plan:  # noqa: ANN401
    first, second = PLAYERS.get(game, ("rules", "random"))[:: -1 if swap else 1]
    given = {"pairs": 4, "seed": 3, "plain": True, **more}
    return Plan(game=game, first=first, second=second, **given)


SIMULATED = [game.name for game in games() if game.simulation is not None]


@pytest.mark.parametrize("game", SIMULATED)
def test_a_player_against_itself_stands_at_exactly_half(game: str) -> None:
    """Each deal is played from both sides, so what one side wins the other loses."""
    name = plan_of(game).first
    mirror = run(Plan(game=game, first=name, second=name, pairs=2, plain=True))
    assert mirror.points == 50
    assert {match.points for match in mirror.matches} == {0, 1}


@pytest.mark.parametrize("game", ["deadmansdraw", "euchre"])
def test_the_order_of_the_players_does_not_matter(game: str) -> None:
    """Where no player rolls dice of its own, the second's figures are the first's turned over."""
    one, two = run(plan_of(game)), run(plan_of(game, swap=True))
    assert one.points == pytest.approx(100 - two.points)
    for count, values in one.matches[0].counts.items():
        assert one.total(count, 0) == two.total(count, len(values) - 1)


def test_processes_change_nothing() -> None:
    plan = plan_of("blef", pairs=7)
    with pool_of(2) as pool:
        assert run(plan, pool) == run(plan)


def test_a_process_that_dies_is_told_of_and_what_else_it_can_be() -> None:
    def dies() -> None:
        with pool_of(2) as pool:
            assert pool is not None
            pool.submit(os._exit, 5).result()

    with pytest.raises(StrategyFault, match="--workers 1"):
        dies()


def test_against_copies_a_deal_is_played_from_each_seat() -> None:
    played = run(plan_of("blef", copies=2))
    assert [len(pair) for pair in played.pairs] == [3] * 4
    assert played.plan.fair == pytest.approx(1 / 3)
    assert "greedy v 2 x random: " in str(played)
    assert "equal players: 33.3" in str(played)


def test_a_game_is_not_played_by_more_than_it_allows() -> None:
    with pytest.raises(ConfigError, match="played by two, not by 3"):
        run(plan_of("deadmansdraw", copies=2))


def test_the_figures_are_those_that_the_game_names() -> None:
    """Rounds are a match's; busts are a share of each player's own turns."""
    plan = plan_of("deadmansdraw", pairs=1)
    one = Result(1.0, {"scores": (9, 3), "turns": (4, 5), "actions": (8, 9), "busts": (1, 2)})
    two = Result(0.5, {"scores": (5, 5), "turns": (4, 5), "actions": (8, 9), "busts": (1, 3)})
    lines = str(Duel(plan, ((one, two),))).splitlines()
    assert lines[0].startswith("champion v third: 75.0 % of the points in 2 matches (95 %: ")
    assert lines[1].startswith("  it is not shown who is stronger: Elo +191 (95 %: ")
    assert lines[1].endswith("; from either seat 100.0 % and 50.0 %")
    assert lines[2] == "  champion: 7.0 points, 4.0 turns, 8.0 actions, 25.0 % of turns bust"
    assert lines[3] == "  third: 4.0 points, 5.0 turns, 9.0 actions, 50.0 % of turns bust"


class Guessing:
    """A guest who answers by chance, and notes what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def seated(self, seats: tuple[int, ...]) -> "Guessing":
        self.told.append(seats)
        return self

    def decide(self, state: Any) -> Any:  # noqa: ANN401
        simulation = plan_of("euchre").simulation
        return Random(len(self.told)).choice(simulation.actions(state))

    def ended(self, state: Any) -> None:  # noqa: ANN401
        self.told.append(max(state.points) >= 10)

    def close(self) -> None:
        self.told.append("closed")


def test_a_guest_is_seated_for_each_match_and_closed_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guest = Guessing()

    def of(_self: Extras, name: str) -> Guest | None:
        return guest if name == "guest" else None

    monkeypatch.setattr(type(extras_of("euchre")), "guest", of)
    run(Plan(game="euchre", first="rules", second="guest", pairs=1, plain=True))
    assert guest.told == [(1, 3), True, (0, 2), True, "closed"]


# --- intervals -----------------------------------------------------------------------------------


def test_the_score_interval_is_the_published_one() -> None:
    """Wilson's with continuity correction for 81 of 263, 15 of 148 and 0 of 20 (Newcombe 1998)."""
    assert score_interval(81 / 263, 263) == pytest.approx((0.2535, 0.3682), abs=5e-5)
    assert score_interval(15 / 148, 148) == pytest.approx((0.0598, 0.1644), abs=5e-5)
    assert score_interval(0, 20) == pytest.approx((0.0, 0.2005), abs=5e-5)


def test_few_pairs_claim_little() -> None:
    """Three pairs all won, two pairs of which one was half lost, one pair."""
    assert interval([1, 1, 1], 2) == Interval(pytest.approx(0.310, abs=0.001), 1.0)
    assert interval([1, 0.5], 2).low < 0.25
    assert interval([1], 2).low < 0.1
    assert interval([0, 0, 0], 2).high == pytest.approx(1 - interval([1, 1, 1], 2).low)
    with pytest.raises(ValueError, match="No share"):
        interval([])


def test_many_pairs_are_bounded_as_by_their_spread() -> None:
    """5,000 pairs: within a tenth of a point of mean ± 1.96 standard errors."""
    shares = [1.0] * 2600 + [0.5] * 1600 + [0.0] * 800
    low, high = interval(shares, 2)
    assert (low, high) == pytest.approx((0.68 - 0.01034, 0.68 + 0.01034), abs=0.001)


@pytest.mark.parametrize("pairs", [2, 3, 8, 20, 100, 500])
@pytest.mark.parametrize(
    ("share", "alike"),
    [(0.5, -0.5), (0.5, 0.0), (0.5, 1.0), (0.9, 0.0), (0.9, 0.6), (0.99, 0.0), (0.99, 1.0)],
)
def test_the_interval_holds_the_truth_in_95_of_100(pairs: int, share: float, alike: float) -> None:
    """By 400 simulated duels each; 92 % is two standard errors below 95 %."""
    assert covered(pairs, share, alike, 400, Random(1)).held > 0.92
