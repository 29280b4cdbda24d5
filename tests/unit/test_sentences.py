"""Sentences of the games: golden texts of a deal, a round and a turn, and rules for all texts."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from support.game_room import match_config

from cardsharp.analysis.replay import StoredDecision
from cardsharp.core.sentences import (
    capitalise,
    count_in_words,
    count_text,
    list_text,
    number_text,
    to_sentence,
)
from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.sentences import action_predicate, bet_text
from cardsharp.games.deadmansdraw.sentences import action_name, label_action
from cardsharp.games.euchre.public_state import TrumpCall
from cardsharp.games.euchre.rules import DealResult
from cardsharp.games.euchre.sentences import deal_result_sentence
from cardsharp.games.euchre.sentences import label_action as label_euchre_action
from cardsharp.play.strategy import Decision
from cardsharp_tools.game_rooms.match_config import result_text
from cardsharp_tools.terminal.human_player import Advice
from cardsharp_tools.terminal.screen import AnyScreen, RenderedMove

GAMES = ("deadmansdraw", "blef", "euchre")

EUCHRE_DEAL = """\
You passed.
Left ordered up the jack of clubs.
Right discarded a card.
You led the ace of diamonds.
Left played the jack of diamonds.
Partner played the 10 of spades.
Right played the 10 of diamonds; you won the trick.
You led the 9 of hearts.
Left played the ace of hearts.
Partner played the king of hearts.
Right played the queen of hearts; Left won the trick.
Left led the 10 of hearts.
Partner trumped with the queen of clubs.
Right trumped with the jack of spades, the left bower.
You played the king of diamonds; Right won the trick.
Right led the jack of clubs, the right bower.
You played the 9 of clubs.
Left played the 10 of clubs.
Partner played the ace of clubs; Right won the trick.
Right led the ace of spades.
You played the 9 of spades.
Left trumped with the king of clubs.
Partner played the queen of spades; Left won the trick.
Left called clubs and took 4 tricks: they score 1 point.
The score is 0 for you and 1 for them.
"""

BLEF_ROUND = """\
Bot 1 bet a 9 as high card.
Bot 2 raised to a king as high card.
You raised to a pair of kings.
Bot 1 checked your pair of kings.
The bet, a pair of kings, did not hold.
   Bot 1: 9♣
   Bot 2: K♦
   You: 9♦
You lost the round and play on with 2 cards.
"""

DEAD_MANS_DRAW_TURNS = """\
You drew Mermaid 8.
You drew Map 6.
You dug up Kraken 2.
You drew Kraken 3 and busted.
Draw-3 drew Chest 4 and Map 7, dug up Key 2, drew Key 4, and busted.
You drew Mermaid 6.
You banked 6 points.
Draw-3 drew Map 3, dug up Chest 4, drew Anchor 5, and banked 12 points.
You drew Oracle 7.
You banked 7 points.
Draw-3 drew Map 4, dug up Key 2, drew Cannon 4, shot Mermaid 6, and banked 7 points.
"""


class RecordingPlayer:
    """Person whose choices are random, and who keeps every line that a screen shows."""

    def __init__(self, screen: AnyScreen, rng: Random) -> None:
        self.screen, self._rng = screen, rng
        self.chapters: list[list[str]] = [[]]

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        """Return a legal choice, a plausible one in Blef so that a round lasts."""
        choices = self.screen.choices(position)
        return Decision(self._rng.choice(choices[:6]).action, "Chosen at random.")

    def show_move(self, move: RenderedMove) -> None:
        """Keep the lines of a move."""
        self.chapters[-1] += [getattr(line, "plain", str(line)) for line in move.lines]
        if move.ends_chapter:
            self.chapters.append([])

    def show_position(self, position: Any, to_act: int | None) -> None:  # noqa: ANN401
        """Ignore the position."""


def play_chapters(game: str, seed: str, *, show_reasons: bool = False) -> list[list[str]]:
    """Return the lines of a match by chapter, as its only person sees them."""
    sitting = match_config(game, seed=seed, bot_count=2 if game == "blef" else None).make_match()
    you = sitting.host_seat
    player = RecordingPlayer(sitting.screen(you), Random(seed))
    sitting.play({you: player}, show_reasons=show_reasons)
    return player.chapters


def lines_of_matches(*, show_reasons: bool = False) -> Iterator[str]:
    """Yield the lines of a few matches of every game."""
    for game in GAMES:
        for seed in ("1", "2", "3"):
            for chapter in play_chapters(game, seed, show_reasons=show_reasons):
                yield from chapter


def test_a_whole_deal_of_euchre_is_told_in_sentences() -> None:
    assert "\n".join(play_chapters("euchre", "words")[0]) == EUCHRE_DEAL.rstrip()


def test_a_whole_round_of_blef_is_told_in_sentences() -> None:
    assert "\n".join(play_chapters("blef", "round 0")[0]) == BLEF_ROUND.rstrip()


def test_the_turns_of_dead_mans_draw_are_told_in_sentences() -> None:
    chapters = play_chapters("deadmansdraw", "words")
    assert "\n".join(line for chapter in chapters[:3] for line in chapter) == (
        DEAD_MANS_DRAW_TURNS.rstrip()
    )


def test_every_line_is_a_sentence() -> None:
    """It has a capital, a full stop, single blanks, typographic dashes and correct numbers."""
    for line in lines_of_matches(show_reasons=True):
        text = line.strip()
        hand = re.fullmatch(r"[\w ]+: (?:(?:9|10|[JQKA])[♣♦♥♠] ?)+", text)
        assert hand or text[0].isupper() or text[0].isdigit(), line
        assert hand or text.endswith((".", "!", ":", ")")), line
        assert "  " not in text, line
        assert not re.search(r"--|->|\.\.\.|\.\.$|: \.", text), line
        assert not re.search(r"\b1 (?:tricks|points|cards)\b|\bone (?:tricks|points)\b", text), line
        assert not re.search(r"\b(?!1 )\d+ (?:trick|point)\b", text), line
        assert not re.search(r"\b[Yy]ou (?:is|was|has|plays|scores)\b", text), line


@pytest.mark.parametrize("count", range(30))
def test_a_noun_agrees_with_its_number(count: int) -> None:
    is_one = count == 1
    assert count_text(count, "trick") == f"{count} trick{'' if is_one else 's'}"
    assert count_in_words(count, "inaccuracy") == (
        "one inaccuracy" if is_one else f"{number_text(count)} inaccuracies"
    )
    assert count_text(count, "match").endswith("match" if is_one else "matches")


def test_texts_become_sentences() -> None:
    assert to_sentence("left  passed ") == "Left passed."
    assert to_sentence("you have won!") == "You have won!"
    assert list_text(["you", "Left", "Right"]) == "you, Left and Right"
    assert list_text([]) == ""
    assert result_text(["Right", "Left"], player_quit=False) == "Right and Left have won."
    assert result_text(["Captain"], player_quit=False) == "Captain has won."
    assert result_text(["You", "Partner"], player_quit=False) == "You have won!"


@pytest.mark.parametrize("tricks", range(6))
@pytest.mark.parametrize("caller", ["you", "Left"])
@pytest.mark.parametrize("alone", [True, False])
def test_every_result_of_a_deal_is_a_sentence(tricks: int, caller: str, alone: bool) -> None:
    points = (2, 0) if tricks < 3 else (0, 1)
    result = DealResult(points, 1, tricks)
    text = deal_result_sentence(result, TrumpCall(1, 2, alone), caller, "they")
    assert text.startswith(f"{capitalise(caller)} called hearts")
    assert text.endswith((" points.", " point."))
    assert ("euchred" in text) == (tricks < 3)
    assert ("1 trick" in text) == (tricks == 1)
    assert "1 tricks" not in text


@pytest.mark.parametrize("bet", range(len(BETS)))
def test_every_bet_has_a_text_in_a_sentence(bet: int) -> None:
    text = bet_text(bet)
    assert text[0].islower()
    assert not re.search(r"\ba [aeiou]|[()]|  ", text.replace("a ace", "an ace")), text
    assert action_predicate(bet, None, "") == f"bet {text}"
    checked = action_predicate(CHECK, bet, "you")
    assert checked == f"checked your {bet_text(bet, has_article=False)}"


@pytest.mark.parametrize(
    ("logged", "label"),
    [
        ("Draw", "draw"),
        ("EndTurn", "bank"),
        ("EndTurn (autopick)", "bank (autopick)"),
        ("Hook: Key3", "hook Key 3"),
        ("Map: Mermaid9", "dig up Mermaid 9"),
        ("Oracle: not taken", "leave the card"),
        ("out of time", "out of time"),
    ],
)
def test_logged_actions_have_the_names_of_the_table(logged: str, label: str) -> None:
    assert label_action(logged) == label


def test_actions_of_every_game_have_one_name() -> None:
    """The name of an action is the same at the table, in a hint and in an analysis."""
    config = match_config("deadmansdraw")
    simulation = config.simulation
    state = simulation.initial_state(Random(1))
    for action in simulation.legal_actions(state):
        assert label_action(str(action)) == action_name(action)
    assert label_euchre_action("play KH") == "K♥"
    assert label_euchre_action("discard 10C") == "discard 10♣"
    assert label_euchre_action("order up and go alone") == "order up and go alone"


@pytest.mark.parametrize(
    ("action", "reason", "sentence"),
    [
        ("draw", "Three points are at stake.", "Draw: three points are at stake."),
        ("K♥", "A trump beats 9♣.", "K♥: a trump beats 9♣."),
        ("discard 9♣", "Q♠ is missed least.", "Discard 9♣: Q♠ is missed least."),
        ("hook Key 3", "Key 3 is safe.", "Hook Key 3: Key 3 is safe."),
    ],
)
def test_a_hint_is_one_sentence(action: str, reason: str, sentence: str) -> None:
    assert Advice(StoredDecision(action=action, reason=reason)).sentence == sentence


def test_a_reason_is_told_without_the_action_that_stands_before_it() -> None:
    for action, reason in (("EndTurn", "Stop: It is."), ("Draw", "draw: it is."), ("x", "It is.")):
        decision = StoredDecision(action=action, reason=reason)
        assert decision.reason_without_action == "It is."
