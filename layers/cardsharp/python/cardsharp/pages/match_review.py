"""Review of a finished match for one of its players: what decided it, and what to learn from it.

A page and a terminal show the same sentences. The complete analysis has every decision.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cardsharp.analysis.judged_match import JudgedDecision
from cardsharp.analysis.replay import strip_player_name
from cardsharp.core.sentences import YOU, to_sentence
from cardsharp.pages.analysis_view import AnalysisView

MAX_LESSONS = 3
_NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ReviewedPart:
    """Analysed part of a match: its view, the link to its page, and the side of the player.

    `name` distinguishes the parts, such as "deal 3"; it is empty for a match of one part.
    `turn_word` says what the turns of its log are, such as "round".
    """

    view: AnalysisView
    link: str
    side: int
    name: str = ""
    turn_word: str = "turn"


def turn_word_of(chapter: str) -> str:
    """Return what a turn of the log is in a game that is told in chapters, such as rounds."""
    return chapter if chapter in {"turn", "round"} else "step"


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """Sentence about a decision, with the link to its step and the reason for a better one."""

    text: str
    link: str
    reason: str = ""
    step_number: int = 0


@dataclass(frozen=True, slots=True)
class MatchReview:
    """Review of a match: the turn that decided it, lessons, and what luck and decisions did."""

    turning_point: ReviewLine
    lessons: tuple[ReviewLine, ...]
    luck_text: str
    decisions_text: str


@dataclass(frozen=True, slots=True)
class _PlacedDecision:
    """Decision with the part in which it was made, and the number of its step."""

    part: ReviewedPart
    step_number: int
    decision: JudgedDecision

    @property
    def link(self) -> str:
        return f"{self.part.link}#{self.step_number}"

    @property
    def place(self) -> str:
        """Place of the decision, such as "turn 4" or "turn 4 of deal 2"."""
        of_part = f" of {self.part.name}" if self.part.name else ""
        return f"{self.part.turn_word} {self.decision.turn}{of_part}"

    @property
    def subject(self) -> str:
        """Player as the subject of a sentence: "you", a name, or a seat without a name."""
        header, seat = self.part.view.header, self.decision.seat
        if header.seats.get(seat) == YOU:
            return YOU
        name = header.player_name(seat)
        is_seat_title = bool(header.names) and header.names != header.players
        return f"the {name} player" if is_seat_title and name not in header.players else name

    @property
    def is_own(self) -> bool:
        """True if the player made the decision, as far as the log tells the partners apart."""
        seats = self.part.view.header.seats
        own_seats = [seat for seat, name in seats.items() if name == YOU]
        if own_seats:
            return self.decision.seat in own_seats
        return self.decision.seat % 2 == self.part.side


def build_match_review(parts: Sequence[ReviewedPart]) -> MatchReview | None:
    """Return the review of a match from its analysed parts; None if nothing was judged."""
    placed = [
        _PlacedDecision(part, step_number, decision)
        for part in parts
        for step_number, decision in part.view.decisions.items()
    ]
    if not placed:
        return None
    decisive = max(placed, key=lambda item: abs(item.decision.value_change))
    marked = [item for item in placed if item.is_own and item.decision.mark is not None]
    marked.sort(key=lambda item: -item.decision.cost)
    return MatchReview(
        turning_point=ReviewLine(
            _turning_point_text(decisive), decisive.link, step_number=decisive.step_number
        ),
        lessons=tuple(map(_build_lesson, marked[:MAX_LESSONS])),
        luck_text=_luck_text(parts),
        decisions_text=_decisions_text(parts),
    )


def _turning_point_text(item: _PlacedDecision) -> str:
    part, decision, analysis = item.part, item.decision, item.part.view.analysis
    previous_text, next_text = (
        part.view.format_rounded(analysis.value_for(part.side, value))
        for value in (decision.before, decision.after)
    )
    happened = strip_player_name(decision.happened, part.view.header.player_name(decision.seat))
    measure = f"your {analysis.unit}"
    verb = "rose" if _gain(part, decision) > 0 else "fell"
    return to_sentence(
        f"{item.place} decided it: {item.subject} {happened}, and {measure} {verb} "
        f"from {previous_text} to {next_text}"
    )


def _gain(part: ReviewedPart, decision: JudgedDecision) -> float:
    return decision.value_change if part.side == 0 else -decision.value_change


def _build_lesson(item: _PlacedDecision) -> ReviewLine:
    decision, view = item.decision, item.part.view
    text = (
        f"in {item.place} you chose {decision.action}; {decision.best} was better by "
        f"{_amount_text(view, decision.cost)}"
    )
    return ReviewLine(to_sentence(text), item.link, decision.reason, item.step_number)


def _luck_text(parts: Sequence[ReviewedPart]) -> str:
    luck = sum(part.view.analysis.players[part.side].luck for part in parts)
    amount = _amount_text(parts[0].view, abs(luck))
    if amount == _NOTHING:
        return "Luck was even: the cards favoured neither side."
    verb, to = ("gave", "to") if luck > 0 else ("took", "from")
    return (
        f"The cards {verb} {amount} {to} you, compared with average cards and the same decisions."
    )


def _decisions_text(parts: Sequence[ReviewedPart]) -> str:
    own_cost = sum(abs(part.view.analysis.players[part.side].skill) for part in parts)
    other_cost = sum(abs(part.view.analysis.players[1 - part.side].skill) for part in parts)
    view = parts[0].view
    return (
        f"Your decisions gave away {_amount_text(view, own_cost)}, "
        f"theirs {_amount_text(view, other_cost)}. "
        f"Perfect play, as {view.analysis.judge} sees it, gives away nothing."
    )


def _amount_text(view: AnalysisView, value: float) -> str:
    """Return an amount of the judge's unit, such as "12 % of a win" or "1.50 points"."""
    text = view.format_rounded(value)
    if not text.strip("0. %"):
        return _NOTHING
    return f"{text} of a win" if view.is_probability else f"{text} points"
