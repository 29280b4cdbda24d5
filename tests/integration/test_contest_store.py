"""One contract for both homes of a contest: SQLite in a folder, DynamoDB in the arena's table."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.contest_stores import arena_table, in_files, in_table

from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.contest.dynamodb import DynamoContest, under_way
from cardsharp.deadmansdraw.contest.facts import Facts
from cardsharp.deadmansdraw.contest.meetings import Meeting, Standing
from cardsharp.deadmansdraw.contest.records import (
    Entrant,
    Records,
    Result,
    Ruling,
    Settings,
    Stage,
    Store,
)
from cardsharp.errors import ConfigError, Conflict
from cardsharp.ratings import Rating

if TYPE_CHECKING:
    from support.contest_stores import Found

SETTINGS = Settings("cup", matches=3, most=9, seed="secret")
ONE, TWO, THREE = (Entrant(f"{n:024x}", f"Team {n}", f"{n:032x}") for n in (1, 2, 3))
FACTS = Facts((3, 4), 1, 2.5, 9, (1, 0), (0, 2))
RESULT = Result("1", 1, "winners", (ONE.id, TWO.id))


@pytest.fixture(params=["sqlite", "moto", "ministack"])
def found(request: pytest.FixtureRequest, tmp_path: Path) -> "Iterator[Found]":
    if request.param == "sqlite":
        opened = in_files(tmp_path)
    elif request.param == "moto":
        opened = in_table(request.getfixturevalue("moto"))
    else:
        opened = in_table(request.getfixturevalue("emulator").client("dynamodb"))
    with opened as ready:
        yield ready


@pytest.fixture
def store(found: "Found") -> Store:
    return found(SETTINGS)


def test_a_contest_is_founded_once(found: "Found") -> None:
    store = found(SETTINGS)
    assert store.settings() == SETTINGS
    assert (store.stage(), store.paused(), store.ruled()) == (Stage.OPEN, False, 0)
    assert (store.teams(), store.results(), store.rulings()) == ([], [], {})
    with pytest.raises(ConfigError, match="already"):
        found(SETTINGS)
    assert found(replace(SETTINGS, name="other")).teams() == []


def test_teams_stand_in_the_order_of_their_entries(store: Store) -> None:
    """A removed one leaves its place, and who comes back is the last."""
    for team in (TWO, replace(ONE, strategy="captain"), THREE):
        store.add(team)
    store.remove(TWO)
    store.add(TWO)
    assert [team.name for team in store.teams()] == ["Team 1", "Team 3", "Team 2"]
    assert store.teams()[0].strategy == "captain"
    changed = replace(TWO, ha1="f" * 32)
    store.replace(changed)
    assert store.teams()[2] == changed


def test_a_name_is_taken_once(store: Store) -> None:
    """By whoever was first, also where two ask at once."""
    store.add(ONE)
    with pytest.raises(Conflict):
        store.add(replace(TWO, name=ONE.name))
    assert store.teams() == [ONE]


def test_once_begun_the_teams_stay(store: Store) -> None:
    store.add(ONE)
    store.begin()
    for change in (lambda: store.add(TWO), lambda: store.remove(ONE)):
        with pytest.raises(Conflict):
            change()
    assert store.teams() == [ONE]


def test_teams_are_seeded_anew_until_the_contest_has_begun(store: Store) -> None:
    """And who enters afterwards is the last."""
    for team in (ONE, TWO):
        store.add(team)
    store.seed([TWO.id, ONE.id])
    store.add(THREE)
    assert store.teams() == [TWO, ONE, THREE]
    store.begin()
    with pytest.raises(Conflict):
        store.seed([ONE.id, TWO.id, THREE.id])
    assert store.teams() == [TWO, ONE, THREE]


def test_matches_of_practice_are_kept_by_their_numbers(store: Store) -> None:
    """Each once, however often it is kept; and ratings by how many matches made them."""
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    many = [
        Meeting(number, (ONE.id, TWO.id), f"{number:x}", noon, FACTS, (ONE.id,))
        for number in range(1, 12)
    ]
    for meeting in [*reversed(many), many[3]]:
        store.add_meeting(meeting)
    assert store.meetings() == many
    assert store.results() == []
    later = Standing(10, noon, {ONE.id: Rating(1010.5, 99.0)})
    for standing in (later, Standing(5, noon, {}), later):
        store.add_standing(standing)
    assert store.standings() == [Standing(5, noon, {}), later]


def test_a_contest_begins_and_ends_once(store: Store) -> None:
    store.begin()
    store.begin()
    assert store.stage() is Stage.BEGUN
    store.end(0)
    store.begin()
    assert store.stage() is Stage.OVER


def test_a_ruling_that_came_meanwhile_keeps_the_contest_going(store: Store) -> None:
    """Who ends it has not seen that ruling; and one that comes later has it go on."""
    store.begin()
    seen = store.ruled()
    store.rule(Ruling("1", ONE.id, "left"))
    store.end(seen)
    assert store.stage() is Stage.BEGUN
    store.end(store.ruled())
    assert store.stage() is Stage.OVER
    store.rule(Ruling("1", TWO.id, "a mistake"))
    assert store.stage() is Stage.BEGUN
    assert store.rulings() == {"1": Ruling("1", TWO.id, "a mistake")}


def test_a_pause_is_kept(store: Store) -> None:
    store.pause(on=True)
    store.pause(on=True)
    assert store.paused()
    store.pause(on=False)
    assert not store.paused()


def test_results_take_the_place_of_those_before(store: Store) -> None:
    """In their order, more of them than one write can hold."""
    many = [replace(RESULT, pairing=str(number)) for number in range(120)]
    store.keep(many)
    assert store.results() == many
    many[3] = replace(
        many[3], decided=True, wins=(2, 1), winner=ONE.id, matches=("a", "b"), facts=(FACTS,)
    )
    store.keep(many)
    assert store.results() == many
    store.keep(many[:2])
    assert store.results() == many[:2]


@pytest.fixture
def table(moto: Any) -> Iterator[DynamoTable]:  # noqa: ANN401 - a client in this process
    with arena_table(moto) as made:
        yield made


def test_a_contest_that_is_not_there_is_told(table: DynamoTable) -> None:
    with pytest.raises(ConfigError, match="no contest nope"):
        DynamoContest(table, "nope")


def test_the_arena_finds_its_players_in_the_same_table(table: DynamoTable) -> None:
    """A team's new password counts at once; one that is removed is gone."""
    records = Records(DynamoContest.found(table, SETTINGS))
    team, _ = records.enter("One")
    records.enter("Two")
    records.remove("Two")
    records.new_password("One")
    (player,) = table.under("players")
    assert (player["sk"]["S"], player["player_name"]["S"]) == (team.id, "One")
    assert player["player_ha1"]["S"] == records.team("One").ha1 != team.ha1


def test_only_what_has_begun_and_is_not_over_is_under_way(table: DynamoTable) -> None:
    store = DynamoContest.found(table, SETTINGS)
    assert list(under_way(table)) == []
    store.begin()
    assert list(under_way(table)) == ["cup"]
    store.end(0)
    assert list(under_way(table)) == []
