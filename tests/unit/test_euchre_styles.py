"""Players of the lab who call in a style: by the same reckoning, wanting more or less."""

import json
from functools import cache
from random import Random

import pytest
from support.cli import Cli

from cardsharp.euchre.actions import PASS, Action, Question
from cardsharp.euchre.position import Position
from cardsharp.euchre.simulation import Euchre
from cardsharp.euchre.strategies import build
from workbench.euchre.styles import STYLES, bid


@cache
def questions(number: int) -> tuple[Position, ...]:
    """First bids of so many deals, and those of the second round."""
    simulation, found = Euchre(), []
    for seed in range(number):
        dice = Random(seed)
        state = simulation.deal(dice)
        while simulation.position(state).question is Question.BID and not state.past:
            found.append(simulation.position(state))
            state = simulation.act(state, PASS, dice)
    return tuple(found)


def calls(style: str, score: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """On how many of some hands a style calls, and how often alone."""
    bids: list[Action] = [bid(STYLES[style](*score), one) for one in questions(60)]
    made = [one for one in bids if one != PASS]
    return len(made), sum(getattr(one, "alone", False) for one in made)


def test_the_bold_call_more_than_rules_and_the_timid_less() -> None:
    plain = sum(build("rules").decide(one).action != PASS for one in questions(60))
    assert calls("timid")[0] < plain < calls("bold")[0]
    assert calls("timid")[1] <= calls("by-score")[1] <= calls("bold")[1]
    assert calls("by-score")[0] == plain, "at an even score"


def test_whoever_goes_by_the_score_dares_more_when_behind_and_is_never_alone_near_the_end() -> None:
    behind, even, ahead = (calls("by-score", score) for score in ((0, 6), (0, 0), (6, 0)))
    assert behind[0] > even[0] > ahead[0]
    assert behind[1] > even[1] > 0
    assert calls("by-score", (8, 8))[1] == calls("by-score", (9, 2))[1] == 0


def test_the_league_prints_everybody_against_everybody(capsys: pytest.CaptureFixture[str]) -> None:
    told = Cli(capsys)("euchre", "league", "timid@5", "rules", "--pairs", "1", "--json")
    assert told.code == 0, told.err
    assert {"timid@5", "rules"} <= set(json.dumps(told.json()).split('"'))
