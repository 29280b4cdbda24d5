"""Whatever is played, the figures of an analysis add up; a perfect judge finds no luck in Nim."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nim.rules import State
from support.games import GAMES, id_of
from support.played import Decides, Kept, kept, played
from support.size import cases

from cardsharp.analysis import Analysis, analyse
from cardsharp.game import Game
from cardsharp.games import games
from workbench.lab.extras import Taken

NIM = next(game for game in GAMES if game.name == "nim")
JUDGED = [game for game in games() if game.judge is not None]


@st.composite
def games_of_nim(draw: st.DrawFn) -> Kept:
    """A game in which everybody takes anything, over or not."""
    heaps = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    state, notes = State(heaps), []
    for _ in range(draw(st.integers(1, sum(heaps)))):
        if any(state.heaps):
            action = draw(st.sampled_from(state.options()))
            notes.append(Taken(state, action, None))
            state = state.without(action)
    return kept(NIM, [*notes, Taken(state, None, None)])[0]


def check_sum(found: Analysis) -> None:
    one, two = found.players
    assert found.start + found.luck + found.misjudged + one.skill - two.skill == pytest.approx(
        found.end
    )
    assert found.result in {None, found.end}
    assert (one.luck, two.luck) == (found.luck, -found.luck)
    for decision in found.decisions:
        mine = decision.cost if decision.seat % 2 == 0 else -decision.cost
        assert decision.before - mine + decision.luck == pytest.approx(decision.after)
        assert 0 <= decision.cost <= decision.stake + 1e-12
    assert all(player.accuracy is None or 0 <= player.accuracy <= 100 for player in found.players)


@given(games_of_nim())
@settings(max_examples=cases(20, every=1000), deadline=None)
def test_nim_has_no_luck_and_only_what_loses_a_won_game_costs(game: Kept) -> None:
    found = analyse(NIM, *game)
    check_sum(found)
    assert found.luck == 0
    for one in found.decisions:
        assert one.cost == float(one.before != one.after)


@pytest.mark.parametrize("game", JUDGED, ids=id_of)
@pytest.mark.parametrize("seed", range(cases(1, every=30)))
def test_the_figures_of_any_match_add_up_and_what_follows_changes_no_judgement(
    game: Game, seed: int
) -> None:
    """A match that is cut off says of the decisions before what the whole one says."""
    names = game.ladder or (game.default_strategy,) * 2
    players = [Decides(game, names[(seed + side) % 2], seed) for side in range(2)]
    record, moves = played(game, players, seed)
    whole = analyse(game, record, moves)
    part = analyse(game, record, moves[:8])
    check_sum(whole)
    check_sum(part)
    later = {"after", "luck"}
    for one, two in zip(part.decisions, whole.decisions, strict=False):
        assert one.model_dump(exclude=later) == two.model_dump(exclude=later)
