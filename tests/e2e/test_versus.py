"""Tests of `cardsharp versus`: a person plays any game at the terminal or in the browser."""

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
from cardsharp_tools.match_sources.match_logs import resolve_match_log_location
from cardsharp_tools.terminal.screen import SCREEN_LINES, Choice, matching_choices

DRAW_TWICE = ["draw", "end", "1"] * 200
QUICK_GAME_INPUT = ["check", "high card 9"] * 60  # what is typed to come to an end


VERSUS_COMMANDS = (
    ("versus", "draw-3"),
    ("blef", "versus", "greedy"),
    ("euchre", "versus", "rules", "--partner", "rules"),
)
every_versus_command = pytest.mark.parametrize("table", VERSUS_COMMANDS, ids=lambda words: words[0])


@every_versus_command
def test_every_typed_command_is_answered_and_end_of_input_leaves_the_match(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, table: tuple[str, ...]
) -> None:
    """A hint shows the values of the best player."""
    typed_commands = (
        "help",
        "rules",
        "?",
        "table",
        "recap",
        "history",
        "undo",
        "nonsense 7 x",
        "hint",
        "why",
    )
    type_lines(monkeypatch, *typed_commands)
    result = cli(*table, "--seed", "3", "--hints")
    assert (result.code, result.err) == (ExitCode.OK, "")
    output = result.out
    for expected_text in (
        "words of its name",
        "This is the first",
        "There is no move to take back.",
        "That is not one of",
        "You have left the match.",
    ):
        assert expected_text in output, expected_text
    best_player = {"versus": "captain", "blef": "reader", "euchre": "pimc"}[table[0]]
    assert output.count(f"{best_player.capitalize()} would ") == 1
    assert re.search(r"(?m)^Hint: [A-Z].+: [a-z]", output)
    assert output.count("Type why for the numbers.") == 1
    assert output.count("The rule of thumb says: ") == (best_player == "captain")
    assert "\N{SYMBOL FOR NEWLINE}" not in output
    assert re.search(r"(?m)^> +\S.* -?\d+\.\d(\d| %)", output), "the options with their values"
    if table[0] == "versus":  # who leaves has lost; of the others such an end is not kept
        match_record = cli("show", "last", "--json").json()
        assert (match_record["status"], match_record["outcome"]["terminated"]) == ("finished", True)
        assert match_record["outcome"]["result"] == "lost"


def test_an_undone_choice_is_recorded_in_the_log(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """An undo deals the unknown cards again, and the reason of the next choice records it."""
    type_lines(monkeypatch, "1", *["undo"] * 3, *["1"] * 30)
    result = cli("euchre", "versus", "rules", "--partner", "rules", "--seed", "5", "--json")
    assert "Taken back: " in result.err
    assert "The cards that you did not know are dealt again." in result.err
    summary = result.json()
    assert (summary["left"], summary["won"]) == (True, False)
    output = cli("show", re.sub(r"-\d+$", "-1", summary["match"])).out  # the first deal
    assert re.search("tags versus.* undo", output)
    assert "Taken back before" in " ".join(output.split())


def test_a_game_of_blef_is_played_logged_and_branched(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quick game of Blef is logged, and branches of it can be displayed.

    The person checks whenever possible and opens with the lowest bet, so every game ends
    soon. A branch has new cards or the same cards.
    """
    type_lines(monkeypatch, *QUICK_GAME_INPUT)
    result = cli("blef", "versus", "greedy", "--seed", "1", "--explain")
    assert result.code == ExitCode.OK
    assert re.search(r"(You have|Greedy has) won[.!]\n", result.out)
    assert "lost the round and " in result.out
    assert re.search(r"The bet, .+, (held|did not hold)\.\n   ", result.out), "then all cards"
    assert "is out." in result.out or "are out." in result.out
    assert "y our own cards" in " ".join(result.out.split())
    record = cli("show", "last", "--json").json()
    assert record["outcome"]["result"] == ("won" if "You have won" in result.out else "lost")
    reasons = {step["decision"]["reason"] for step in record["steps"] if step["decision"]}
    assert "Typed at the terminal." in reasons
    assert cli("why", "last", "2").code == ExitCode.OK
    match_id = record["match"]
    lesson = re.search(r"versus --from-position (\S+)@\d+\n", cli("analyse", "last").out)
    assert lesson is not None
    assert lesson[1] == match_id, "`last` may soon be another match"
    elsewhere = cli("analyse", match_id, "--store", resolve_match_log_location()).out
    assert "versus --from-position" not in elsewhere, "it would not find the match there"
    for cards in ((), ("--same-cards",)):
        type_lines(monkeypatch, *QUICK_GAME_INPUT)
        branch_result = cli("versus", "--from-position", f"{match_id}@4", "--json", *cards)
        assert f"You continue match {match_id} at step " in branch_result.err
        branch_id = branch_result.json()["match"]
        assert branch_id.startswith("branch-")
        branch_text = cli("show", branch_id).out
        assert f"tags branch {match_id}@" in branch_text
        assert ("same-cards" in branch_text) is bool(cards)
        assert "typed at the terminal" in cli("why", branch_id, "1").out.lower()
    for invalid_options in (
        ("--from-position", f"{match_id}@9999"),
        ("--same-cards",),
        ("--from-position", match_id, "--bots=2"),
    ):
        assert cli("versus", *invalid_options).code == ExitCode.USAGE


def test_an_80_by_24_terminal_shows_the_question_but_no_other_hand_or_impossible_bet(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table, the choices and the prompt fit on one screen for any number of players.

    With two cards in play only high cards and pairs are offered; the other bets are legal,
    and `?` lists them.
    """
    monkeypatch.setenv("COLUMNS", "80")
    type_lines(monkeypatch, "quit")
    lines = cli("blef", "versus", "greedy", "--bots", "7").out.splitlines()
    prompt_index = next(number for number, line in enumerate(lines) if "help)? " in line)
    window = "\n".join(lines[max(0, prompt_index + 1 - SCREEN_LINES) : prompt_index + 1])
    assert re.search(r"(?m)^Round \d+; cards: ", window)
    assert "Your hand: " in window
    assert max(map(len, lines)) <= 80
    type_lines(monkeypatch, "hint", "quit")
    output = cli("blef", "versus", "greedy", "--seed", "1", "--bots", "3", "--explain").out
    assert len(re.findall(r"(?:9|10|J|Q|K|A)[♣♦♥♠]", output)) == 1
    type_lines(monkeypatch, "?", "quit")
    initial_choices, all_choices = cli("blef", "versus", "greedy", "--seed", "1").out.split(
        "help)? "
    )[:2]
    assert "Pair " in initial_choices
    assert "Full house" not in initial_choices
    assert "Other bets cannot hold with 2 cards in play; ? lists them too." in initial_choices
    assert "Full house" in all_choices


@every_versus_command
def test_a_first_match_explains_the_rules_and_each_term_once(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, table: tuple[str, ...]
) -> None:
    type_lines(monkeypatch, *["1"] * 15 if table[0] != "blef" else QUICK_GAME_INPUT)
    output = cli(*table, "--seed", "3", "--teach").out
    introductions = {
        "versus": "Draw cards one by one",
        "blef": "Everybody holds",
        "euchre": "You and the",
    }
    explanations = {
        "versus": "Oracle: you see",
        "blef": "High card: one",
        "euchre": "Trumps, from the top",
    }
    assert output.index(introductions[table[0]]) < output.index("Your move")
    assert output.count(f"  {explanations[table[0]]}") == 1


def test_a_match_is_logged_and_can_be_displayed_and_explained(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_times: list[datetime] = []

    class Keyboard(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            read_times.append(datetime.now(UTC))
            return super().readline(size or -1)

    monkeypatch.setattr("sys.stdin", Keyboard("\n".join(DRAW_TWICE)))
    result = cli("versus", "draw-3", "--seed", "4")
    assert result.code == ExitCode.OK
    [match_entry] = cli("matches", "--json").json()
    started, finished = (
        datetime.fromisoformat(match_entry[field]) for field in ("started", "finished")
    )
    assert started < read_times[0] < read_times[-1] < finished
    assert re.search(r"(You have won!|Draw-3 has won\.|The match is a tie\.)\n", result.out)
    match_record = cli("show", "last", "--json").json()
    assert match_record["header"]["names"] in (["you", "draw-3"], ["draw-3", "you"])
    has_won = "You have won!" in result.out
    assert (match_record["outcome"]["result"] == "won") is has_won
    assert len(match_record["turns"]) == match_record["outcome"]["turns"]
    your_seat = match_record["header"]["names"].index("you")
    our_turn, bot_turn = (
        next(t["turn"] for t in match_record["turns"] if t["player"] == seat)
        for seat in (your_seat, 1 - your_seat)
    )
    assert "Typed at the terminal." in cli("why", "last", str(our_turn)).out
    assert "by      draw-3" in cli("why", "last", str(bot_turn)).out


def test_a_browser_match_prints_results_and_faults_until_ctrl_c(cli: Cli, tmp_path: Path) -> None:
    """The link is on stderr, each result on stdout, and each match in the log.

    If the process of a bot ends, the fault is reported by its line, and the match continues.
    """
    environment, file = {"XDG_DATA_HOME": str(tmp_path)}, tmp_path / "seated.py"
    assert cli("new", str(file)).code == ExitCode.OK
    file.write_text(
        file.read_text().replace("risk = bust", "risk = __import__('os')._exit(7); bust")
    )
    arguments = ("versus", str(file), "--browser", "--seed", "4", "--json")
    with start_program(*arguments, environment=environment) as process:
        seat = SeatClient(wait_for_line(process.stderr, "/seat/").strip())
        for _ in range(2):
            page = seat.wait_for_text('id="moves"')
            seat.post_from_script("move", number=question_number(page), key=choice_keys(page)[-1])
        seat.submit_form("leave")
        result = json.loads(process.stdout.readline())
        assert (result["left"], result["won"]) == (True, False)
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG_SECONDS) == ExitCode.REPLACED
        error_output = process.stderr.read()
        assert "seated.py, line" in error_output
        assert "failed. A safe action was played instead." in " ".join(error_output.split())
    with start_program("show", result["match"], "--json", environment=environment) as show_process:
        assert json.loads(show_process.communicate()[0])["outcome"]["result"] == "lost"


def test_the_old_name_and_options_still_work(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    type_lines(monkeypatch, "quit")
    result = cli("blef", "play", "--bots", "2", "--strategy", "greedy", "--seed", "1")
    assert (result.code, "Bot 2" in result.out) == (ExitCode.OK, True)
    type_lines(monkeypatch, "quit")
    result = cli("euchre", "versus", "--partner", "rules", "--opponents", "rules", "--seed", "1")
    assert result.code == ExitCode.OK


def test_euchre_is_played_by_number_to_its_end(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who always types the first number sees the table and reaches the end."""
    type_lines(monkeypatch, *["1"] * 400)
    result = cli("euchre", "versus", "rules", "--partner", "rules", "--seed", "1")
    assert result.code == ExitCode.OK
    assert re.search(
        r"You have won!|Left and Right have won\.|Right and Left have won\.", result.out
    )
    deals = cli("matches", "--json").json()
    assert len(deals) == result.out.count("The score is ") + result.out.count(
        "Everybody passed, so"
    )
    assert "Typed at the terminal." in cli("show", "last").out
    redeal_count = result.out.partition("The score is ")[0].count("Everybody passed, so") + 1
    type_lines(monkeypatch, *["1"] * 6 * redeal_count, "quit")
    assert cli("euchre", "versus", "rules", "--partner", "rules", "--seed", "1").code == ExitCode.OK
    unfinished_deals = cli("matches", "--json").json()[: -len(deals)]
    assert 0 < len(unfinished_deals) < len(deals), (
        "of a match that is left the deals are kept that are over"
    )
    for expected_pattern in (
        " up the ",
        " won the trick.",
        "You have 1 trick, they have ",
        "The score is ",
        "Your card:",
    ):
        assert expected_pattern in result.out, expected_pattern
    full_output = result.out + "".join(cli("show", deal["match"]).out for deal in deals[:9])
    for expected_pattern in (
        r"\d order up\b",
        r"(picked|ordered) up the \w+ of ",
        r" order up and go alone",
        r"named hearts",
    ):
        assert re.search(expected_pattern, full_output), expected_pattern
    assert not re.search(r"^\w+: (clubs|diamonds|hearts|spades)\b", full_output, re.MULTILINE)


def test_euchre_bids_are_typed_in_full_or_by_suit() -> None:
    """The word "hearts" alone means a bid with the partner."""
    public_state, hearts = PublicState(parse_card("9H")), SUIT_NAMES.index("hearts")
    alone_bid = Bid(hearts, goes_alone=True)
    for typed_text, bid in (("hearts", Bid(hearts)), ("order", None), ("go alone", alone_bid)):
        bids = (PASS, Bid(hearts), alone_bid)
        choices = [
            Choice("", action_text(candidate, public_state), candidate, action_aliases(candidate))
            for candidate in bids
        ]
        actions = [choice.action for choice in matching_choices(typed_text, choices)]
        assert actions == ([bid] if bid else [*bids[1:]])
