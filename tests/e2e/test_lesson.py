"""Tests of `cardsharp lesson`: it asks about your mistakes again, at growing intervals."""

from datetime import date, timedelta

import pytest
from support.cli import Cli, type_lines

from cardsharp.play.catalog import get_game
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.game_rooms.lessons import (
    REVIEW_INTERVALS,
    DecisionReviewCard,
    ExerciseDeck,
    judge_answer,
    make_question,
    schedule_next_review,
)
from cardsharp_tools.match_sources.match_logs import data_folder, open_existing_log

TODAY = date(2026, 11, 26)


def test_a_lesson_begins_with_the_costliest_decision_and_pauses_answered_questions(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lesson asks about the costliest decision first; the judge's action is correct.

    In the match a person always took the first choice.
    """
    type_lines(monkeypatch, *["1"] * 400)
    assert cli("versus", "draw-3", "--seed", "3").code == ExitCode.OK
    (first,) = cli("lesson", "-n", "1", "--json").json()
    assert (first["game"], first["well"]) == ("deadmansdraw", 0)
    type_lines(monkeypatch, "nonsense", "1", "quit")
    output = cli("lesson", "-n", "3").out
    assert "1 of 3" in output
    assert "That is not one of your moves" in output
    assert output.count("In the match you chose ") == 1, "the second question was left"
    file = data_folder() / "lessons.json"
    costliest_card = max(ExerciseDeck.read(file).cards, key=lambda card: card.cost)
    assert (costliest_card.cost, costliest_card.well) == (first["cost"], 0), (
        "always the first choice: wrong again"
    )
    for _ in range(2):
        type_lines(monkeypatch, *["1"] * 20)
        last_result = cli("lesson", "-n", "20")
    assert (last_result.code, last_result.err.count("No decision is due before")) == (
        ExitCode.USAGE,
        1,
    )
    card = max(ExerciseDeck.read(file).cards, key=lambda card: card.cost)
    with open_existing_log(None) as log:
        question = make_question(card, get_game(None), log)
    options = {
        choice.name: choice.action
        for choice in question.screen.choices(question.decision_point.position)
    }
    wrong_answer = judge_answer(get_game(None), question, options[question.original_action_label])
    correct_answer = judge_answer(get_game(None), question, options[wrong_answer.thought.action])
    assert (correct_answer.is_correct, wrong_answer.is_correct) == (True, False)
    assert wrong_answer.best_value - wrong_answer.value == pytest.approx(card.cost)
    file.write_text("{")
    damaged_file_result = cli("lesson")
    assert (damaged_file_result.code, str(file) in damaged_file_result.err) == (
        ExitCode.FAILED,
        True,
    )
    assert file.read_text() == "{", "what is none is named and kept"


def test_review_intervals_grow_and_restart_after_a_wrong_answer() -> None:
    card = DecisionReviewCard(game="deadmansdraw", match="m", sequence=1, cost=0.1, due=TODAY)
    for interval in (*REVIEW_INTERVALS, REVIEW_INTERVALS[-1]):
        schedule_next_review(card, TODAY, is_correct=True)
        assert card.due == TODAY + interval
    schedule_next_review(card, TODAY, is_correct=False)
    assert (card.well, card.due) == (0, TODAY + timedelta(days=1))
    lessons = ExerciseDeck(cards=[card])
    assert lessons.due_cards(get_game(None), TODAY) == []
    assert lessons.due_cards(get_game(None), card.due) == [card]
