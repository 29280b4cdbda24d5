"""`cardsharp versus`: a person at the table of any game, by what is typed and what is then seen."""

import io
import json
import re
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.cli import Cli, start_program, type_lines, wait_for_line
from support.game_room import SeatClient, choice_keys, question_number
from support.waiting import HANG_SECONDS

from cardsharp.games.euchre.actions import PASS, Bid
from cardsharp.games.euchre.cards import SUIT_NAMES, parse_card
from cardsharp.games.euchre.public_state import PublicState
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.games.euchre.terminal import action_aliases, action_text
from cardsharp_tools.terminal.screen import SCREEN_LINES, Choice, matching_choices

DRAW_TWICE = ["draw", "end", "1"] * 200
BLUNT = ["check", "high card 9"] * 60  # what is typed to come to an end


TABLES = (
    ("versus", "draw-3"),
    ("blef", "versus", "greedy"),
    ("euchre", "versus", "rules", "--partner", "rules"),
)
every_table = pytest.mark.parametrize("table", TABLES, ids=lambda words: words[0])


@every_table
def test_the_words_are_answered_and_the_end_of_the_input_leaves(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, table: tuple[str, ...]
) -> None:
    """A hint is what the best player weighs."""
    words = "help", "rules", "?", "table", "recap", "history", "undo", "nonsense 7 x", "hint"
    type_lines(monkeypatch, *words)
    told = cli(*table, "--seed", "3", "--hints")
    assert (told.code, told.err) == (ExitCode.OK, "")
    said = told.out
    for answer in (
        "words of its name",
        "This is the first",
        "There is nothing to take back.",
        "That is none of",
        "You have left the table.",
    ):
        assert answer in said, answer
    best = {"versus": "captain", "blef": "reader", "euchre": "pimc"}[table[0]]
    assert said.count(f"{best} would: ") == 1
    assert re.search(r"(?m)^Hint: .+\. ", said)
    assert said.count("By the rule: ") == (3 if best == "captain" else 0)
    assert re.search(r"(?m)^> +\S.* -?\d+\.\d(\d| %)", said), "the options with their values"
    if table[0] == "versus":  # who leaves has lost; of the others such an end is not kept
        shown = cli("show", "last", "--json").json()
        assert (shown["status"], shown["outcome"]["terminated"]) == ("finished", True)
        assert shown["outcome"]["result"] == "lost"


def test_a_choice_is_taken_back_and_the_log_says_so(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not known then is dealt anew, and the reasons of the next choice name it."""
    type_lines(monkeypatch, "1", *["undo"] * 3, *["1"] * 30)
    said = cli("euchre", "versus", "rules", "--partner", "rules", "--seed", "5", "--json")
    assert "Taken back: " in said.err
    assert "What you did not know then is dealt anew." in said.err
    left = said.json()
    assert (left["left"], left["won"]) == (True, False)
    told = cli("show", re.sub(r"-\d+$", "-1", left["match"])).out  # the first deal
    assert re.search("tags versus.* undo", told)
    assert "Taken back before" in " ".join(told.split())


def test_a_whole_game_of_blef_is_played_kept_and_gone_on_with_from_any_of_its_steps(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """We check whatever we may and open with the lowest bet: that ends every game.

    A branch has the cards dealt anew or as they came; `show` and `why` tell it as a match.
    """
    type_lines(monkeypatch, *BLUNT)
    said = cli("blef", "versus", "greedy", "--seed", "1", "--why")
    assert said.code == ExitCode.OK
    assert re.search(r"(You have|greedy has) won[.!]\n", said.out)
    assert "lost the round." in said.out
    assert re.search(r"bet .+: it (held|did not hold)\.\n   ", said.out), "then everybody's cards"
    assert "is out." in said.out or "are out." in said.out
    assert "y our own cards" in said.out
    told = cli("show", "last", "--json").json()
    assert told["outcome"]["result"] == ("won" if "You have won" in said.out else "lost")
    reasons = {step["decision"]["reason"] for step in told["steps"] if step["decision"]}
    assert "Typed at the terminal." in reasons
    assert cli("why", "last", "2").code == ExitCode.OK
    match = told["match"]
    for cards in ((), ("--same-cards",)):
        type_lines(monkeypatch, *BLUNT)
        branched = cli("versus", "--from", f"{match}@4", "--json", *cards)
        assert f"of {match}, then: " in branched.err
        branch = branched.json()["match"]
        assert branch.startswith("branch-")
        shown = cli("show", branch).out
        assert f"tags branch {match}@" in shown
        assert ("same-cards" in shown) is bool(cards)
        assert "typed at the terminal" in cli("why", branch, "1").out.lower()
    for refused in (("--from", f"{match}@9999"), ("--same-cards",), ("--from", match, "--bots=2")):
        assert cli("versus", *refused).code == ExitCode.USAGE


def test_a_window_of_80_by_24_holds_the_question_and_no_hand_of_another_nor_what_cannot_hold(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table, the choices and the prompt are one screen, of however many players.

    With two cards in play there are high cards and pairs; the rest is legal, and in the list.
    """
    monkeypatch.setenv("COLUMNS", "80")
    type_lines(monkeypatch, "quit")
    shown = cli("blef", "versus", "greedy", "--bots", "7").out.splitlines()
    asked = next(number for number, line in enumerate(shown) if "help)? " in line)
    window = "\n".join(shown[max(0, asked + 1 - SCREEN_LINES) : asked + 1])
    assert re.search(r"(?m)^Round \d+; cards: ", window)
    assert "Your hand: " in window
    assert max(map(len, shown)) <= 80
    type_lines(monkeypatch, "hint", "quit")
    said = cli("blef", "versus", "greedy", "--seed", "1", "--bots", "3", "--why").out
    assert len(re.findall(r"(?:9|10|J|Q|K|A)[♣♦♥♠]", said)) == 1
    type_lines(monkeypatch, "?", "quit")
    before, every = cli("blef", "versus", "greedy", "--seed", "1").out.split("help)? ")[:2]
    assert "Pair " in before
    assert "Full house" not in before
    assert "Other bets cannot hold with 2 cards in play; ? lists them too." in before
    assert "Full house" in every


@every_table
def test_a_first_match_explains_the_rules_and_each_thing_once_when_it_comes_up(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, table: tuple[str, ...]
) -> None:
    type_lines(monkeypatch, *["1"] * 15 if table[0] != "blef" else BLUNT)
    said = cli(*table, "--seed", "3", "--teach").out
    begun = {"versus": "Draw cards one by one", "blef": "Everybody holds", "euchre": "You and the"}
    explained = {
        "versus": "Oracle: you see",
        "blef": "High card: one",
        "euchre": "Trumps, from the top",
    }
    assert said.index(begun[table[0]]) < said.index("Your move")
    assert said.count(f"  {explained[table[0]]}") == 1


def test_a_match_is_kept_and_show_and_why_tell_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[datetime] = []

    class Keyboard(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            read.append(datetime.now(UTC))
            return super().readline(size or -1)

    monkeypatch.setattr("sys.stdin", Keyboard("\n".join(DRAW_TWICE)))
    played = cli("versus", "draw-3", "--seed", "4")
    assert played.code == ExitCode.OK
    [listed] = cli("matches", "--json").json()
    started, finished = (datetime.fromisoformat(listed[at]) for at in ("started", "finished"))
    assert started < read[0] < read[-1] < finished
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


def test_a_table_in_the_browser_tells_results_and_faults_until_ctrl_c(
    cli: Cli, tmp_path: Path
) -> None:
    """The link on stderr, each match's result on stdout; what was played is in the log.

    A bot whose process ends is told of by its line, as in the terminal, and its match goes on.
    """
    home, file = {"XDG_DATA_HOME": str(tmp_path)}, tmp_path / "seated.py"
    assert cli("new", str(file)).code == ExitCode.OK
    file.write_text(
        file.read_text().replace("risk = bust", "risk = __import__('os')._exit(7); bust")
    )
    words = ("versus", str(file), "--browser", "--seed", "4", "--json")
    with start_program(*words, environment=home) as process:
        seat = SeatClient(wait_for_line(process.stderr, "/seat/").strip())
        for _ in range(2):
            asked = seat.wait_for_text('id="moves"')
            seat.post_from_script("move", number=question_number(asked), key=choice_keys(asked)[-1])
        seat.submit_form("leave")
        result = json.loads(process.stdout.readline())
        assert (result["left"], result["won"]) == (True, False)
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG_SECONDS) == ExitCode.REPLACED
        said = process.stderr.read()
        assert "seated.py, line" in said
        assert "failed; a safe action was played instead." in " ".join(said.split())
    with start_program("show", result["match"], "--json", environment=home) as shown:
        assert json.loads(shown.communicate()[0])["outcome"]["result"] == "lost"


def test_the_old_name_and_options_still_work(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    type_lines(monkeypatch, "quit")
    said = cli("blef", "play", "--bots", "2", "--strategy", "greedy", "--seed", "1")
    assert (said.code, "bot 2" in said.out) == (ExitCode.OK, True)
    type_lines(monkeypatch, "quit")
    said = cli("euchre", "play", "--partner", "rules", "--opponents", "rules", "--seed", "1")
    assert said.code == ExitCode.OK


def test_euchre_is_played_by_number_to_its_end(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who always types the first number sees the table and gets to the end."""
    type_lines(monkeypatch, *["1"] * 400)
    said = cli("euchre", "versus", "rules", "--partner", "rules", "--seed", "1")
    assert said.code == ExitCode.OK
    assert re.search(r"You have won!|left and right have won\.|right and left have won\.", said.out)
    deals = cli("matches", "--json").json()
    assert len(deals) == said.out.count("-- The score: ") + said.out.count("-- Everybody passed.")
    assert "Typed at the terminal." in cli("show", "last").out
    over = said.out.partition("-- The score: ")[0].count("-- Everybody passed.") + 1
    type_lines(monkeypatch, *["1"] * 6 * over, "quit")
    assert cli("euchre", "versus", "rules", "--partner", "rules", "--seed", "1").code == ExitCode.OK
    left = cli("matches", "--json").json()[: -len(deals)]
    assert 0 < len(left) < len(deals), "of a match that is left the deals are kept that are over"
    for words in (" goes to ", "-- trick for ", "Tricks: you ", "-- The score: you ", "Your card:"):
        assert words in said.out, words
    seen = said.out + "".join(cli("show", deal["match"]).out for deal in deals[:9])
    for words in (
        r"\d order up\b",
        r": (pick|order) up\b",
        r" order up and go alone",
        r"name hearts",
    ):
        assert re.search(words, seen), words
    assert not re.search(r"^\w+: (clubs|diamonds|hearts|spades)\b", seen, re.MULTILINE)


def test_bids_of_euchre_are_typed_as_they_are_said_or_by_their_suit() -> None:
    """Of "hearts" it need not be said that it is not to go alone."""
    turned, hearts = PublicState(parse_card("9H")), SUIT_NAMES.index("hearts")
    alone = Bid(hearts, goes_alone=True)
    for words, bid in (("hearts", Bid(hearts)), ("order", None), ("go alone", alone)):
        bids = (PASS, Bid(hearts), alone)
        there = [Choice("", action_text(one, turned), one, action_aliases(one)) for one in bids]
        found = [one.action for one in matching_choices(words, there)]
        assert found == ([bid] if bid else [*bids[1:]])
