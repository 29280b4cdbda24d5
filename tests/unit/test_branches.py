"""What is made of stored matches of every game: branches, and judgements of Blef and Euchre."""

from dataclasses import replace
from functools import cache
from itertools import groupby
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nim.rules import State
from support.case_counts import case_count
from support.game_room import FAST_STRATEGIES, step_texts
from support.game_room import play_branch as branched
from support.games import (
    GAMES,
    SAMPLE_SPECS,
    StoredMatch,
    StrategyPlayer,
    game_id,
    game_simulation,
    new_match,
    play_match,
    play_on,
    stored_match,
)

import cardsharp.play.catalog
from cardsharp.analysis.match_analysis import MatchAnalysis, analyse
from cardsharp.analysis.replay import header_of
from cardsharp.errors import ConfigError
from cardsharp.games.euchre.cards import DECK, card_name, parse_card
from cardsharp.games.euchre.history.decisions import decision_points
from cardsharp.games.euchre.history.replay import header_body
from cardsharp.games.euchre.judge import deal_luck
from cardsharp.games.euchre.service.deal_store import DealKey, DealRecord
from cardsharp.games.euchre.simulation import WINNING_SCORE
from cardsharp.play.catalog import all_games
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchStatus, MoveRecord
from cardsharp_tools.game_rooms.match_branch import find_branch_point
from cardsharp_tools.lab.backtest import BacktestPlayer
from cardsharp_tools.lab.game_adapter import PlayedAction
from cardsharp_tools.terminal.analysis_report import AnalysisReport

NAMED = {game.name: game for game in GAMES}
BLEF, EUCHRE, NIM = (NAMED[name] for name in ("blef", "euchre", "nim"))
every_game = pytest.mark.parametrize("game", GAMES, ids=game_id)


@pytest.fixture(autouse=True)
def _mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        cardsharp.play.catalog,
        "GAME_MODULES",
        (*cardsharp.play.catalog.GAME_MODULES, *SAMPLE_SPECS),
    )


@cache
def match_of(game: Game) -> StoredMatch:
    quick = FAST_STRATEGIES.get(game.name, game.default_strategy)
    return play_match(game, [StrategyPlayer(game, quick, 1 + one) for one in (0, 1)])


@every_game
def test_a_branch_begins_with_what_its_player_knew_and_is_kept(game: Game) -> None:
    """From any step, also of a branch: what happened before is there, what came after it is not.

    Of a match that runs the cards to come are not to be had.
    """
    record, moves = match_of(game)
    known = {one.step.sequence: one.position for one in game.list_decisions.load()(record, moves)}
    step = max(1, len(moves) // case_count(2, full=3))
    for turn, number in enumerate(range(1, len(moves), step)):
        same = turn % 2 == 1
        point = find_branch_point(record, moves, number, same_cards=same)
        branch = branched(point)
        assert branch.simulation.current_position(branch.opening[1]) == known[point.step.sequence]
        (made, told), *_ = branch.stored_parts()
        header = header_of(made)
        assert (header.branch.of, header.branch.step) == (record.match_id, point.step_number)
        assert (header.branch.same, made.status) == (same, MatchStatus.FINISHED)
        before = point.step_number - 1
        assert len(told) > before
        assert step_texts(made, told, game, before) == step_texts(record, moves, game, before)
        own = {step.sequence for step in point.steps[:-1] if same or step.seat == point.step.seat}
        reasons = {move.sequence: move.intent for move in told}
        for move in moves:  # what others thought would tell cards that are others now
            if move.sequence < point.step.sequence:
                assert reasons[move.sequence] == (move.intent if move.sequence in own else None)
    first = branched(find_branch_point(record, moves, len(moves) // 2)).stored_parts()[0]
    ((made, _), *_) = branched(find_branch_point(*first, 1)).stored_parts()
    assert header_of(made).branch.of == first[0].match_id  # type: ignore[union-attr]
    running = replace(record, status=MatchStatus.RUNNING, outcome=None)
    with pytest.raises(ConfigError, match="not over"):
        find_branch_point(running, moves, same_cards=True)
    with pytest.raises(ConfigError, match="from step 9999 on"):
        find_branch_point(record, moves, 9999)


def test_a_branch_of_a_deal_goes_on_to_the_ten_points_of_its_match() -> None:
    """From the score before the deal; where that is not told the deal is the last one."""
    players = [StrategyPlayer(EUCHRE, "rules", one) for one in (1, 2)]
    record, moves = stored_match(EUCHRE, play_on(new_match(EUCHRE, 1), players, Random(1)))[3]
    score: Any = record.header["score"]
    point = find_branch_point(record, moves, 1)
    side, branch = point.seat % 2, branched(point)
    points, parts, end = [score[side]], branch.stored_parts(), branch.state
    for made, _ in parts:
        seats, scores = header_of(made).seats, (made.outcome or {})["scores"]
        points.append(scores[min(seats) % 2])  # type: ignore[index]
        assert "branch" in header_of(made).tags
        assert made.header["score"][min(seats) % 2] == sum(points[:-1])  # type: ignore[index]
    assert len(parts) > 1
    assert sum(points) == end.points[side]
    assert max(end.points) >= WINNING_SCORE
    seen = branch.simulation.current_position(branch.opening[1])
    standing = branch.screen(point.seat).status_line(seen)
    assert f"core: you {score[side]}, they {score[1 - side]};" in standing
    alone = replace(record, header={n: part for n, part in record.header.items() if n != "score"})
    assert branched(find_branch_point(alone, moves, 1)).state.finished == ()


HIDDEN = {
    "deadmansdraw": lambda state: state.state.draw_pile,
    "blef": lambda state: state.current_round.hands,
    "euchre": lambda state: state.current.deal.cards[:21],
    "kuhn": lambda state: state.cards,
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_was_hidden_is_dealt_anew_unless_the_same_cards_are_asked_for(name: str) -> None:
    """So a branch tells nobody what would have come; once the match is over it may."""
    game, seeds = NAMED[name], range(12)
    record, moves = match_of(game)
    fair, same = find_branch_point(record, moves), find_branch_point(record, moves, same_cards=True)
    dealt, there = (
        [str(HIDDEN[name](point.start_state(Random(seed))[1])) for seed in seeds]
        for point in (fair, same)
    )
    assert len(set(there)) == 1
    assert len(set(dealt)) > 1
    assert sum(one in there for one in dealt) < len(dealt)


def test_others_decisions_in_a_round_that_runs_are_nobodys_to_make_again() -> None:
    """Of Blef, where the log has our reasons alone: what the others held is not told."""
    record, moves = match_of(BLEF)
    steps = list(BLEF.replay.load()(record, moves))
    turn = next(n for n, group in groupby(steps, lambda step: step.turn) if len([*group]) > 3)
    live = [step for step in steps if step.turn == turn][:-2]
    own = {step.sequence for step in live if step.seat == 0}
    told = [
        replace(move, intent=move.intent if move.sequence in own else None)
        for move in moves
        if move.sequence <= live[-1].sequence
    ]
    running = replace(record, status=MatchStatus.RUNNING, outcome=None)
    found = {one.sequence for one in BLEF.restore_states.load()(running, told, Random(1))}
    assert found & {step.sequence for step in live} == own != {step.sequence for step in live}


def test_of_a_deal_that_runs_and_of_three_players_not_all_is_told() -> None:
    deal = DealRecord(DealKey("t", 1, 1), tuple(DECK))
    assert header_body(deal, is_over=True)["dealt"] == [card_name(card) for card in DECK]
    assert set(header_body(deal, is_over=True)) - set(header_body(deal, is_over=False)) == {"dealt"}
    player = StrategyPlayer(BLEF, "random", seats=3)
    notes = play_on(player.simulation.initial_state(Random(1)), (player,), Random(1))
    [(record, moves)] = stored_match(BLEF, notes, 3)
    with pytest.raises(ConfigError, match="has 3 players; of Blef only two are analysed"):
        analyse(BLEF, record, moves)


def test_blef_is_judged_alike_whoever_gave_reasons_and_only_our_own_bets_are_tried() -> None:
    """Our bot's header has one name and no seats, and the log our reasons alone."""
    record, moves = play_match(
        BLEF, (StrategyPlayer(BLEF, "greedy"), StrategyPlayer(BLEF, "threshold"))
    )
    told = [MoveRecord(move.sequence, None, move.facts) for move in moves]
    ours = [m if m.intent and m.intent["seat"] == 1 else replace(m, intent=None) for m in moves]
    bots = replace(record, header={"game": "blef", "names": ["two"], "players": ["two"]})
    whole, without = (analyse(BLEF, record, one) for one in (moves, told))
    assert [one.seat for one in whole.decisions] == [one.seat for one in without.decisions]
    assert {one.seat for one in whole.decisions} == {0, 1}
    at_the_bot = analyse(BLEF, bots, ours)
    assert whole.players == without.players == at_the_bot.players
    shown = AnalysisReport.from_header(at_the_bot, header_of(bots))
    assert (shown.names, shown.first_name) == (("opponent", "two"), "two")
    tried = BacktestPlayer(BLEF, "greedy").decision_points(bots, ours)
    assert {asked.step.seat for asked in tried} == {1}


def test_others_are_judged_in_euchre_by_the_hands_that_they_have_played() -> None:
    record, moves = play_match(EUCHRE, (StrategyPlayer(EUCHRE, "rules"),), 2)
    open_to_all = [replace(move, intent=None) for move in moves]
    kept_by_us, shown = (list(decision_points(record, one)) for one in (moves, open_to_all))
    there = {one.step.sequence: one for one in kept_by_us}
    assert {one.step.seat for one in shown} >= {0, 1, 2}
    for one in shown:
        assert one.position == there[one.step.sequence].position
        assert one.step.decision is not None
        assert one.option_names == there[one.step.sequence].option_names
    assert {one.step.seat for one in decision_points(record, open_to_all[:6])} == set()


JUDGED = [game for game in all_games() if game.judge is not None]
JUDGES = {"deadmansdraw": "captain", "blef": "bayes", "euchre": "pimc"}


@st.composite
def games_of_nim(draw: st.DrawFn) -> StoredMatch:
    heaps = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    state, notes = State(heaps), []
    for _ in range(draw(st.integers(1, sum(heaps)))):
        if any(state.heaps):
            action = draw(st.sampled_from(state.options()))
            notes.append(PlayedAction(state, action, None))
            state = state.without(action)
    return stored_match(NIM, [*notes, PlayedAction(state, None, None)])[0]


def check_sum(found: MatchAnalysis) -> None:
    one, two = found.players
    assert found.start + found.luck + found.unexplained + one.skill - two.skill == pytest.approx(
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
@settings(max_examples=case_count(8, full=1000), deadline=None)
def test_nim_has_no_luck_and_only_what_loses_a_won_game_costs(game: StoredMatch) -> None:
    found = analyse(NIM, *game)
    check_sum(found)
    assert found.luck == 0
    for one in found.decisions:
        assert one.cost == float(one.before != one.after)


@pytest.mark.parametrize("game", JUDGED, ids=game_id)
@pytest.mark.parametrize("seed", range(case_count(1, full=30)))
def test_figures_add_up_whatever_follows_and_the_judge_itself_is_perfect(
    game: Game, seed: int
) -> None:
    """A match that is cut off says of the decisions before what the whole one says."""
    other = ("random", *game.ladder_strategies)[seed % (1 + len(game.ladder_strategies))]
    judge = JUDGES.get(game.name, game.default_strategy)
    players = [StrategyPlayer(game, judge), StrategyPlayer(game, other)]
    if game is EUCHRE and (game_simulation(game).current_seat(new_match(game, seed)) or 0) % 2:
        players.reverse()  # seat 0 of a deal is the dealer's left, whichever chair that is
    record, moves = play_match(game, players, seed)
    whole, part = analyse(game, record, moves), analyse(game, record, moves[:8])
    check_sum(whole)
    check_sum(part)
    later = {"after", "luck"}
    for one, two in zip(part.decisions, whole.decisions, strict=False):
        assert one.model_dump(exclude=later) == two.model_dump(exclude=later)
    first, second = whole.players
    if game.name not in JUDGES:
        return  # the house's own judge plays on by chance, so nobody decides just as it does
    assert first.accuracy > 99.9
    assert other != "random" or second.accuracy is None or second.accuracy < 100
    assert [point.sequence for point in whole.curve] == [move.sequence for move in moves]
    assert whole.curve[-1].worth == whole.result
    if game is EUCHRE:
        points = record.outcome["scores"]  # type: ignore[index]
        assert whole.result == points[0] - points[1]
        dealt = record.header["dealt"]
        assert whole.chance == deal_luck(tuple(map(parse_card, dealt)))  # type: ignore[arg-type]
        untold = {name: told for name, told in record.header.items() if name != "dealt"}
        assert game.judge.load().luck(replace(record, header=untold), moves) is None
