"""`cardsharp versus`: a person at the table of any game, by what is typed and what is then seen."""

import fcntl
import io
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest
import requests
from support.cli import Cli, line_with, program
from support.table import Seat, choices, number

from workbench.show.exits import Exit
from workbench.show.screen import SCREEN

WINDOW = (SCREEN, 80)
"""Lines and columns of the smallest terminal."""

DRAW_TWICE = ["draw", "end", "1"] * 200
BLUNT = ["check", "high card 9"] * 60


def typed(patch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let these lines be all that is typed."""
    patch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


# --- every game ----------------------------------------------------------------------------------

TABLES = (("versus", "draw-3"), ("blef", "versus", "greedy"), ("euchre", "versus", "rules"))
every_table = pytest.mark.parametrize("table", TABLES, ids=lambda words: words[0])


@every_table
def test_the_words_are_answered_and_the_end_of_the_input_leaves(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, table: tuple[str, ...]
) -> None:
    typed(monkeypatch, "help", "rules", "?", "table", "recap", "history", "undo", "nonsense 7 x")
    said = cli(*table, "--seed", "3")
    assert (said.code, said.err) == (Exit.OK, "")
    for words in (
        "words of its name",
        "This is the first",
        "Nothing is taken back: a move that is made counts.",
        "That is none of",
        "You have left the table.",
    ):
        assert words in said.out, words


@every_table
def test_a_hint_is_what_the_best_player_weighs(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, table: tuple[str, ...]
) -> None:
    best = {"versus": "captain", "blef": "solved", "euchre": "pimc"}[table[0]]
    typed(monkeypatch, "hint", "quit")
    said = cli(*table, "--seed", "2", "--hints").out
    assert said.count(f"{best} would: ") == 1
    assert re.search(r"(?m)^Hint: .+\. ", said)
    assert re.search(r"(?m)^> +\S.* -?\d+\.\d(\d| %)", said), "the options with their values"


def test_a_window_of_80_by_24_holds_the_question(tmp_path: Path) -> None:
    """Before a real terminal: the table, the choices and the prompt are one screen."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *WINDOW, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "LINES"}}
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench.cli", "blef", "versus", "greedy", "--bots", "7"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "TERM": "xterm", "XDG_DATA_HOME": str(tmp_path)},
    )
    os.close(theirs)
    seen = read_until(ours, "help)? ")
    os.write(ours, b"quit\n")
    seen += read_until(ours, "left the table.")
    assert process.wait(timeout=20) == Exit.OK
    os.close(ours)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen).splitlines()
    asked = next(number for number, line in enumerate(shown) if "help)? " in line)
    window = "\n".join(shown[max(0, asked + 1 - SCREEN) : asked + 1])
    assert re.search(r"(?m)^Round \d+; cards: ", window)
    assert "Your hand: " in window
    assert max(map(len, shown)) <= WINDOW[1]


def read_until(terminal: int, words: str) -> str:
    """What is written up to these words; fails where the output ends before them."""
    seen = ""
    while words not in seen:
        try:
            part = os.read(terminal, 10_000)
        except OSError:
            part = b""
        assert part, seen
        seen += part.decode()
    return seen


def test_ctrl_c_stops_it_without_a_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(_prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", pressed)
    said = cli("blef", "versus", "--seed", "1")
    assert (said.code, said.err) == (Exit.INTERRUPTED, "cardsharp: stopped.\n")


def test_what_a_table_cannot_have_is_refused(cli: Cli) -> None:
    for words, why in (
        (("versus", "nobody"), "No strategy is called 'nobody'"),
        (("versus", "--bots", "2"), "Dead Man's Draw is played by two, not by 3."),
        (("blef", "versus", "--partner", "greedy"), "Blef has no partners"),
        (("versus", "--url", "http://127.0.0.1:9", "--game", "x"), "can be joined from a terminal"),
        (("blef", "versus", "--game", "x"), "give both"),
        (("blef", "versus", "greedy", "--game", "x"), "is decided there"),
    ):
        said = cli(*words)
        assert (said.code, why in said.err) == (Exit.USAGE, True), said.err


# --- Dead Man's Draw -----------------------------------------------------------------------------


def test_a_match_is_kept_and_show_and_why_tell_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, *DRAW_TWICE)
    played = cli("versus", "draw-3", "--seed", "4")
    assert played.code == Exit.OK
    assert re.search(r"(You have won!|draw-3 has won\.|A tie\.)\n", played.out)
    shown = cli("show", "last", "--json").json()
    assert shown["header"]["names"] in (["you", "draw-3"], ["draw-3", "you"])
    won = "You have won!" in played.out
    assert (shown["outcome"]["result"] == "won") is won
    assert len(shown["turns"]) == shown["outcome"]["turns"]
    you = shown["header"]["names"].index("you")
    ours, theirs = (
        next(t["turn"] for t in shown["turns"] if t["player"] == seat) for seat in (you, 1 - you)
    )
    assert "Typed at the terminal." in cli("why", "last", str(ours)).out
    assert "by      draw-3" in cli("why", "last", str(theirs)).out


def test_the_choice_is_kept_beside_the_hint(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "hint", "draw", "quit")
    cli("versus", "draw-3", "--seed", "2")
    turns = cli("show", "last", "--json").json()["turns"]
    decisions = [move["decision"] for turn in turns for move in turn["moves"] if move["decision"]]
    hinted = [one for one in decisions if "captain would: " in one["reason"]]
    assert [len(one["options"]) > 1 for one in hinted] == [True]


def test_who_leaves_has_lost(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "quit")
    left = cli("versus", "draw-3", "--seed", "4", "--json").json()
    assert (left["left"], left["won"]) == (True, False)
    shown = cli("show", left["match"], "--json").json()
    assert (shown["outcome"]["result"], shown["outcome"]["terminated"]) == ("lost", True)
    assert shown["status"] == "finished"


def test_a_fault_of_an_own_strategy_is_told_by_its_line(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written = tmp_path / "mine.py"
    assert cli("new", str(written)).code == Exit.OK
    text = written.read_text().replace("risk = bust", "risk = position.nosuch; bust")
    file = tmp_path / "faulty.py"
    file.write_text(text.replace('"mine"', '"faulty"'))
    typed(monkeypatch, *DRAW_TWICE)
    said = cli("versus", str(file), "--seed", "3", "--json")
    assert said.code == Exit.FAILED
    assert "faulty.py, line" in said.err


# --- in a browser --------------------------------------------------------------------------------


def test_a_table_in_the_browser_tells_its_results_until_ctrl_c(tmp_path: Path) -> None:
    """The link on stderr, each match's result on stdout; what was played is in the log."""
    home = {"XDG_DATA_HOME": str(tmp_path)}
    words = ("versus", "draw-3", "--browser", "--seed", "4", "--json")
    with program(*words, environment=home) as process:
        seat = Seat(line_with(process.stderr, "/seat/").strip())
        seat.until('id="moves"')
        seat.do("leave")
        assert process.stdout is not None
        result = json.loads(process.stdout.readline())
        assert (result["left"], result["won"]) == (True, False)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == Exit.OK
    with program("show", result["match"], "--json", environment=home) as shown:
        assert json.loads(shown.communicate()[0])["outcome"]["result"] == "lost"


def test_a_fault_of_an_own_strategy_ends_the_table(cli: Cli, tmp_path: Path) -> None:
    """And is told by its line, as in the terminal."""
    home = {"XDG_DATA_HOME": str(tmp_path)}
    file = tmp_path / "seated.py"
    assert cli("new", str(file)).code == Exit.OK
    file.write_text(file.read_text().replace("risk = bust", "risk = position.nosuch; bust"))
    with program("versus", str(file), "--browser", environment=home) as process:
        seat = Seat(line_with(process.stdout, "/seat/").strip())
        with suppress(requests.RequestException):
            while True:
                asked = seat.until('id="moves"')
                seat.tell("move", number=number(asked), key=choices(asked)[-1])
        assert process.wait(20) == Exit.FAILED
        assert process.stderr is not None
        assert "seated.py, line" in process.stderr.read()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("versus", "--invite", "1"), "add --browser"),
        (("versus", "--port", "0"), "add --browser"),
        (("versus", "--browser", "--invite", "2"), "played by two, not by 3"),
        (
            ("blef", "versus", "--browser", "--url", "http://x", "--game", "y"),
            "leave --browser out",
        ),
        (("versus", "--browser", "--host", "no.such.host.invalid"), "cannot listen"),
    ],
)
def test_what_a_page_cannot_have_is_refused(cli: Cli, words: tuple[str, ...], why: str) -> None:
    said = cli(*words)
    assert (said.code, why in said.err) == (Exit.USAGE, True), said.err


# --- Blef ----------------------------------------------------------------------------------------


def test_a_whole_game_is_played_and_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """We check whatever we may and open with the lowest bet: that ends every game."""
    typed(monkeypatch, *BLUNT)
    said = cli("blef", "versus", "greedy", "--seed", "1", "--why")
    assert said.code == Exit.OK
    assert re.search(r"(You have|greedy has) won[.!]\n", said.out)
    assert "lost the round." in said.out
    assert re.search(r"bet .+: it (held|did not hold)\.\n   ", said.out), "then everybody's cards"
    assert "is out." in said.out or "are out." in said.out
    assert "y our own cards" in said.out
    told = cli("show", "last", "--json").json()
    assert told["outcome"]["result"] == ("won" if "You have won" in said.out else "lost")
    reasons = {step["decision"]["reason"] for step in told["steps"] if step["decision"]}
    assert "Typed at the terminal." in reasons
    assert cli("why", "last", "2").code == Exit.OK


def test_the_old_name_and_options_still_work(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "quit")
    said = cli("blef", "play", "--bots", "2", "--strategy", "greedy", "--seed", "1")
    assert (said.code, "bot 2" in said.out) == (Exit.OK, True)
    typed(monkeypatch, "quit")
    said = cli("euchre", "play", "--partner", "rules", "--opponents", "rules", "--seed", "1")
    assert said.code == Exit.OK


def test_a_seed_deals_the_same_whatever_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the bot rolls dice; here it does, in a round that is solved."""
    deals = []
    for said in ("check", "great straight flush spades"):
        typed(monkeypatch, said, "quit")
        out = cli("blef", "versus", "--seed", "2").out
        deals.append([line for line in out.splitlines() if line.startswith("   solved: ")])
    assert deals[0] == deals[1] != []


def test_a_game_can_be_played_by_a_program(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --json stdout has the result alone."""
    typed(monkeypatch, *BLUNT)
    said = cli("blef", "versus", "greedy", "--seed", "1", "--json")
    result = said.json()
    assert result["left"] is False
    assert result["won"] is (result["winner"] == "you")
    assert "Your hand: " in said.err


def test_what_cannot_hold_is_not_suggested(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two cards in play there are high cards and pairs; the rest is legal, and in the list."""
    typed(monkeypatch, "?", "quit")
    said = cli("blef", "versus", "greedy", "--seed", "1").out
    before, every = said.split("help)? ")[:2]
    assert "Pair " in before
    assert "Full house" not in before
    assert "Other bets cannot hold with 2 cards in play; ? lists them too." in before
    assert "Full house" in every


def test_a_bet_that_cannot_be_made_is_explained(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """We lose the first round by a bet that cannot hold, and so begin the second."""
    typed(monkeypatch, "great straight flush spades", "check", "pair", "quit")
    said = cli("blef", "versus", "greedy", "--seed", "1").out
    assert "You lost the round." in said
    assert "There is nothing to check yet; bet something." in said
    assert "That can be 6 Pair of 9s; " in said


def test_no_hand_of_another_is_shown_while_a_round_runs(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, "hint", "quit")
    said = cli("blef", "versus", "greedy", "--seed", "1", "--bots", "3", "--why").out
    assert len(re.findall(r"(?:9|10|J|Q|K|A)[♣♦♥♠]", said)) == 1


# --- Euchre --------------------------------------------------------------------------------------


def test_euchre_is_played_by_number_to_its_end(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who always types the first number sees the table and gets to the end."""
    typed(monkeypatch, *["1"] * 400)
    said = cli("euchre", "versus", "rules", "--partner", "rules", "--seed", "1")
    assert said.code == Exit.OK
    assert re.search(r"You have won!|left and right have won\.|right and left have won\.", said.out)
    deals = cli("matches", "--json").json()
    assert len(deals) == said.out.count("-- The score: ") + said.out.count("-- Everybody passed.")
    assert "Typed at the terminal." in cli("show", "last").out
    for words in (" goes to ", "-- trick for ", "Tricks: you ", "-- The score: you ", "Your card:"):
        assert words in said.out, words


def test_a_card_is_known_by_its_letters(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "pass", "xx", "1", "quit")
    said = cli("euchre", "versus", "rules", "--partner", "rules", "--seed", "3").out
    hand = said.split("Your hand: ")[2].splitlines()[0].split()
    letters = {"♣": "c", "♦": "d", "♥": "h", "♠": "s"}
    legal = said.split("Your card: ")[1].splitlines()[0]
    card = next(one for one in hand if one in legal)
    typed(monkeypatch, "pass", card[:-1].lower() + letters[card[-1]], "quit")
    again = cli("euchre", "versus", "rules", "--partner", "rules", "--seed", "3").out
    assert f"you: {card}" in again


def test_nobody_is_shown_what_the_seat_cannot_see(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first card, only the own hand and the turn card are on the screen."""
    typed(monkeypatch, "quit")
    said = cli("euchre", "versus", "rules", "--partner", "rules", "--seed", "3").out
    assert len(set(re.findall(r"(?:9|10|J|Q|K|A)[♣♦♥♠]", said))) == 6
