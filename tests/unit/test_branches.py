"""Branches of stored matches of every game, and analyses of Blef and Euchre."""

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
    SimulationPlayer,
    StoredMatch,
    game_id,
    game_simulation,
    new_match,
    play_match,
    play_to_end,
    stored_match,
)

import cardsharp.play.catalog
from cardsharp.analysis.judged_match import MatchAnalysis
from cardsharp.analysis.match_analysis import analyse
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
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.game_rooms.match_branch import find_branch_point
from cardsharp_tools.lab.backtest import BacktestPlayer
from cardsharp_tools.lab.game_adapter import PlayedAction
from cardsharp_tools.terminal.analysis_report import AnalysisReport

GAMES_BY_NAME = {game.name: game for game in GAMES}
BLEF, EUCHRE, NIM = (GAMES_BY_NAME[name] for name in ("blef", "euchre", "nim"))
every_game = pytest.mark.parametrize("game", GAMES, ids=game_id)


@pytest.fixture(autouse=True)
def _mount_sample_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        cardsharp.play.catalog,
        "GAME_MODULES",
        (*cardsharp.play.catalog.GAME_MODULES, *SAMPLE_SPECS),
    )


@cache
def match_of(game: Game) -> StoredMatch:
    fast_strategy = FAST_STRATEGIES.get(game.name, game.default_strategy)
    return play_match(game, [SimulationPlayer(game, fast_strategy, 1 + seat) for seat in (0, 1)])


@every_game
def test_a_branch_starts_with_its_players_knowledge_and_is_stored(game: Game) -> None:
    """A branch has the moves up to its step and no later ones, also from another branch.

    The future cards of a running match are not available.
    """
    record, moves = match_of(game)
    positions = {
        decision_point.step.sequence: decision_point.position
        for decision_point in game.list_decisions.load()(record, moves)
    }
    step_size = max(1, len(moves) // case_count(2, full=3))
    for turn, number in enumerate(range(1, len(moves), step_size)):
        has_same_cards = turn % 2 == 1
        branch_point = find_branch_point(record, moves, number, same_cards=has_same_cards)
        branch = branched(branch_point)
        assert (
            branch.simulation.current_position(branch.opening[1])
            == positions[branch_point.step.sequence]
        )
        (branch_record, branch_moves), *_ = branch.match_log_records()
        header = header_of(branch_record)
        assert (header.branch.of, header.branch.step) == (record.match_id, branch_point.step_number)
        assert (header.branch.same, branch_record.status) == (has_same_cards, MatchStatus.FINISHED)
        previous_step = branch_point.step_number - 1
        assert len(branch_moves) > previous_step
        assert step_texts(branch_record, branch_moves, game, previous_step) == step_texts(
            record, moves, game, previous_step
        )
        visible_sequences = {
            step_size.sequence
            for step_size in branch_point.steps[:-1]
            if has_same_cards or step_size.seat == branch_point.step.seat
        }
        reasons = {move.sequence: move.intent for move in branch_moves}
        for move in moves:  # what others thought would tell cards that are others now
            if move.sequence < branch_point.step.sequence:
                assert reasons[move.sequence] == (
                    move.intent if move.sequence in visible_sequences else None
                )
    first_part = branched(find_branch_point(record, moves, len(moves) // 2)).match_log_records()[0]
    ((branch_record, _), *_) = branched(find_branch_point(*first_part, 1)).match_log_records()
    assert header_of(branch_record).branch.of == first_part[0].match_id  # type: ignore[union-attr]
    running = replace(record, status=MatchStatus.RUNNING, outcome=None)
    with pytest.raises(ConfigError, match="not over"):
        find_branch_point(running, moves, same_cards=True)
    with pytest.raises(ConfigError, match="from step 9999 on, because"):
        find_branch_point(record, moves, 9999)


def test_a_branch_of_a_deal_goes_on_to_the_ten_points_of_its_match() -> None:
    """The branch continues from the score of the deal; without a score the deal is the last."""
    players = [SimulationPlayer(EUCHRE, "rules", seed) for seed in (1, 2)]
    record, moves = stored_match(EUCHRE, play_to_end(new_match(EUCHRE, 1), players, Random(1)))[3]
    score: Any = record.header["score"]
    branch_point = find_branch_point(record, moves, 1)
    side, branch = branch_point.seat % 2, branched(branch_point)
    points, parts, end_state = [score[side]], branch.match_log_records(), branch.state
    for branch_record, _ in parts:
        seats, scores = header_of(branch_record).seats, (branch_record.outcome or {})["scores"]
        points.append(scores[min(seats) % 2])  # type: ignore[index]
        assert "branch" in header_of(branch_record).tags
        assert branch_record.header["score"][min(seats) % 2] == sum(points[:-1])  # type: ignore[index]
    assert len(parts) > 1
    assert sum(points) == end_state.points[side]
    assert max(end_state.points) >= WINNING_SCORE
    position = branch.simulation.current_position(branch.opening[1])
    status_line = branch.screen(branch_point.seat).status_line(position)
    assert f"core: you {score[side]}, they {score[1 - side]};" in status_line
    record_without_score = replace(
        record, header={n: part for n, part in record.header.items() if n != "score"}
    )
    assert branched(find_branch_point(record_without_score, moves, 1)).state.finished == ()


HIDDEN_CARDS = {
    "deadmansdraw": lambda state: state.state.draw_pile,
    "blef": lambda state: state.current_round.hands,
    "euchre": lambda state: state.current.deal.cards[:21],
    "kuhn": lambda state: state.cards,
}


@pytest.mark.parametrize("name", HIDDEN_CARDS)
def test_hidden_cards_are_dealt_anew_unless_the_same_cards_are_requested(name: str) -> None:
    """A branch reveals no future card, unless the match is over and the cards are requested."""
    game, seeds = GAMES_BY_NAME[name], range(12)
    record, moves = match_of(game)
    fair_point, same_cards_point = (
        find_branch_point(record, moves),
        find_branch_point(record, moves, same_cards=True),
    )
    resampled_cards, original_cards = (
        [
            str(HIDDEN_CARDS[name](point.restore_actions_and_state(Random(seed))[1]))
            for seed in seeds
        ]
        for point in (fair_point, same_cards_point)
    )
    assert len(set(original_cards)) == 1
    assert len(set(resampled_cards)) > 1
    assert sum(dealt_cards in original_cards for dealt_cards in resampled_cards) < len(
        resampled_cards
    )


def test_opponent_decisions_in_a_running_round_cannot_be_replayed() -> None:
    """A running Blef match has only our reasons in its log, and not the other hands."""
    record, moves = match_of(BLEF)
    steps = list(BLEF.replay.load()(record, moves))
    turn = next(n for n, group in groupby(steps, lambda step: step.turn) if len([*group]) > 3)
    live_steps = [step for step in steps if step.turn == turn][:-2]
    player_sequences = {step.sequence for step in live_steps if step.seat == 0}
    visible_moves = [
        replace(move, intent=move.intent if move.sequence in player_sequences else None)
        for move in moves
        if move.sequence <= live_steps[-1].sequence
    ]
    running = replace(record, status=MatchStatus.RUNNING, outcome=None)
    restored_sequences = {
        restored_state.sequence
        for restored_state in BLEF.restore_states.load()(running, visible_moves, Random(1))
    }
    assert (
        restored_sequences & {step.sequence for step in live_steps}
        == player_sequences
        != {step.sequence for step in live_steps}
    )


def test_running_deals_hide_their_cards_and_three_player_matches_are_refused() -> None:
    deal = DealRecord(DealKey("t", 1, 1), tuple(DECK))
    assert header_body(deal, is_over=True)["dealt"] == [card_name(card) for card in DECK]
    assert set(header_body(deal, is_over=True)) - set(header_body(deal, is_over=False)) == {"dealt"}
    player = SimulationPlayer(BLEF, "random", seats=3)
    played_actions = play_to_end(player.simulation.initial_state(Random(1)), (player,), Random(1))
    [(record, moves)] = stored_match(BLEF, played_actions, 3)
    with pytest.raises(ConfigError, match="has 3 players; of Blef only two are analysed"):
        analyse(BLEF, record, moves)


def test_blef_analysis_ignores_reasons_and_backtests_only_the_bot_seat() -> None:
    """The bot's header has a single name and no seats, and its log only our reasons."""
    record, moves = play_match(
        BLEF, (SimulationPlayer(BLEF, "greedy"), SimulationPlayer(BLEF, "threshold"))
    )
    moves_without_intents = [MoveRecord(move.sequence, None, move.facts) for move in moves]
    bot_moves = [
        move if move.intent and move.intent["seat"] == 1 else replace(move, intent=None)
        for move in moves
    ]
    bot_record = replace(record, header={"game": "blef", "names": ["two"], "players": ["two"]})
    full_analysis, analysis_without_intents = (
        analyse(BLEF, record, move_list) for move_list in (moves, moves_without_intents)
    )
    assert [decision.seat for decision in full_analysis.decisions] == [
        decision.seat for decision in analysis_without_intents.decisions
    ]
    assert {decision.seat for decision in full_analysis.decisions} == {0, 1}
    bot_analysis = analyse(BLEF, bot_record, bot_moves)
    assert full_analysis.players == analysis_without_intents.players == bot_analysis.players
    report = AnalysisReport.from_header(bot_analysis, header_of(bot_record))
    assert (report.names, report.first_side_name) == (("opponent", "two"), "two")
    backtest_points = BacktestPlayer(BLEF, BuiltIn("greedy")).decision_points(bot_record, bot_moves)
    assert {decision_point.step.seat for decision_point in backtest_points} == {1}


def test_euchre_opponents_are_judged_by_their_played_hands() -> None:
    record, moves = play_match(EUCHRE, (SimulationPlayer(EUCHRE, "rules"),), 2)
    moves_without_intents = [replace(move, intent=None) for move in moves]
    logged_points, open_points = (
        list(decision_points(record, move_list)) for move_list in (moves, moves_without_intents)
    )
    points_by_sequence = {
        logged_point.step.sequence: logged_point for logged_point in logged_points
    }
    assert {open_point.step.seat for open_point in open_points} >= {0, 1, 2}
    for open_point in open_points:
        assert open_point.position == points_by_sequence[open_point.step.sequence].position
        assert open_point.step.decision is not None
        assert open_point.option_names == points_by_sequence[open_point.step.sequence].option_names
    assert {
        decision_point.step.seat
        for decision_point in decision_points(record, moves_without_intents[:6])
    } == set()


GAMES_WITH_JUDGE = [game for game in all_games() if game.judge is not None]
STRATEGY_BY_JUDGE = {"deadmansdraw": "captain", "blef": "bayes", "euchre": "pimc"}


@st.composite
def games_of_nim(draw: st.DrawFn) -> StoredMatch:
    heaps = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    state, played_actions = State(heaps), []
    for _ in range(draw(st.integers(1, sum(heaps)))):
        if any(state.heaps):
            action = draw(st.sampled_from(state.options()))
            played_actions.append(PlayedAction(state, action, None))
            state = state.without(action)
    return stored_match(NIM, [*played_actions, PlayedAction(state, None, None)])[0]


def check_analysis_sums(analysis: MatchAnalysis) -> None:
    first_player, second_player = analysis.players
    assert (
        analysis.start
        + analysis.luck
        + analysis.unexplained
        + first_player.skill
        - second_player.skill
        == pytest.approx(analysis.end)
    )
    assert analysis.result in {None, analysis.end}
    assert (first_player.luck, second_player.luck) == (analysis.luck, -analysis.luck)
    for decision in analysis.decisions:
        signed_cost = decision.cost if decision.seat % 2 == 0 else -decision.cost
        assert decision.before - signed_cost + decision.luck == pytest.approx(decision.after)
        assert 0 <= decision.cost <= decision.stake + 1e-12
    assert all(
        player.accuracy is None or 0 <= player.accuracy <= 100 for player in analysis.players
    )


@given(games_of_nim())
@settings(max_examples=case_count(8, full=1000), deadline=None)
def test_nim_has_no_luck_and_only_errors_in_a_won_game_cost(game: StoredMatch) -> None:
    analysis = analyse(NIM, *game)
    check_analysis_sums(analysis)
    assert analysis.luck == 0
    for decision in analysis.decisions:
        assert decision.cost == float(decision.before != decision.after)


@pytest.mark.parametrize("game", GAMES_WITH_JUDGE, ids=game_id)
@pytest.mark.parametrize("seed", range(case_count(1, full=30)))
def test_figures_add_up_whatever_follows_and_the_judge_itself_is_perfect(
    game: Game, seed: int
) -> None:
    """A partial match has the same analysis of its decisions as the complete match."""
    other = ("random", *game.ladder_strategies)[seed % (1 + len(game.ladder_strategies))]
    judge = STRATEGY_BY_JUDGE.get(game.name, game.default_strategy)
    players = [SimulationPlayer(game, judge), SimulationPlayer(game, other)]
    if game is EUCHRE and (game_simulation(game).current_seat(new_match(game, seed)) or 0) % 2:
        players.reverse()  # seat 0 of a deal is the dealer's left, whichever chair that is
    record, moves = play_match(game, players, seed)
    full_analysis, partial_analysis = analyse(game, record, moves), analyse(game, record, moves[:8])
    check_analysis_sums(full_analysis)
    check_analysis_sums(partial_analysis)
    later_fields = {"after", "luck"}
    for partial_decision, full_decision in zip(
        partial_analysis.decisions, full_analysis.decisions, strict=False
    ):
        assert partial_decision.model_dump(exclude=later_fields) == full_decision.model_dump(
            exclude=later_fields
        )
    first, second = full_analysis.players
    if game.name not in STRATEGY_BY_JUDGE:
        return  # the house's own judge plays on by chance, so nobody decides just as it does
    assert first.accuracy > 99.9
    assert other != "random" or second.accuracy is None or second.accuracy < 100
    assert [point.sequence for point in full_analysis.curve] == [move.sequence for move in moves]
    assert full_analysis.curve[-1].worth == full_analysis.result
    if game is EUCHRE:
        points = record.outcome["scores"]  # type: ignore[index]
        assert full_analysis.result == points[0] - points[1]
        card_names = record.header["dealt"]
        assert full_analysis.chance == deal_luck(tuple(map(parse_card, card_names)))  # type: ignore[arg-type]
        header_without_cards = {
            name: value for name, value in record.header.items() if name != "dealt"
        }
        assert (
            game.judge.load().estimate_first_side_luck(
                replace(record, header=header_without_cards), moves
            )
            is None
        )
