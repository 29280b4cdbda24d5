"""A file that training wrote plays wherever a strategy does, and a wrong one says what it is."""

from importlib.resources import files
from pathlib import Path

import pytest
from support.cli import Cli

from workbench.twins import twin_function

SEARCH = "cardsharp.deadmansdraw.strategies.search"


@pytest.fixture
def weights(tmp_path: Path) -> str:
    """The captain's own weights as a file that somebody trained."""
    file = tmp_path / "w.json"
    file.write_text((files(SEARCH) / "captain.json").read_text())
    return str(file)


def test_the_captains_weights_in_a_file_play_as_the_captain(cli: Cli, weights: str) -> None:
    duel = ("third", "-n", "1", "--seed", "4", "--json")
    first, second = (cli("lab", "duel", one, *duel).json() for one in ("captain", weights))
    assert first["counts"] == second["counts"]


@pytest.mark.skipif(twin_function("series") is None, reason="there is no research here")
def test_it_is_compiled_as_the_captain_is(weights: str) -> None:
    series = twin_function("series")
    assert series is not None
    assert (series(weights, "third") is None) == (series("captain", "third") is None)


def test_it_plays_whole_matches_and_is_tried(cli: Cli, weights: str) -> None:
    played = cli("play", "--strategy", weights, "--json").json()
    assert played["logComplete"]
    decisions = cli("try", weights, "--json").json()[0]["decisions"]
    assert decisions
    assert not any(one["differs"] for one in decisions)


def test_what_is_no_trained_player_says_so(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    for text, game, said in (
        ("{}", "deadmansdraw", "is no file that training wrote (ValueError: This is no weight"),
        ("mine", "deadmansdraw", "is no file that training wrote (JSONDecodeError"),
        ("{}", "blef", "No player of Blef is trained into a file"),
    ):
        file.write_text(text)
        found = cli("lab", "duel", str(file), str(file), "--game", game, "-n", "1")
        assert (found.code, said in found.err) == (2, True)
