"""`cardsharp ladder`: how far up a strategy comes, for people and for scripts."""

from pathlib import Path

import pytest
from support.cli import Cli

FAILING = """
from cardsharp.deadmansdraw.strategies import Decision, strategy

@strategy("falls")
class Falls:
    'Fails.'
    def __init__(self, rng): pass
    def decide(self, position): return position.nosuch
"""


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


def test_a_fault_of_the_file_stops_it_and_names_the_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "falls.py"
    file.write_text(FAILING)
    told = cli("ladder", str(file), "--workers", "1")
    assert told.code == 1
    assert "falls.py, line 8, in decide" in told.err
    assert "Against random: " in told.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody",), "No strategy is called 'nobody'. There are: "),
        (("champion", "--to", "nobody"), "--to nobody is no rung of this ladder: random, "),
        (("champion", "--from", "third", "--to", "random"), "--from third is above --to random: "),
        (("champion", "--game", "nim"), "No game is called 'nim' here."),
        (("nowhere.py",), "There is no strategy file "),
        (("nowhere.json",), "nowhere.json cannot be read: No such file or directory; check the "),
    ],
)
def test_what_cannot_be_climbed_is_one_sentence(
    cli: Cli, arguments: tuple[str, ...], said: str
) -> None:
    told = cli("ladder", *arguments)
    assert told.code == 2
    assert said in told.err


def test_what_was_lost_can_be_asked_of_the_best_player(cli: Cli) -> None:
    kept = cli("lab", "duel", "example-node", "third", "-n", "2", "--keep", "1", "--workers", "1")
    asked = kept.out.rpartition("try captain --match ")[2].split()[0]
    tried = cli("try", "captain", "--match", asked)
    assert tried.code == 0, tried.err
    assert "now, captain" in tried.out
