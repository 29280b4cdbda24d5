"""Matches of Dead Man's Draw in process: repeatable, and told by figures that add up."""

from random import Random

import pytest
from support.matches import RunningMatch, play_match
from support.positions import opening

from cardsharp.deadmansdraw.actions import DRAW
from cardsharp.deadmansdraw.cards import RULEBOOK_DECK, SERVER_DECK
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import start
from cardsharp.deadmansdraw.simulation import deal, fair_chance
from cardsharp.deadmansdraw.strategies import Decision, build
from cardsharp.errors import Illegal


def test_a_deal_is_the_whole_deck_with_the_lowest_of_each_suit_discarded() -> None:
    for deck, low in ((SERVER_DECK, 10), (RULEBOOK_DECK, 9)):
        state = deal(Random(1), deck)
        assert len(state.discard_pile) == low
        assert sorted((*state.draw_pile, *state.discard_pile)) == sorted(deck)
    assert {deal(Random(seed)).player for seed in range(20)} == {0, 1}


def test_the_turns_of_a_match_alternate() -> None:
    played = play_match(build("champion", Random(1)), build("third", Random(2)), Random(3))
    assert abs(played["turns"][0] - played["turns"][1]) <= 1
    assert min(played["actions"]) >= min(played["turns"]) > min(played["busts"])


class Recorder:
    """Draws whatever comes and keeps the turns and moves that it was shown."""

    def __init__(self) -> None:
        self.turns: list[int] = []
        self.moves: list[int] = []

    def decide(self, position: Position) -> Decision:
        self.turns.append(position.turn)
        self.moves.append(len(position.history))
        return Decision(DRAW, "Always.")


def test_a_position_tells_its_turn_and_what_was_played() -> None:
    """The turn counts up at once when the other player is to act, as on the server."""
    pile = opening("server", Random(0)).draw_pile
    plain = tuple(c for c in pile if c.suit in ("Anchor", "Mermaid", "Key"))
    recorder = Recorder()
    play_match(recorder, recorder, Random(0), start(plain, (), 0))
    assert recorder.moves == list(range(1, len(plain) + 1))
    assert recorder.turns[0] == 1
    assert set(recorder.turns) == set(range(1, max(recorder.turns) + 1))


def test_a_finished_match_has_no_position() -> None:
    match = RunningMatch(start((), (), 0), fair_chance(Random(0)))
    match.play(DRAW)
    with pytest.raises(Illegal, match="has ended"):
        match.position()
