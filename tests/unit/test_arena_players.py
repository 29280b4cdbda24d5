"""The players' file: what is wrong with it is said in one sentence that names no password."""

import json
import os
from pathlib import Path

import pytest

from cardsharp.deadmansdraw.arena.players import PlayersFile, load_players
from cardsharp.errors import ConfigError

GOOD = {"_id": "1" * 24, "name": "Team", "password": "canary-password"}
NEW = {**GOOD, "password": "another-canary"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "the file: Invalid JSON"),
        ("{}", "valid array"),
        (json.dumps([{**GOOD, "_id": "short"}]), "0._id"),
        (
            json.dumps([{"_id": "1" * 24, "name": "Team"}]),
            "0: Value error, either a password or its ha1",
        ),
        (json.dumps([{**GOOD, "pasword": "canary-password"}]), "0.pasword"),
        (json.dumps([{**GOOD, "name": ""}, {**GOOD, "password": ""}]), "1: Value error, either"),
        (json.dumps([GOOD, GOOD]), "twice"),
    ],
)
def test_a_wrong_file_is_refused_with_its_faults(tmp_path: Path, content: str, told: str) -> None:
    """The sentence names the file, the entry and the field."""
    path = tmp_path / "players.json"
    path.write_text(content)
    with pytest.raises(ConfigError) as raised:
        load_players(path)
    assert str(path) in str(raised.value)
    assert told in str(raised.value)
    assert "canary" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_record_that_is_shown_has_no_password(tmp_path: Path) -> None:
    """Neither in its JSON nor in its repr."""
    path = tmp_path / "players.json"
    path.write_text(json.dumps([GOOD]))
    (player,) = load_players(path).values()
    assert player.json_record() == {"_id": "1" * 24, "name": "Team"}
    assert "canary" not in repr(player)


def test_a_file_that_changes_is_read_again_but_not_a_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "players.json"
    path.write_text(json.dumps([GOOD]))
    players = PlayersFile(path)
    first = players["1" * 24].proof
    for moment, (text, same) in enumerate([("[", True), (json.dumps([NEW]), False)], 1):
        path.write_text(text)
        os.utime(path, ns=(moment, moment))
        assert (players["1" * 24].proof == first) is same
    assert len(players) == 1
