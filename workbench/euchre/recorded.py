"""What the engine thinks of decisions that others made: recorded deals, judged one by one.

python -m workbench.euchre.recorded FILE   points that each recorded player gave away

FILE has a JSON object a line, gzipped or not; those of `kind` "truth" are whole deals (see
`RecordedDeal`), others are passed over. A recorded decision gives away as many points as it lies
behind the engine's own; beside it stands what the player `rules` would have given away in the
same places. The engine is no oracle: it takes others to play by rules much like those of `rules`.
"""

import gzip
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from pydantic import BaseModel, ConfigDict, ValidationError
from rich.console import Console
from rich.table import Table

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import Card, strength, suit_of
from cardsharp.euchre.rules import apply, start, turn
from cardsharp.euchre.strategies import Decision, Strategy, build
from cardsharp.euchre.strategies.pimc import Effort, Pimc
from cardsharp.euchre.view import View, project
from workbench.euchre.duel import YARDSTICK
from workbench.euchre.native.compiled import Compiled, available
from workbench.euchre.progress import Bar

THOROUGH = Effort(worlds=4096, batch=512, work=10**9)
"""How much the engine thinks about each decision that it judges."""

app = cyclopts.App(help=__doc__, help_format="plaintext")
console = Console(highlight=False)


class _Trick(BaseModel):
    model_config = ConfigDict(frozen=True)

    plays: tuple[tuple[int, Card | None], ...]


class RecordedDeal(BaseModel):
    """A deal as the framework's coordinator writes it down; cards and seats as in SPEC.md 2.

    `bids` are suits, -1 for a pass and less for a seat that was not asked, each with whether it was
    alone. `strategies` are the players' kinds by seat. `def_pos` is the lone defender.
    """

    model_config = ConfigDict(frozen=True)

    strategies: tuple[str, str, str, str]
    hands: tuple[tuple[Card, ...], ...]
    turn: Card
    buries: tuple[Card, ...]
    bids: tuple[tuple[int, bool], ...]
    caller_pos: int | None
    go_alone: bool | None
    def_pos: int | None
    discard: Card | None
    tricks: tuple[_Trick, ...]

    @property
    def cards(self) -> tuple[Card, ...]:
        """The 24 cards as they were dealt."""
        return (*(card for hand in self.hands for card in hand), self.turn, *self.buries)

    @property
    def actions(self) -> tuple[Action, ...]:
        """All decisions in order; the discard and the defences are put where they were."""
        bids = [Bid(suit, alone) if suit >= 0 else PASS for suit, alone in self.bids if suit >= -1]
        laid = [] if self.discard is None else [Discard(self.discard)]
        plays = [Play(card) for trick in self.tricks for _, card in trick.plays if card is not None]
        return (*bids, *laid, *self._defences(), *plays)

    def _defences(self) -> Iterator[Defend]:
        """Who was asked to defend alone; the first who does ends it."""
        if self.go_alone and self.caller_pos is not None:
            for seat in ((self.caller_pos + 1) % 4, (self.caller_pos + 3) % 4):
                yield Defend(alone=seat == self.def_pos)
                if seat == self.def_pos:
                    return

    def decisions(self) -> Iterator[tuple[str, View, Action]]:
        """Every decision: the kind of its player, what that seat saw, and what it did."""
        deal = start(self.cards)
        for action in self.actions:
            now = turn(deal.table)
            if now is None:
                raise ValueError("The deal was over already.")
            yield self.strategies[now.seat], project(deal, now.seat), action
            deal = apply(deal, action)


class _Line(BaseModel):
    kind: str


def read(file: Path) -> Iterator[RecordedDeal]:
    """The deals in a file of them.

    Raises:
        SystemExit: the file is missing, or a line is not what it should be; it says which.
    """
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    if _Line.model_validate_json(line).kind == "truth":
                        yield RecordedDeal.model_validate_json(line)
                except ValidationError as wrong:
                    raise SystemExit(f"{file}, line {number}: {wrong}") from wrong
    except OSError as wrong:
        raise SystemExit(f"{file} cannot be read: {wrong}") from wrong


@dataclass
class Tally:
    """Points given away by one kind of player in one kind of decision, and by `rules` there."""

    decisions: int = 0
    given: float = 0.0
    by_rules: float = 0.0


def judged(view: View, action: Action, decision: Decision) -> float | None:
    """The points by which that action lies behind the engine's; None if it did not weigh it."""
    points = {option.action: option.points or 0.0 for option in decision.options}
    if not points:
        return None
    best = points[decision.action]
    for other in (action, *_alike(view, action)):
        if other in points:
            return best - points[other]
    return None


def _alike(view: View, action: Action) -> Iterator[Action]:
    """Cards that are as good: of the same suit, and nothing hidden or laid lies between."""
    trump = view.table.trump
    if not isinstance(action, Play) or trump is None:
        return
    suit = suit_of(action.card, trump)
    laid = {played.card for played in view.table.trick}
    rivals = [
        strength(card, trump, suit)
        for card in {*view.unseen, *laid, view.table.turn_card}
        if suit_of(card, trump) == suit
    ]
    own = strength(action.card, trump, suit)
    for card in view.hand:
        other = strength(card, trump, suit)
        low, high = min(own, other), max(own, other)
        if suit_of(card, trump) == suit and not any(low < rival < high for rival in rivals):
            yield Play(card)


@app.default
def judge(
    file: Annotated[Path, Parameter(help="Recorded deals, .jsonl or .jsonl.gz.")],
    *,
    leave: Annotated[str, Parameter(help="Kinds of players that are not judged.")] = "Remote",
) -> None:
    """Say how many points each recorded kind of player gave away, and `rules` in its place."""
    engine: Strategy = Compiled(THOROUGH) if available() else Pimc(effort=THOROUGH)
    rules = build(YARDSTICK)
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    deals: dict[str, int] = defaultdict(int)
    recorded = list(read(file))
    with Bar(len(recorded)) as bar:
        bar.describe("deals judged")
        for deal in recorded:
            for kind in {kind for kind in deal.strategies if leave not in kind}:
                deals[kind] += 1
            for kind, view, action in deal.decisions():
                if leave in kind or len(view.choices) == 1:
                    continue
                decision = engine.decide(view)
                given = judged(view, action, decision)
                by_rules = judged(view, rules.decide(view).action, decision)
                if given is None or by_rules is None:
                    continue
                tally = tallies[kind, "cards" if view.question is Question.PLAY else "calls"]
                tally.decisions += 1
                tally.given += given
                tally.by_rules += by_rules
            bar.advance()
    table = Table("player", "deals", "decisions", "gave away a deal", f"`{YARDSTICK}` there")
    for (kind, what), tally in sorted(tallies.items()):
        number = deals[kind]
        figures = [f"{one / number:.3f}" for one in (tally.given, tally.by_rules)]
        table.add_row(f"{kind}, {what}", str(number), str(tally.decisions), *figures)
    console.print(table)


if __name__ == "__main__":
    app()
