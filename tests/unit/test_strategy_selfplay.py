"""Matches in process: repeatable, paired, and told by figures that add up."""

from random import Random

import pytest
from support.positions import opening

from cardsharp.deadmansdraw.actions import DRAW
from cardsharp.deadmansdraw.cards import RULEBOOK_DECK, SERVER_DECK
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import start
from cardsharp.deadmansdraw.strategies import Decision, build
from workbench.lab.selfplay import (
    Duel,
    Match,
    MatchResult,
    deal,
    duel,
    fair_chance,
    named,
    play_match,
)


def result(winner: int | None) -> MatchResult:
    return MatchResult((3, 5), winner, (1, 2), (3, 4), (0, 1))


def test_a_deal_is_the_whole_deck_with_the_lowest_of_each_suit_discarded() -> None:
    for deck, low in ((SERVER_DECK, 10), (RULEBOOK_DECK, 9)):
        state = deal(Random(1), deck)
        assert len(state.discard_pile) == low
        assert sorted((*state.draw_pile, *state.discard_pile)) == sorted(deck)
    assert {deal(Random(seed)).player for seed in range(20)} == {0, 1}


def test_the_same_seed_plays_the_same_match() -> None:
    results = [
        play_match(build("champion", Random(1)), build("example-java", Random(2)), Random(3))
        for _ in range(2)
    ]
    assert results[0] == results[1]


def test_the_turns_of_a_match_alternate() -> None:
    played = play_match(build("champion", Random(1)), build("third", Random(2)), Random(3))
    assert abs(played.turns[0] - played.turns[1]) <= 1
    assert min(played.actions) >= min(played.turns) > min(played.busts)


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
    match = Match(start((), (), 0), fair_chance(Random(0)))
    match.play(DRAW)
    with pytest.raises(ValueError, match="has ended"):
        match.position()


def test_a_player_against_itself_stands_at_exactly_half() -> None:
    """Each deck is played twice with the seats swapped, so what one seat wins the other loses."""
    mirror = duel(named("champion"), named("champion"), pairs=10, seed=1)
    assert mirror.points == 50
    assert mirror.margin == 0
    assert {match.scores[0] > match.scores[1] for match in mirror.matches} == {True, False}


def test_the_order_of_the_players_does_not_matter() -> None:
    one = duel(named("champion"), named("third"), pairs=10, seed=1)
    two = duel(named("third"), named("champion"), pairs=10, seed=1)
    assert one.points == pytest.approx(100 - two.points)
    assert one.bust_share(0) == pytest.approx(two.bust_share(1))


def test_worker_processes_change_nothing() -> None:
    alone = duel(named("draw-2"), named("example-node"), pairs=6, seed=4)
    shared = duel(named("draw-2"), named("example-node"), pairs=6, seed=4, workers=2)
    assert alone == shared


def test_points_and_their_margin_come_from_the_pairs() -> None:
    """Pair averages of 100, 50, 50 and 25 %: mean 56.25, standard error 15.7."""
    pairs = ((0, 0), (0, 1), (None, None), (None, 1))
    played = Duel(tuple((result(one), result(two)) for one, two in pairs))
    assert played.points == 56.25
    assert played.margin == pytest.approx(1.96 * 15.729, abs=0.01)
    assert "56.2 ± 30.8 % of 8 matches" in str(played)


def test_a_result_swaps_its_sides() -> None:
    swapped = result(1).swapped()
    assert swapped == MatchResult((5, 3), 0, (2, 1), (4, 3), (1, 0))
    assert result(None).swapped().winner is None
