"""Tests of `cardsharp analyse` and `stats`: reports of stored matches as text and as JSON."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nim.rules import Action, State
from support.cli import Cli
from support.games import (
    MATCH_TIME,
    NIM_SPEC,
    SimulationPlayer,
    StoredMatch,
    play_match,
    stored_match,
)
from support.recordings import SAMPLE, recorded_views

import cardsharp.play.catalog
from cardsharp.games.deadmansdraw.arena.request_body import js_truthy
from cardsharp.play.catalog import get_game, load_game
from cardsharp.store.match_log import MatchRecord, MatchStatus
from cardsharp_tools.lab.game_adapter import PlayedAction
from cardsharp_tools.lab.match_statistics import SideStatistics, side_statistics_by_match
from cardsharp_tools.match_sources.match_logs import import_match, open_log

EXPECTED_REPORT = """\
match nim-1: one v two
started 2026-11-22 00:00:00 UTC

                    one       two
accuracy          0.0 %   100.0 %
skill          -100.0 %    +0.0 %
luck             +0.0 %    +0.0 %
inaccuracies          0         0
mistakes              0         0
blunders              1         0

100.0 % at the start, +0.0 % by the cards, -100.0 % by one, +0.0 % by two: result 0.0 %
"""

STRATEGIES = {"deadmansdraw": "third", "blef": "greedy", "euchre": "rules"}


def play_against_random(name: str, strategy: str) -> StoredMatch:
    """Play a match of a game between a strategy and the random one."""
    game = get_game(name)
    return play_match(game, [SimulationPlayer(game, strategy), SimulationPlayer(game, "random")])


def create_nim_match() -> StoredMatch:
    """Create a match of Nim from heaps of 1 and 2, in which the winning move is missed."""
    first_state, losing_action, winning_action = State((1, 2)), Action(0, 1), Action(1, 2)
    remaining_state = first_state.without(losing_action)
    decision_steps = [
        (first_state, losing_action),
        (remaining_state, winning_action),
        (remaining_state.without(winning_action), None),
    ]
    [(record, moves)] = stored_match(
        load_game(NIM_SPEC), [PlayedAction(*step, None) for step in decision_steps]
    )
    header = {"game": "nim", "names": ["one", "two"], "players": ["one", "two"]}
    return replace(record, match_id="nim-1", header=header), moves


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setattr(
        cardsharp.play.catalog, "GAME_MODULES", (*cardsharp.play.catalog.GAME_MODULES, NIM_SPEC)
    )
    monkeypatch.setenv("COLUMNS", "80")
    return cli


def store_matches(folder: Path, *matches: StoredMatch) -> str:
    """Store matches in a new match log and return its address."""
    store = f"sqlite:{folder / 'log.db'}"
    with open_log(store) as log:
        for record, moves in matches:
            assert import_match(record, moves, log)
    return store


def test_a_small_match_has_the_expected_report(cli: Cli, tmp_path: Path) -> None:
    """The report names our player first."""
    record, moves = create_nim_match()
    header = {**record.header, "seats": {"1": "two"}, "opponent": "one"}
    bot_record = MatchRecord("ours", MatchStatus.FINISHED, MATCH_TIME, header)
    store = store_matches(tmp_path, (record, moves), (bot_record, moves))
    result = cli("analyse", "nim-1", "--store", store)
    assert result.code == 0, result.err
    start_line = next(line for line in result.out.splitlines() if line.startswith("started"))
    assert result.out.replace(start_line, "started 2026-11-22 00:00:00 UTC").startswith(
        EXPECTED_REPORT
    )
    expected_sentence = (
        "turn 1, one: blunder. 1 from heap 1 kept 0.0 %; 1 from heap 2 would have kept 100.0 %."
    )
    assert expected_sentence in " ".join(result.out.split())
    output = cli("analyse", "ours", "--store", store).out
    assert output.startswith("match ours: two v one\n")
    assert "chance to win, two" in output


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_game_is_analysed_on_80_columns(cli: Cli, tmp_path: Path, name: str) -> None:
    store = store_matches(tmp_path, play_against_random(name, STRATEGIES[name]))
    result = cli("analyse", "last", "--store", store)
    assert result.code == 0, result.err
    for words in ("accuracy", "skill", "luck", "at the start", "the biggest swings"):
        assert words in result.out
    assert ("luck-adjusted" in result.out) == (name != "blef")
    long_lines = [line for line in result.out.splitlines() if len(line) > 80]
    assert all(
        line.startswith(("    ", "match ")) or " by the cards, " in line for line in long_lines
    )


def test_a_response_without_the_full_match_explains_the_request_to_send(
    cli: Cli, tmp_path: Path
) -> None:
    """A response with the last move alone is rejected, with the request that gets all moves."""
    [trace] = SAMPLE.random_matches(1)
    *_, last_view = recorded_views(trace)
    view, file = {**last_view.raw, "startedAt": "2023-11-06T10:00:00.000Z"}, tmp_path / "told.json"
    for document, sentence in (
        ([view], "a list of matches"),
        ({"id": view["_id"], "sequence": "1.1", "playerdata": []}, "condensed"),
        ({**view, "moves": []}, "does not have all moves"),
        ({**view, "moves": view["moves"][-1:]}, "does not have all moves"),
    ):
        file.write_text(json.dumps(document))
        result = cli("analyse", str(file))
        assert (result.code, sentence in result.err) == (2, True)
        assert "showevents=true" in result.err


def test_statistics_are_a_single_page_of_charts_with_the_recorded_counts(
    cli: Cli, tmp_path: Path
) -> None:
    """A chart counts the autopicks: the moves in which the arena was requested to pick."""
    page = tmp_path / "stats.html"
    assert cli("stats", str(SAMPLE.file), "--limit", "1", "--html", str(page)).code == 0
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in text
    assert not re.findall("<script|<link|https?:", text)
    finished_matches = [
        match for match in SAMPLE.created_matches() if match["final"]["last_look"]["active"] is None
    ]
    steps = [
        step for match in finished_matches for step in match["steps"] if step.get("status") == 200
    ]
    autopicks = [
        step for step in steps
        if "action" in step and js_truthy(step["action"].get("autopick"))
        and not any(event["eventType"] == "Comment" for event in step["response"])
    ]  # fmt: skip
    chart_text = text[text.index("Autopicks</figcaption>") :]
    chart_bars = re.findall(
        r"<title>([^<:]+): ([\d,]+)</title>", chart_text[: chart_text.index("</figure>")]
    )
    assert f"{len(finished_matches)} matches" in text
    assert sum(int(count.replace(",", "")) for _, count in chart_bars) == len(autopicks) > 0
    result = cli("stats", str(SAMPLE.file), "--tag", "nosuch")
    assert (result.code, "with the tag nosuch" in result.err) == (2, True)


def test_matches_are_summarised_by_opponent_and_by_strategy(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matches are grouped by opponent and by strategy, and analysed once."""
    cached_analyses: list[list[SideStatistics]] = []

    def analyse_once(*args: Any) -> list[list[SideStatistics]]:  # noqa: ANN401 - what the real one takes
        cached_analyses.extend([] if cached_analyses else side_statistics_by_match(*args))
        return cached_analyses

    monkeypatch.setattr("cardsharp_tools.cli.commands.stats.side_statistics_by_match", analyse_once)
    game, matches = get_game("deadmansdraw"), []
    for number, (player, opponent) in enumerate([("third", "random"), ("random", "third")]):
        record, moves = play_match(
            game, [SimulationPlayer(game, player), SimulationPlayer(game, opponent)], number
        )
        header = {**record.header, "seats": {"0": player}, "opponent": opponent}
        finished_record = MatchRecord(
            f"m{number}", MatchStatus.FINISHED, MATCH_TIME, header, outcome=record.outcome
        )
        matches.append((finished_record, moves))
    store = store_matches(tmp_path, *matches, create_nim_match())
    result = cli("stats", "--store", store)
    assert result.code == 0, result.err
    row_starts = [line.split()[:2] for line in result.out.splitlines()[1:3]]
    assert row_starts == [["random", "1"], ["third", "1"]]
    assert all(len(line) <= 80 for line in result.out.splitlines()[:4])
    assert "time-outs" in result.out
    monkeypatch.setenv("COLUMNS", "60")
    narrow_lines = cli("stats", "--store", store).out.splitlines()
    assert [line.split()[:2] for line in narrow_lines[1:3]] == row_starts, (
        "no name is folded for a count"
    )
    assert "time-outs" not in narrow_lines[0]
    monkeypatch.setenv("COLUMNS", "80")
    statistics = cli(
        "stats", "--store", store, "--by", "strategy", "--player", "third", "--json"
    ).json()
    [group] = statistics["groups"]
    assert (statistics["matches"], group["name"], group["sides"]) == (2, "third", 1)
    assert 0 < group["accuracy"]["mean"] < 100
    assert group["perMatch"].keys() >= {"blunder", "busts", "time-outs"}
    assert statistics["ratings"]["third"]["lessLuck"]["margin"] > 0
    assert statistics["ratings"].keys() == {"third", "random"}
    rating, page = statistics["ratings"]["third"]["plain"], tmp_path / "page.html"
    for options in ((), ("--html", str(page))):
        result = cli("stats", "--store", store, "--by", "strategy", "--player", "third", *options)
        assert result.code == 0, result.err
        output = page.read_text() if options else result.out
        assert f"{rating['value']:,.0f} ± {rating['margin']:,.0f}" in output


def test_statistics_of_a_contest_list_the_winner_first_with_its_own_results(
    cli: Cli, tmp_path: Path
) -> None:
    """Statistics without a player list all players by result; with a player, its opponents."""
    record, moves = create_nim_match()  # the second player wins
    matches = [
        (replace(record, match_id=f"m{n}", header={**record.header, "names": names}), moves)
        for n, names in enumerate((["Ann", "Bob"], ["Ann", "Zoe"], ["Bob", "Zoe"]))
    ]
    store = ("--game", "nim", "--store", store_matches(tmp_path, *matches))
    result = cli("stats", *store)
    assert result.code == 0, result.err
    rows = [line.split()[:3] for line in result.out.splitlines()[:4]]
    assert rows == [
        ["player", "matches", "result"],
        ["Zoe", "2", "100.0"],
        ["Bob", "2", "50.0"],
        ["Ann", "2", "0.0"],
    ]
    groups = cli("stats", *store, "--json").json()["groups"]
    assert [(group["name"], group["result"]["mean"]) for group in groups] == [
        ("Zoe", 1),
        ("Bob", 0.5),
        ("Ann", 0),
    ]
    groups = cli("stats", *store, "--player", "Zoe", "--json").json()["groups"]
    assert [(group["name"], group["result"]["mean"]) for group in groups] == [
        ("Ann", 1),
        ("Bob", 1),
    ]


def test_statistics_of_blef_have_no_luck_adjustment_and_an_empty_log_is_reported(
    cli: Cli, tmp_path: Path
) -> None:
    """Blef has no luck adjustment, because a deal says little about the winner."""
    store = store_matches(tmp_path, play_against_random("blef", "threshold"))
    result = cli("stats", "--game", "blef", "--store", store)
    assert result.code == 0, result.err
    assert "adjusted" not in result.out
    statistics = cli("blef", "stats", "--store", store, "--json").json()
    assert statistics["groups"][0]["withoutLuck"] is None
    result = cli("stats", "--store", store)
    assert (result.code, result.out) == (2, "")
    assert "The log has no finished match of Dead Man's Draw" in result.err
