"""Tests of the cache of analyses: equal to an analysis, bounded, and ignored if it is broken."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.recordings import SAMPLE

from cardsharp.analysis.match_analysis import analyse
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.games.deadmansdraw.history.arena_import import parse_arena_match
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp_tools.lab.match_statistics import our_side_statistics, side_statistics_by_match
from cardsharp_tools.match_sources import analysis_cache
from cardsharp_tools.match_sources.analysis_cache import analyse_with_cache, find_analysis

Match = tuple[MatchRecord, list[MoveRecord]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "cardsharp" / "analyses"


@pytest.fixture
def match() -> Match:
    [trace] = SAMPLE.random_matches(1)
    last_look = trace["final"]["last_look"]
    assert last_look
    record, moves = parse_arena_match(json.dumps(trace).encode())
    return replace(record, outcome=record.outcome or {"result": "won"}), list(moves)


def fail_to_analyse(*_: object) -> object:
    raise AssertionError("analysed again")


def test_an_analysis_is_kept_and_equal(
    folder: Path, match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_analysis(GAME, *match) is None
    first = analyse_with_cache(GAME, *match)
    assert first == analyse(GAME, *match)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(analysis_cache, "analyse", fail_to_analyse)
    assert analyse_with_cache(GAME, *match) == first
    assert list(side_statistics_by_match(GAME.name, [match], None)) == [
        our_side_statistics(GAME.name, match)
    ]


@pytest.mark.parametrize("change", ["move", "header", "judge", "running"])
def test_another_match_or_judge_is_analysed_anew(
    folder: Path, match: Match, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyse_with_cache(GAME, *match)
    record, moves = match
    if change == "move":
        moves = moves[:-1]
    elif change == "header":
        record = replace(record, header={**record.header, "opponent": "another"})
    elif change == "judge":
        monkeypatch.setattr(analysis_cache, "_judge_fingerprint", lambda _game: "another")
    else:
        record = replace(record, outcome=None)
    assert find_analysis(GAME, record, moves) is None
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"not compressed", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_a_broken_file_is_ignored_and_replaced(folder: Path, match: Match, content: bytes) -> None:
    first = analyse_with_cache(GAME, *match)
    [file] = folder.iterdir()
    file.write_bytes(content)
    assert find_analysis(GAME, *match) is None
    assert analyse_with_cache(GAME, *match) == first
    assert find_analysis(GAME, *match) == first


def test_a_folder_that_cannot_be_made_is_no_error(
    tmp_path: Path, match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert analyse_with_cache(GAME, *match) == analyse(GAME, *match)


def test_the_oldest_files_are_deleted(
    folder: Path, match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis_cache, "MAX_ANALYSES", 20)
    folder.mkdir(parents=True)
    for number in range(20):
        (folder / str(number)).touch()
    kept = analyse_with_cache(GAME, *match)
    names = {file.name for file in folder.iterdir()}
    assert len(names) == 19
    assert find_analysis(GAME, *match) == kept
