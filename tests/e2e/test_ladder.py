"""`cardsharp ladder`: how far up a strategy comes, for people and for scripts."""

from support.cli import Cli


def test_it_climbs_to_the_rung_that_is_named_and_knows_it_the_next_time(cli: Cli) -> None:
    climb = ("ladder", "champion", "--from", "example-node", "--to", "draw-3", "--workers", "1")
    told = cli(*climb, "--json")
    assert told.code == 0, told.err
    assert told.json()["beaten"] == "draw-3"
    assert told.json()["next"] is None
    assert [rung["known"] for rung in told.json()["rungs"]] == [False, False]
    assert told.json()["rungs"][0]["points"] > 50
    again = cli(*climb)
    assert again.out.count("known") == 2
    assert "You beat draw-3 (rating " in again.out
    assert "; that was the last one." in again.out, "as far as --to asks, which is not the top"
    assert "champion has the rating " in again.out


def test_it_stops_at_the_first_rung_that_is_not_beaten(cli: Cli) -> None:
    told = cli("ladder", "draw-3", "--from", "example-node", "--to", "third", "--workers", "1")
    assert told.code == 1, "--to says to a script whether the rung was beaten"
    assert "You beat example-node (rating " in told.out
    assert told.out.count("not beaten") == 1
    last = next(line for line in told.out.splitlines() if "is next" in line)
    assert "draw-3 (rating " in last, "equal to itself, it is not shown to be stronger"
