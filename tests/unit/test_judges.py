"""Who judges Blef and Euchre, and what is said of matches in which not all can be judged."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nim.rules import State
from support.games import GAMES, id_of
from support.played import Decides, Kept, kept, played, taken
from support.size import cases

from cardsharp.analysis import Analysis, analyse
from cardsharp.cloud.ports import MoveRecord
from cardsharp.errors import ConfigError
from cardsharp.euchre.cards import DECK, name, parse
from cardsharp.euchre.decisions import decisions
from cardsharp.euchre.judge import luck_of
from cardsharp.euchre.records import DealKey, Record
from cardsharp.euchre.replay import header_body
from cardsharp.game import Game
from cardsharp.games import games
from cardsharp.replay import header_of
from workbench.lab.again import TrialPlayer
from workbench.lab.extras import Taken
from workbench.show.analysis import Analysed

BLEF, EUCHRE = (next(g for g in GAMES if g.name == name) for name in ("blef", "euchre"))
JUDGES = {"blef": "bayes", "euchre": "pimc"}


@pytest.mark.parametrize("game", [BLEF, EUCHRE], ids=lambda game: str(game.name))
def test_start_luck_and_skill_are_the_result_and_the_judge_itself_is_perfect(game: Game) -> None:
    players = Decides(game, JUDGES[game.name]), Decides(game, "random", 3)
    record, moves = played(game, players)
    found = analyse(game, record, moves)
    first, second = found.players
    assert found.start + found.luck + found.misjudged + first.skill - second.skill == pytest.approx(
        found.result
    )
    assert [point.sequence for point in found.curve] == [move.sequence for move in moves]
    assert found.curve[-1].worth == found.result
    assert (second.accuracy or 100) < 100
    assert (first.accuracy or 0) > 99.9
    if game is EUCHRE:
        points = record.outcome["scores"]  # type: ignore[index]
        assert found.result == points[0] - points[1]
        dealt = record.header["dealt"]
        assert found.chance == luck_of(tuple(map(parse, dealt)))  # type: ignore[arg-type]
        untold = {name: told for name, told in record.header.items() if name != "dealt"}
        assert analyse(game, replace(record, header=untold), moves).chance is None


def test_of_a_deal_that_runs_and_of_three_players_not_all_is_told() -> None:
    deal = Record(DealKey("t", 1, 1), tuple(DECK))
    assert header_body(deal, over=True)["dealt"] == [name(card) for card in DECK]
    assert set(header_body(deal, over=True)) - set(header_body(deal, over=False)) == {"dealt"}
    player = Decides(BLEF, "random", seats=3)
    notes = taken(player.simulation.deal(Random(1)), (player,), Random(1))
    [(record, moves)] = kept(BLEF, notes, 3)
    with pytest.raises(ConfigError, match="has 3 players; of Blef only two are analysed"):
        analyse(BLEF, record, moves)


def test_both_players_of_blef_are_judged_also_one_who_gave_no_reasons() -> None:
    record, moves = played(BLEF, (Decides(BLEF, "random", 1), Decides(BLEF, "greedy")))
    told = [MoveRecord(move.sequence, None, move.facts) for move in moves]
    whole, without = (analyse(BLEF, record, one) for one in (moves, told))
    assert [one.seat for one in whole.decisions] == [one.seat for one in without.decisions]
    assert {one.seat for one in whole.decisions} == {0, 1}
    assert whole.players == without.players


def test_a_seat_that_we_took_is_told_by_the_bets_we_saw_and_only_ours_are_tried() -> None:
    """Our bot's header has one name and no seats, and the log our reasons alone."""
    record, moves = played(BLEF, (Decides(BLEF, "greedy"), Decides(BLEF, "threshold")))
    ours = [m if m.intent and m.intent["seat"] == 1 else replace(m, intent=None) for m in moves]
    header = {"game": "blef", "names": ["two"], "players": ["two"]}
    bots = replace(record, header=header)
    one, two = analyse(BLEF, record, moves), analyse(BLEF, bots, ours)
    assert two.players == one.players
    shown = Analysed.of(two, header_of(bots))
    assert (shown.names, shown.hero) == (("opponent", "two"), "two")
    tried = TrialPlayer(BLEF, "greedy").asked(bots, ours)
    assert {asked.step.seat for asked in tried} == {1}


def test_others_are_judged_in_euchre_by_the_hands_that_they_have_played() -> None:
    record, moves = played(EUCHRE, (Decides(EUCHRE, "rules"),), 2)
    open_to_all = [replace(move, intent=None) for move in moves]
    kept_by_us, shown = (list(decisions(record, one)) for one in (moves, open_to_all))
    there = {one.step.sequence: one for one in kept_by_us}
    assert {one.step.seat for one in shown} >= {0, 1, 2}
    for one in shown:
        assert one.position == there[one.step.sequence].position
        assert one.step.ours is not None
        assert one.options == there[one.step.sequence].options
    assert {one.step.seat for one in decisions(record, open_to_all[:6])} == set()


NIM = next(game for game in GAMES if game.name == "nim")
JUDGED = [game for game in games() if game.judge is not None]


@st.composite
def games_of_nim(draw: st.DrawFn) -> Kept:
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
def test_figures_add_up_and_what_follows_changes_no_judgement(game: Game, seed: int) -> None:
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
