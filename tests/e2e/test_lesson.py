"""`cardsharp lesson`: your own mistakes are asked again, today and after some days."""

from datetime import date, timedelta

import pytest
from support.cli import Cli, typed

from cardsharp.games import game
from workbench.show.exits import Exit
from workbench.show.lookup import data_folder, open_to_read
from workbench.table.lesson import REST, Exercise, Lessons, answered, judged, question_of

TODAY = date(2026, 11, 26)


def test_what_cost_most_is_asked_first_and_rests_when_it_was_answered(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a match in which a person always took the first choice; the judge's own is right."""
    typed(monkeypatch, *["1"] * 400)
    assert cli("versus", "draw-3", "--seed", "3").code == Exit.OK
    (first,) = cli("lesson", "-n", "1", "--json").json()
    assert (first["game"], first["well"]) == ("deadmansdraw", 0)
    typed(monkeypatch, "nonsense", "1", "quit")
    said = cli("lesson", "-n", "3").out
    assert "1 of 3" in said
    assert "That is none of your moves" in said
    assert said.count("Then you chose ") == 1, "the second question was left"
    file = data_folder() / "lessons.json"
    asked = max(Lessons.read(file).cards, key=lambda one: one.cost)
    assert (asked.cost, asked.well) == (first["cost"], 0), "always the first choice: wrong again"
    for _ in range(2):
        typed(monkeypatch, *["1"] * 20)
        last = cli("lesson", "-n", "20")
    assert (last.code, last.err.count("Nothing is to be asked before")) == (Exit.USAGE, 1)
    card = max(Lessons.read(file).cards, key=lambda one: one.cost)
    with open_to_read(None) as log:
        question = question_of(card, game(None), log)
    options = {one.name: one.action for one in question.screen.choices(question.asked.position)}
    wrong = judged(game(None), question, options[question.then])
    right = judged(game(None), question, options[wrong.thought.action])
    assert (right.well, wrong.well) == (True, False)
    assert wrong.best_worth - wrong.worth == pytest.approx(card.cost)
    file.write_text("{")
    broken = cli("lesson")
    assert (broken.code, str(file) in broken.err) == (Exit.FAILED, True)
    assert file.read_text() == "{", "what is none is named and kept"


def test_a_card_rests_longer_each_time_and_comes_back_at_once_when_it_was_forgotten() -> None:
    card = Exercise(game="deadmansdraw", match="m", sequence=1, cost=0.1, due=TODAY)
    for rest in (*REST, REST[-1]):
        answered(card, TODAY, well=True)
        assert card.due == TODAY + rest
    answered(card, TODAY, well=False)
    assert (card.well, card.due) == (0, TODAY + timedelta(days=1))
    lessons = Lessons(cards=[card])
    assert lessons.due(game(None), TODAY) == []
    assert lessons.due(game(None), card.due) == [card]
