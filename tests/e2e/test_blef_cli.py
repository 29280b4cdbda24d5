"""`cardsharp blef` as anybody would run it."""

import io
import re
import signal
from pathlib import Path

import pytest
import requests
from support.cli import Cli, clean, line_with, program

from cardsharp.blef.actions import BETS, CHECK, name_of
from workbench.blef.play import matching
from workbench.show.exits import Exit

LEGAL = range(CHECK + 1)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    clean(monkeypatch, tmp_path / "data")
    return Cli(capsys)


def typed(patch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let these lines be all that is typed."""
    patch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_its_help_teaches_with_examples(cli: Cli) -> None:
    said = cli("blef", "--help")
    assert said.code == Exit.OK
    for words in ("serve", "play", "duel", "cardsharp blef play --bots 3", "--json"):
        assert words in said.out


def test_a_whole_game_is_played_by_number_and_by_name(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """We check whatever we may and open with the lowest bet: that ends every game."""
    typed(monkeypatch, *(["Check", "high card 9"] * 60))
    said = cli("blef", "play", "--seed", "1", "--strategy", "greedy", "--why")
    assert said.code == Exit.OK
    assert re.search(r"(You have|bot 1 has) won[.!]\n$", said.out)
    assert "Round 1; cards:" in said.out
    assert "Your hand: " in said.out
    assert "lost the round." in said.out
    assert "is out." in said.out or "are out." in said.out
    assert "By our own cards" in said.out or "by our own cards" in said.out


def test_a_seed_deals_the_same_whatever_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the bot rolls dice; here it does, in a round that is solved."""
    deals = []
    for said in ("check", "great straight flush spades"):
        typed(monkeypatch, said, "quit")
        out = cli("blef", "play", "--seed", "1").out
        deals.append([line for line in out.splitlines() if line.startswith("   bot 1: ")])
    assert deals[0] == deals[1] != []


def test_a_game_can_be_played_by_a_program(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --json stdout has the result alone."""
    typed(monkeypatch, *(["Check", "high card 9"] * 60))
    said = cli("blef", "play", "--seed", "1", "--strategy", "greedy", "--json")
    result = said.json()
    assert result["left"] is False
    assert result["won"] is (result["winner"] == "you")
    assert "Round 1; cards:" in said.err
    typed(monkeypatch, "quit")
    left = cli("blef", "play", "--seed", "1", "--json").json()
    assert left == {"winner": None, "won": False, "left": True}


def test_only_legal_bets_are_offered_and_taken(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "?", "nonsense", "999", "check", "flush", "?", "84", "?", "0", "?", "quit")
    said = cli("blef", "play", "--seed", "3", "--strategy", "threshold(0,1)", "--bots", "1")
    assert said.code == Exit.OK
    assert said.out.count("That is none of the bets") == 2
    assert "You have left the table." in said.out
    for block in said.out.split("Your hand: ")[1:]:
        listed = [int(number) for number in re.findall(r"(?m)(?:^| {2})\s*(\d+) [A-Z]", block)]
        assert listed, "there is always something to say"
        first = min(listed)
        assert sorted(set(listed)) in ([*range(88)], [*range(first, 89)])


def test_what_cannot_hold_is_not_suggested(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two cards in play there are high cards and pairs; the rest is legal, and in the list."""
    typed(monkeypatch, "quit")
    said = cli("blef", "play", "--seed", "1", "--strategy", "greedy").out
    listed = {int(number) for number in re.findall(r"(?m)(?:^| {2})\s*(\d+) [A-Z]", said)}
    possible = {bet for bet in range(CHECK) if BETS[bet].size <= 2}
    assert listed == {bet for bet in possible if bet >= min(listed)} | {CHECK}
    assert "Other bets cannot hold with 2 cards in play; ? lists them too." in said


def test_whoever_begins_is_told_that_there_is_nothing_to_check(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """We lose the first round by a bet that cannot hold, and so begin the second."""
    typed(monkeypatch, "great straight flush spades", "check", "quit")
    said = cli("blef", "play", "--seed", "1", "--strategy", "greedy")
    assert "You lost the round." in said.out
    assert "There is nothing to check yet; bet something." in said.out


def test_no_hand_of_another_is_shown_while_a_round_runs(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, "quit")
    said = cli("blef", "play", "--seed", "1", "--bots", "3", "--why").out
    assert len(re.findall(r"(?:9|10|J|Q|K|A) of (?:clubs|diamonds|hearts|spades)", said)) == 1


def test_the_end_of_the_input_leaves_the_table(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch)
    said = cli("blef", "play", "--seed", "1")
    assert said.code == Exit.OK
    assert said.out.endswith("You have left the table.\n")
    assert said.err == ""


def test_ctrl_c_stops_it_without_a_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(_prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", pressed)
    said = cli("blef", "play", "--seed", "1")
    assert said.code == Exit.INTERRUPTED
    assert said.err == "cardsharp: stopped.\n"


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("11", ["Pair of aces"]),
        ("PAIR OF ACES", ["Pair of aces"]),
        ("flush hearts", ["Flush, hearts"]),
        ("three aces", ["Three of a kind, aces"]),
        ("check", ["Check"]),
        ("89", []),
        ("", []),
        ("²", []),
        ("big straight", ["Big straight (10-A)", *(f"Big straight flush (10-A), {c}" for c in (
            "clubs", "diamonds", "hearts", "spades"))]),
    ],
)  # fmt: skip
def test_a_bet_is_known_by_its_number_its_name_or_words_of_it(text: str, means: list[str]) -> None:
    assert [name_of(action) for action in matching(text, LEGAL)] == means


def test_every_bet_is_known_by_its_full_name() -> None:
    for number, bet in enumerate(BETS):
        assert matching(bet.name, LEGAL) == [number]


def test_a_duel_prints_a_share_with_its_interval(cli: Cli) -> None:
    said = cli("blef", "duel", "greedy", "random", "--games", "10", "--seed", "2")
    assert said.code == Exit.OK
    assert "of the points in 10 matches (95 %: " in said.out
    figures = cli("blef", "duel", "greedy", "random", "-n", "10", "--seed", "2", "--json").json()
    low, high = figures["interval"]
    assert low <= figures["won"] <= high
    assert cli("blef", "duel", "greedy", "gready").code == Exit.USAGE


def test_serve_says_where_it_is_and_answers_until_ctrl_c(cli: Cli) -> None:
    del cli
    with program("blef", "serve", "--port", "0") as process:
        url = line_with(process.stdout, "Blef at ").split()[2].rstrip(",")
        assert requests.post(f"{url}/games/create", timeout=10).status_code == 200
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=15)
        assert "Blef is closed" in rest
        assert errors == ""
        assert process.returncode == 0


def test_strategies_are_listed(cli: Cli) -> None:
    assert cli("blef", "strategies", "--json").json() == ["bayes", "greedy", "random", "threshold"]
