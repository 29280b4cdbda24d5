"""Review of a match: what decided it, lessons for one player, luck and decisions."""

from collections.abc import Mapping

import pytest

from cardsharp.analysis.judged_match import (
    CurvePoint,
    JudgedDecision,
    MatchAnalysis,
    SideStats,
    severity_of,
)
from cardsharp.analysis.replay import Header
from cardsharp.pages.analysis_view import AnalysisView
from cardsharp.pages.match_review import ReviewedPart, build_match_review


def judged_decision(number: int, *, cost: float, luck: float, seat: int = 0) -> JudgedDecision:
    """Return a decision of a match that stood even before it."""
    change = (luck - cost) if seat == 0 else cost + luck
    return JudgedDecision(
        sequence=number,
        turn=number,
        seat=seat,
        happened="drew Key 3 and busted",
        action="draw",
        best="bank",
        reason="Ten points are safe now.",
        options=(),
        before=0.5,
        after=0.5 + change,
        cost=cost,
        luck=luck,
        stake=1.0,
        mark=severity_of(cost),
    )


def analysis_view(decisions: Mapping[int, JudgedDecision], luck: float = -0.2) -> AnalysisView:
    """Return the view of an analysis with these decisions, by the number of their step."""
    costs = [sum(d.cost for d in decisions.values() if d.seat == side) for side in (0, 1)]
    stats = [
        SideStats(
            accuracy=50.0, skill=-cost, luck=luck if side == 0 else -luck, decisions=1, marks={}
        )
        for side, cost in enumerate(costs)
    ]
    analysis = MatchAnalysis(
        judge="captain",
        unit="chance to win",
        form=".1%",
        total=1.0,
        start=0.5,
        end=0.0,
        result=0.0,
        luck=luck,
        players=(stats[0], stats[1]),
        counts={},
        reasoned=(),
        curve=(CurvePoint(sequence=1, worth=0.5),),
        decisions=tuple(decisions.values()),
    )
    header = Header(players=("you", "captain"), names=("you", "captain"), seats={0: "you"})
    return AnalysisView(analysis, header, decisions)


def test_a_review_names_the_turning_point_and_at_most_three_lessons() -> None:
    costs = (0.01, 0.06, 0.03, 0.1, 0.02)
    decisions = {
        number: judged_decision(number, cost=cost, luck=0.0) for number, cost in enumerate(costs, 1)
    }
    decisions[6] = judged_decision(6, cost=0.3, luck=0.0, seat=1)
    review = build_match_review([ReviewedPart(analysis_view(decisions), "/matches/m", 0)])
    assert review is not None
    assert review.turning_point.text == (
        "Turn 6 decided it: captain drew Key 3 and busted, and your chance to win rose from 50 % "
        "to 80 %."
    )
    assert review.turning_point.link == "/matches/m#6"
    assert [lesson.step_number for lesson in review.lessons] == [4, 2, 3], "the costliest first"
    assert review.lessons[0].text == ("In turn 4 you chose draw; bank was better by 10 % of a win.")
    assert review.luck_text == (
        "The cards took 20 % of a win from you, compared with average cards and the same decisions."
    )
    assert review.decisions_text == (
        "Your decisions gave away 22 % of a win, theirs 30 % of a win. "
        "Perfect play, as captain sees it, gives away nothing."
    )


@pytest.mark.parametrize(
    ("luck", "text"),
    [
        (0.2, "The cards gave 20 % of a win to you"),
        (0.001, "The cards gave less than 1 % of a win to you"),
        (0.0, "Luck was even: the cards favoured neither side."),
    ],
)
def test_luck_is_told_in_a_sentence(luck: float, text: str) -> None:
    view = analysis_view({1: judged_decision(1, cost=0.0, luck=luck)}, luck)
    review = build_match_review([ReviewedPart(view, "", 0)])
    assert review is not None
    assert review.luck_text.startswith(text)
    assert review.lessons == ()


def test_a_match_without_a_judged_decision_has_no_review() -> None:
    assert build_match_review([]) is None
