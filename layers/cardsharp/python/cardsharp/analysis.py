"""What a match was worth at every step: what the cards brought, and what each decision cost.

A game's `Judge` says what the options of a decision are worth to whoever decides: the chance to
win, where it can. The worth of the whole match is then told for the first side, of two:

    worth before a decision - what the choice costs + what follows it = worth before the next one

so the start, all that the cards brought and all that decisions cost add up to the result. Where a
judge tells without bias what chance brought, the rest of what the cards changed is misjudged. A
position is all that the judge is shown, never what was hidden from the player; and what cannot be
judged, such as a decision whose position nobody knows, counts as luck.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.judge import LAPSE, Judge, judging
from cardsharp.replay import Asked, Header, Step, Stored, Thought, Weighed
from cardsharp.strategy import Decision, ranked

SIDES = 2


class Mark(StrEnum):
    """How bad a decision was."""

    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


THRESHOLDS = ((0.05, Mark.BLUNDER), (0.02, Mark.MISTAKE), (0.005, Mark.INACCURACY))
"""From what cost on a decision is marked, in shares of all that is at stake in a match.

Where chances to win are told, 0.5, 2 and 5 of 100 matches, so that marks add up to 90 % or
more of all that a player lost (docs/analysis.md has the players it was measured with).
"""


BELIEVED = 2 / 3
"""How far chance is believed where it is taken from results.

The players' mistakes make it matter less than a judge thinks: so much takes most of it away.
"""


class Point(Stored):
    """What the match was worth to the first side after the step of that `sequence`."""

    sequence: int
    worth: float


class Judged(Stored):
    """A decision as the judge sees it; `options` are valued for who decided, the best first.

    `before` and `after` are worth to the first side: before the decision, and when all that
    followed it, up to the next one, was known. `cost` is the decider's, never below 0, and
    `luck` what followed brought the first side, so that `after` is `before` with both. `stake` lies
    between the best and the worst option. `reason` is what the judge says of its own choice.
    """

    sequence: int
    turn: int
    seat: int
    happened: str
    action: str
    best: str
    reason: str
    options: tuple[Weighed, ...]
    risk: float | None = None
    before: float
    after: float
    cost: float
    luck: float
    stake: float
    mark: Mark | None = None

    @property
    def change(self) -> float:
        """By how much the worth of the match changed with it."""
        return self.after - self.before


class PlayerFigures(Stored):
    """What one side did: `accuracy` in per cent, None where nothing was to be decided.

    `skill` is what the decisions cost, so never above 0; `luck` what the cards brought.
    """

    accuracy: float | None
    skill: float
    luck: float
    decisions: int
    marks: Mapping[Mark, int]


class Analysis(Stored):
    """A judged match; `start`, `result` and the `curve` are worth to the first side.

    `reasoned` are the sides of whose decisions the log has a strategy's reasons. `chance` is what
    chance brought the first side, 0 in the mean whatever the judge thinks; None where nobody knows.
    `start + luck + misjudged + players[0].skill - players[1].skill` is the result, or of a match
    that still runs (`result` is None) what it is worth now: `end`.
    """

    judge: str
    unit: str
    form: str
    total: float
    start: float
    end: float
    result: float | None
    luck: float
    misjudged: float = 0.0
    chance: float | None = None
    players: tuple[PlayerFigures, PlayerFigures]
    counts: Mapping[str, tuple[int, int]]
    reasoned: tuple[int, ...]
    curve: tuple[Point, ...]
    decisions: tuple[Judged, ...]

    def worth(self, side: int, worth: float) -> float:
        """What is worth that to the first side, as it is worth to a side."""
        return worth if side == 0 else self.total - worth

    def less_luck(self, side: int) -> float | None:
        """What a side made of the match without luck; the same in the mean."""
        if self.result is None or self.chance is None:
            return None
        return self.worth(side, self.result - BELIEVED * self.chance)

    def kept(self, one: Judged) -> tuple[float, float]:
        """What a choice kept for who decided, and what the best option would have kept."""
        best = self.worth(side_of(one.seat), one.before)
        return best - one.cost, best

    def marked(self) -> tuple[Judged, ...]:
        """The decisions that have a mark, in order."""
        return tuple(one for one in self.decisions if one.mark is not None)

    def swings(self, number: int = 5) -> tuple[Judged, ...]:
        """So many decisions with which the worth changed most, the biggest change first."""
        return tuple(sorted(self.decisions, key=lambda one: -abs(one.change))[:number])


def side_of(seat: int) -> int:
    """The side of a seat: seats are taken in turn, in Euchre those of partners too."""
    return seat % SIDES


def side_names(analysis: Analysis, header: Header) -> tuple[str, str]:
    """What the two sides are called.

    Where we took a seat at a service the header has our name alone, and not which seat it was.
    """
    if len(header.names or header.players) < SIDES and len(analysis.reasoned) == 1:
        ours, other = header.name(0), header.opponent or "opponent"
        return (ours, other) if analysis.reasoned == (0,) else (other, ours)
    called: list[list[str]] = [[], []]
    for seat in range(max(len(header.names), len(header.players), SIDES)):
        called[side_of(seat)].append(header.called(seat))
    one, two = (" and ".join(dict.fromkeys(names)) for names in called)
    return one, two


def analyse(
    game: Game,
    record: MatchRecord,
    moves: Sequence[MoveRecord],
    following: Callable[[list[Asked]], Iterable[Asked]] = iter,
) -> Analysis:
    """The analysis of a stored match; `following` hands on the decisions one by one as it likes.

    Raises `ConfigError` if the game has no judge, or the match is none that it can judge, and
    `StoreError` if the log cannot be read.
    """
    judge, replay, decisions_of = judging(game)
    result = judge.result(record, moves)
    asked = [*decisions_of(record, moves), *judge.lapses(moves)]
    asked.sort(key=lambda one: one.step.sequence)
    weighed = [_weighed(judge, one) for one in following(asked)]
    found = [one for one in weighed if one is not None]
    if not found:
        raise ConfigError(f"Match {record.match_id} has no decision that {judge.name} can judge.")
    decisions = tuple(_judged(judge, found, result))
    changed, chance = sum(one.luck for one in decisions), judge.chance(record, moves)
    luck = changed if chance is None or judge.chance_deals else chance
    first, second = (_player(decisions, side, luck) for side in range(SIDES))
    return Analysis(
        judge=judge.name,
        unit=judge.unit,
        form=judge.form,
        total=judge.total,
        start=decisions[0].before,
        end=decisions[-1].after,
        result=result,
        luck=luck,
        misjudged=changed - luck,
        chance=chance,
        players=(first, second),
        counts=judge.counts(moves),
        reasoned=tuple(sorted({side_of(one.seat) for one in found if one.done.strategy})),
        curve=tuple(_curve(replay(record, moves), decisions)),
        decisions=decisions,
    )


class _Weighed(NamedTuple):
    """A decision before it is known what followed; `best` and `chosen` are worth to the decider.

    Of a lapse nothing was chosen. `named` has what the log calls each option.
    """

    asked: Asked
    done: Thought
    seat: int
    decision: Decision[Any]
    named: Mapping[Any, str]
    best: float
    chosen: float | None

    def cost(self, after: float) -> float:
        """What the choice cost who decided; a lapse all that was lost when it was over."""
        return max(0.0, self.best - (after if self.chosen is None else self.chosen))


def _weighed(judge: Judge, asked: Asked) -> _Weighed | None:
    """What the judge makes of a decision, None where it cannot value what was done."""
    done, seat = asked.step.ours, asked.step.seat
    if done is None or seat is None:
        return None
    taken = [one for one, name in asked.options.items() if name == done.action]
    lapse = done.action == LAPSE
    decision = judge.weigh(asked.position, taken) if taken or lapse else None
    if decision is None:
        return None
    named = {one.action: asked.options.get(one.action, str(one.action)) for one in decision.options}
    values = {named[one.action]: one.value for one in decision.options if one.value is not None}
    best = values.get(named.get(decision.action, ""))
    chosen = None if lapse else values.get(done.action)
    if best is None or (chosen is None and not lapse):
        return None
    return _Weighed(
        asked, done, seat, decision, named, best if chosen is None else max(best, chosen), chosen
    )


def _judged(judge: Judge, found: Sequence[_Weighed], end: float | None) -> Iterator[Judged]:
    """The decisions, each with what followed it; nothing but itself follows a last one yet."""

    def turned(one: _Weighed, worth: float) -> float:
        """From the decider's worth to the first side's, or back."""
        return worth if side_of(one.seat) == 0 else judge.total - worth

    *_, last = found
    now = turned(last, last.best if last.chosen is None else last.chosen)
    afters = (*(turned(one, one.best) for one in found[1:]), now if end is None else end)
    for one, after in zip(found, afters, strict=True):
        step, cost = one.asked.step, one.cost(turned(one, after))
        options = ranked(one.decision.options)
        values = [option.value for option in options if option.value is not None]
        yield Judged(
            sequence=step.sequence,
            turn=step.turn,
            seat=one.seat,
            happened=step.happened,
            action=one.done.action,
            best=one.named[one.decision.action] if cost else one.done.action,
            reason=one.decision.reason,
            options=tuple(
                Weighed(action=one.named[it.action], value=it.value, note=it.note, unit=it.unit)
                for it in options
            ),
            risk=judge.risk(one.asked.position),
            before=turned(one, one.best),
            after=after,
            cost=cost,
            luck=after - turned(one, one.best - cost),
            stake=max(*values, one.best) - min(*values, one.best - cost),
            mark=mark_of(cost / judge.stake),
        )


def mark_of(share: float) -> Mark | None:
    """The mark of a decision that costs this share of what is at stake in a match."""
    return next((mark for least, mark in THRESHOLDS if share >= least), None)


def _player(decisions: Sequence[Judged], side: int, luck: float) -> PlayerFigures:
    own = [one for one in decisions if side_of(one.seat) == side]
    return PlayerFigures(
        accuracy=accuracy(sum(one.cost for one in own), sum(one.stake for one in own)),
        skill=0.0 - sum(one.cost for one in own),
        luck=luck if side == 0 else -luck,
        decisions=len(own),
        marks={mark: sum(one.mark is mark for one in own) for mark in Mark},
    )


def accuracy(cost: float, stake: float) -> float | None:
    """How well was decided, in per cent: the share that was kept of all there was to lose, squared.

    100 for who always chose the best option, 0 for who always chose the worst; squared, for who
    decides by chance keeps half. `stake` is the sum of what lay between the best option and the
    worst, so that a decision without a choice counts for nothing; None where it is nothing.
    """
    return 100.0 * max(0.0, 1.0 - cost / stake) ** 2 if stake else None


def _curve(steps: Iterable[Step], decisions: Sequence[Judged]) -> Iterator[Point]:
    """What the match was worth after each step: after those without a decision as before them."""
    worth, judged = decisions[0].before, {one.sequence: one for one in decisions}
    for step in steps:
        if step.sequence in judged:
            worth = judged[step.sequence].after
        yield Point(sequence=step.sequence, worth=worth)
