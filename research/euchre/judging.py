"""What the engine thinks of decisions that others made: recorded deals, judged one by one.

cardsharp research euchre judge FILE   points that each recorded player gave away

FILE has a JSON object a line, gzipped or not; those of `kind` "truth" are whole deals (see
`RecordedDeal`), others are passed over. A recorded decision gives away as many points as it lies
behind the engine's own; beside it stands what the player `rules` would have given away in the
same places. The engine is no oracle: it takes others to play by rules much like those of `rules`.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from cardsharp.euchre.actions import Action, Play, Question
from cardsharp.euchre.cards import strength, suit_of
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision, Strategy, build
from cardsharp.euchre.strategies.pimc import Effort, Pimc
from research.euchre.compiled import Compiled, available
from workbench.euchre.lab import YARDSTICK
from workbench.euchre.recorded import read
from workbench.show.progress import Bar

THOROUGH = Effort(worlds=4096, batch=512, work=10**9)
"""How much the engine thinks about each decision that it judges."""

console = Console(highlight=False)


@dataclass
class Tally:
    """Points given away by one kind of player in one kind of decision, and by `rules` there."""

    decisions: int = 0
    given: float = 0.0
    by_rules: float = 0.0


def judged(view: Position, action: Action, decision: Decision) -> float | None:
    """The points by which that action lies behind the engine's; None if it did not weigh it."""
    points = {option.action: option.value or 0.0 for option in decision.options}
    if not points:
        return None
    best = points[decision.action]
    for other in (action, *_alike(view, action)):
        if other in points:
            return best - points[other]
    return None


def _alike(view: Position, action: Action) -> Iterator[Action]:
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
