"""`cardsharp lesson`: your own mistakes are asked again, today and after some days."""

from datetime import date, timedelta

import pytest
from support.cli import Cli, type_lines

from cardsharp.play.catalog import get_game
from cardsharp_tools.cli.exit_codes import ExitCode
from cardsharp_tools.game_rooms.lessons import (
    REVIEW_INTERVALS,
    Exercise,
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
    """Of a match in which a person always took the first choice; the judge's own is right."""
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
        last = cli("lesson", "-n", "20")
    assert (last.code, last.err.count("No decision is due before")) == (ExitCode.USAGE, 1)
    card = max(ExerciseDeck.read(file).cards, key=lambda card: card.cost)
    with open_existing_log(None) as log:
        question = make_question(card, get_game(None), log)
    options = {
        choice.name: choice.action
        for choice in question.screen.choices(question.decision_point.position)
    }
    wrong = judge_answer(get_game(None), question, options[question.original_action_label])
    right = judge_answer(get_game(None), question, options[wrong.thought.action])
    assert (right.is_correct, wrong.is_correct) == (True, False)
    assert wrong.best_value - wrong.value == pytest.approx(card.cost)
    file.write_text("{")
    broken = cli("lesson")
    assert (broken.code, str(file) in broken.err) == (ExitCode.FAILED, True)
    assert file.read_text() == "{", "what is none is named and kept"


def test_a_card_rests_longer_each_time_and_comes_back_at_once_when_it_was_forgotten() -> None:
    card = Exercise(game="deadmansdraw", match="m", sequence=1, cost=0.1, due=TODAY)
    for rest in (*REVIEW_INTERVALS, REVIEW_INTERVALS[-1]):
        schedule_next_review(card, TODAY, is_correct=True)
        assert card.due == TODAY + rest
    schedule_next_review(card, TODAY, is_correct=False)
    assert (card.well, card.due) == (0, TODAY + timedelta(days=1))
    lessons = ExerciseDeck(cards=[card])
    assert lessons.due(get_game(None), TODAY) == []
    assert lessons.due(get_game(None), card.due) == [card]
