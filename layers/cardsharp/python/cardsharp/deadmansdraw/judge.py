"""`captain` as the judge of Dead Man's Draw: chances to win the match, by his search."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.decisions import asked, looks
from cardsharp.deadmansdraw.events import MatchEnded
from cardsharp.deadmansdraw.luck import luck_of
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.reading import tally
from cardsharp.deadmansdraw.replay import turns_of, view_of
from cardsharp.deadmansdraw.rules import apply
from cardsharp.deadmansdraw.strategies import Chance, Decision
from cardsharp.deadmansdraw.strategies.captain import REFUSAL, WEIGHTS, Captain, is_ordinary
from cardsharp.deadmansdraw.strategies.choices import busting, lying
from cardsharp.deadmansdraw.strategies.search.weights import model
from cardsharp.judge import LAPSE, Judge
from cardsharp.replay import Asked, Thought


class CaptainsJudgement(Judge):
    """What the captain thinks of a position: he expects both to go on as he would."""

    name = WEIGHTS

    def weigh(self, position: Position, also: Sequence[Action] = ()) -> Decision | None:
        """His decision; None for a table that cannot happen in a match that began as all do."""
        if not is_ordinary(position):
            return None
        decision = Captain(model(WEIGHTS)).decide(position)
        if REFUSAL not in also:
            return decision
        refused = Chance(REFUSAL, _refusing(position), "leaves the card, to stop or to draw it")
        return Decision(decision.action, decision.reason, (*decision.options, refused))

    def result(self, _record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """1 for the first player's win, 0.5 for a tie."""
        events = (event for turn in turns_of(moves) for event in turn.events)
        ended = next((event for event in events if isinstance(event, MatchEnded)), None)
        if ended is None:
            return None
        return 0.5 if ended.winner is None else float(ended.winner == 0)

    def lapses(self, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
        """The positions in which the arena ended a turn for want of time."""
        for step, position, _ in looks(moves):
            if position is not None and step.move.timed_out is not None:
                thought = Thought(seat=step.seat, turn=step.turn, action=LAPSE)
                yield asked(step, position, thought)

    def chance(self, _record: MatchRecord, moves: Sequence[MoveRecord]) -> float:
        """The worth of each card that came, less the mean of all that could have come."""
        brought = 0.0
        for step, position, _ in looks(moves):
            if position is not None:
                luck = luck_of(position, step.move.events) or 0.0
                brought += luck if position.me == 0 else -luck
        return brought

    def counts(self, moves: Sequence[MoveRecord]) -> Mapping[str, tuple[int, int]]:
        """Turns that lost their cards, ran out of time or were banked, moves and autopicks."""
        return tally(view_of(move) for move in moves if move.facts is not None)

    def risk(self, position: Position) -> float | None:
        """The chance that the next card busts, None where an effect is to be answered."""
        if position.pending is not None or not position.unseen:
            return None
        if position.known_top is not None:
            return float(position.known_top.suit in lying(position))
        return busting(position) / len(position.unseen)


def _refusing(position: Position) -> float:
    """The chance of who leaves the Oracle's card, which he himself never does."""
    state, _ = apply(position.state(), REFUSAL, lambda pile, number: pile[:number])
    left = replace(position, pending=state.pending, refused=position.known_top)
    return max(option.value for option in Captain(model(WEIGHTS)).decide(left).options)


JUDGE = CaptainsJudgement()
